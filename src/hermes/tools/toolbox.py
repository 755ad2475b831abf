"""The tools of one run: chosen by name or toolset, called with arguments made to fit."""

from collections.abc import Sequence
from functools import cache
from typing import Any

from hermes import discover
from hermes.errors import ToolError, UnknownName, UnknownTool
from hermes.protocols import ToolResult, ToolSpec
from hermes.tools.base import Tool, coerce

PACKAGE = "hermes.tools"


@cache
def all_tools() -> tuple[Tool, ...]:
    """Every tool of the folder: the modules that have a `TOOL`."""
    modules = (discover.load(PACKAGE, name, "tool") for name in discover.names(PACKAGE))
    return tuple(module.TOOL for module in modules if hasattr(module, "TOOL"))


def select(wanted: Sequence[str]) -> tuple[Tool, ...]:
    """Tools by their own name or their toolset's; a name nothing answers to is an error."""
    tools = all_tools()
    known = {tool.spec.name for tool in tools} | {tool.toolset for tool in tools}
    for name in wanted:
        if name not in known:
            raise UnknownName("tool", name, known)
    return tuple(tool for tool in tools if tool.spec.name in wanted or tool.toolset in wanted)


class Toolbox:
    """Ready tools over the services of a run."""

    def __init__(self, tools: Sequence[Tool], services: object) -> None:
        self._tools = {tool.spec.name: tool for tool in tools}
        self._services = services

    def specs(self) -> tuple[ToolSpec, ...]:
        return tuple(tool.spec for tool in self._tools.values())

    async def call(self, name: str, arguments: dict[str, Any]) -> ToolResult:
        tool = self._tools.get(name)
        if tool is None:
            raise UnknownTool(f"there is no tool `{name}`; there are {', '.join(self._tools) or 'none'}")
        fitted = coerce(arguments, tool.spec.parameters)
        missing = [required for required in tool.spec.parameters["required"] if required not in fitted]
        if missing:
            raise ToolError(f"`{name}` needs `{missing[0]}`")
        return await tool.run(self._services, **fitted)
