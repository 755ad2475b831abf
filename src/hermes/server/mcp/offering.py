"""What a client may call: the agent's own web tools, and `ask`."""

from collections.abc import Mapping
from typing import Any

from hermes.errors import HermesError
from hermes.protocols import Effect, ToolResult, ToolSpec
from hermes.server.mcp.ask import TOOL as ASK
from hermes.server.mcp.ask import Asking
from hermes.tools.base import failure, told
from hermes.tools.toolbox import Toolbox, select

TOOLSETS = ("web", "x_search")


class Offering:
    """The tools of one runtime. Nobody can be asked for consent here."""

    def __init__(self, asking: Asking) -> None:
        self._runtime = asking.runtime
        self._tools = Toolbox(select(TOOLSETS), asking.runtime.services)
        self._ask = Toolbox([ASK], asking)

    def specs(self) -> tuple[ToolSpec, ...]:
        """The tools that can be used now, with the schemas that a model is told."""
        return (*self._tools.specs(), *self._ask.specs())

    def has(self, name: str) -> bool:
        return name in self._tools.names() or name in self._ask.names()

    def effect(self, name: str) -> Effect:
        return self._box(name).effect(name)

    async def call(self, name: str, arguments: Mapping[str, Any]) -> ToolResult:
        """The result of a tool there is; what goes wrong is told in it."""
        self._runtime.shorten_pages()
        try:
            return await self._box(name).call(name, arguments)
        except HermesError as error:
            return failure(told(error))

    def _box(self, name: str) -> Toolbox:
        return self._ask if name in self._ask.names() else self._tools
