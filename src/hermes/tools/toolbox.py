"""The tools of one run: chosen by name or toolset, called with arguments made to fit."""

from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from functools import cache
from typing import Any

from hermes import discover
from hermes.errors import ToolError, UnknownName, UnknownTool
from hermes.protocols import Effect, ToolResult, ToolSpec
from hermes.tools.arguments import fit
from hermes.tools.base import Tool

PACKAGE = "hermes.tools"
ALL = "all"
NONE = "none"


@cache
def all_tools() -> tuple[Tool, ...]:
    """Every tool of the folder: the modules that have a `TOOL`."""
    modules = (discover.load(PACKAGE, name, "tool") for name in discover.names(PACKAGE))
    return tuple(module.TOOL for module in modules if hasattr(module, "TOOL"))


def select(wanted: Sequence[str]) -> tuple[Tool, ...]:
    """Tools by their own name or their toolset's, `all` or `none`; an unknown name is an error."""
    tools = all_tools()
    known = {tool.spec.name for tool in tools} | {tool.toolset for tool in tools} | {ALL, NONE}
    for name in wanted:
        if name not in known:
            raise UnknownName("tool", name, known)
    if ALL in wanted:
        return tools
    return tuple(tool for tool in tools if tool.spec.name in wanted or tool.toolset in wanted)


class Toolbox:
    """Ready tools over the services of a run."""

    def __init__(self, tools: Sequence[Tool], services: object) -> None:
        self._tools = {tool.spec.name: tool for tool in tools}
        self._services = services

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

    async def call(self, name: str, arguments: Mapping[str, Any]) -> ToolResult:
        tool = self._tool(name)
        lack = self._lack(tool)
        if lack is not None:
            raise ToolError(f"`{name}` cannot be used: {lack}")
        return await tool.run(self._services, **self.fit(name, arguments))

    def _lack(self, tool: Tool) -> str | None:
        return tool.missing(self._services) if tool.missing else None

    def _tool(self, name: str) -> Tool:
        found = self._tools.get(name)
        if found is None:
            near = get_close_matches(name.lower(), self._tools, n=3, cutoff=0.5)
            offered = f"did you mean {' or '.join(near)}" if near else f"there are {', '.join(self._tools)}"
            raise UnknownTool(f"there is no tool `{name}`; {offered if self._tools else 'there are none'}")
        return found
