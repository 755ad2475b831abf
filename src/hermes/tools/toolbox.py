"""The tools of one run: chosen by name or toolset, called with arguments made to fit."""

from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from typing import Any

from hermes import discover
from hermes.errors import ToolError, UnknownName, UnknownTool, nearest
from hermes.protocols import Concern, Effect, ToolResult, ToolSpec
from hermes.tools.arguments import fit
from hermes.tools.base import Tool

PACKAGE = "hermes.tools"
ALL = "all"
NONE = "none"


@cache
def toolsets() -> Mapping[str, str]:
    """Every tool of the folder with its toolset, as its file says: what is not offered is not loaded."""
    said = ((name, _toolset(discover.text(PACKAGE, name))) for name in discover.names(PACKAGE))
    return {name: toolset for name, toolset in said if toolset}


def _toolset(text: str) -> str:
    """The toolset in the line that begins with `TOOL`; empty where a file has none."""
    return text.partition("\nTOOL = tool(")[2].partition('toolset="')[2].partition('"')[0]


def select(wanted: Sequence[str], added: Sequence[Tool] = ()) -> tuple[Tool, ...]:
    """Tools by their own name or their toolset's, `all` or `none`; an unknown name is an error.

    `added` are tools beside ours; one of them stands in the place of ours of that name.
    """
    homes, others = toolsets(), {tool.spec.name: tool for tool in added}
    known = {ALL, NONE, *homes, *homes.values(), *others, *(tool.toolset for tool in added)}
    for name in wanted:
        if name not in known:
            raise UnknownName("tool", name, known)

    def is_wanted(*known_as: str | None) -> bool:
        return ALL in wanted or not set(known_as).isdisjoint(wanted)

    ours = (name for name, toolset in homes.items() if name not in others and is_wanted(name, toolset))
    theirs = (tool for tool in added if is_wanted(tool.spec.name, tool.toolset, homes.get(tool.spec.name)))
    return (*(discover.load(PACKAGE, name, "tool").TOOL for name in ours), *theirs)


class Toolbox:
    """Ready tools over the services of a run."""

    def __init__(self, tools: Sequence[Tool], services: object) -> None:
        self._tools = {tool.spec.name: tool for tool in tools}
        self._services = services

    def add(self, tools: Iterable[Tool]) -> None:
        """Offer more tools from now on."""
        self._tools.update((tool.spec.name, tool) for tool in tools)

    def names(self) -> tuple[str, ...]:
        """The tools there are, whether they can be used or not."""
        return tuple(self._tools)

    def specs(self) -> tuple[ToolSpec, ...]:
        """The tools that can be used now."""
        return tuple(tool.spec for tool in self._tools.values() if self._lack(tool) is None)

    def why_not(self) -> dict[str, str]:
        """The tools that cannot be used, each with what it lacks."""
        lacks = {name: self._lack(tool) for name, tool in self._tools.items()}
        return {name: lack for name, lack in lacks.items() if lack is not None}

    def effect(self, name: str) -> Effect:
        """What a tool does to the world."""
        return self._tool(name).effect

    def fit(self, name: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """A tool's arguments in the types of its schema; what fits already comes back as it is.

        Raises `UnknownTool`, or `ToolError` that names the parameter and what it must be.
        """
        tool = self._tool(name)
        return fit(name, arguments, tool.spec.parameters, tool.loose)

    def lack(self, name: str) -> str | None:
        """What a tool lacks; None when it can be used."""
        return self._lack(self._tool(name))

    def concern(self, name: str, arguments: Mapping[str, Any]) -> Concern | None:
        """What speaks against a call with arguments that fit; a tool that lacks something is not judged."""
        tool = self._tool(name)
        is_judged = tool.concern is not None and self._lack(tool) is None
        return tool.concern(self._services, arguments) if tool.concern and is_judged else None

    async def call(
        self, name: str, arguments: Mapping[str, Any], judged: Concern | None = None
    ) -> ToolResult:
        """Run a tool, unless it needs more than what was `judged` and consented to."""
        tool = self._tool(name)
        lack = self._lack(tool)
        if lack is not None:
            raise ToolError(f"`{name}` cannot be used: {lack}")
        fitted = self.fit(name, arguments)
        refusal = _beyond(self.concern(name, fitted), judged)
        if refusal is not None:
            raise ToolError(refusal)
        return await tool.run(self._services, **fitted)

    def _lack(self, tool: Tool) -> str | None:
        return tool.missing(self._services) if tool.missing else None

    def _tool(self, name: str) -> Tool:
        found = self._tools.get(name)
        if found is None:
            near = nearest(name, self._tools)
            offered = f"did you mean {' or '.join(near)}" if near else f"there are {', '.join(self._tools)}"
            raise UnknownTool(f"there is no tool `{name}`; {offered if self._tools else 'there are none'}")
        return found


def _beyond(found: Concern | None, judged: Concern | None) -> str | None:
    """Why a call goes beyond what was consented to; None when it does not.

    Judged once more at the last moment: what a path leads to may have changed since, and a call that
    nobody judged is not run.
    """
    if found is None or found.kind == "free":
        return None
    if found.kind == "forbidden":
        return f"this is never run: {found.reason}"
    is_covered = judged is not None and judged.kind == "ask" and judged.action == found.action
    if judged is not None and is_covered and set(found.rules) <= set(judged.rules):
        return None
    return f"the user has not consented to this ({found.reason}), so it was not done"
