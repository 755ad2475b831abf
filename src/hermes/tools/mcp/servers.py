"""A server as a toolset: the tools that a person agreed to, and a session when one of them is called."""

import asyncio
from collections.abc import Awaitable, Callable, Collection, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from hermes import discover
from hermes.errors import NotConfigured, ToolError
from hermes.protocols import ToolResult, ToolSpec
from hermes.tools.base import Tool
from hermes.tools.mcp.listing import ListedTool, Listing
from hermes.tools.mcp.pins import Pin, Pins
from hermes.tools.mcp.spec import Spec
from hermes.transports.base.names import legal

if TYPE_CHECKING:
    from hermes.tools.mcp.connection import Connection

PACKAGE = "mcp"
INHERITED = ("HOME", "LANG", "LC_ALL", "LOGNAME", "PATH", "SHELL", "TERM", "TMPDIR", "TZ", "USER")
"""What a program gets of our environment; everything else has to be named in its `env`."""

Consent = Callable[[Spec, Listing, Pin | None], Awaitable[bool]]
"""Asks a person whether a server may be used as it is now; beside it stands what was agreed to before."""


class Server:
    """One server. It is started when it is first needed, and again when it died; `close` ends it."""

    def __init__(
        self, spec: Spec, pins: Pins, consent: Consent, environ: Mapping[str, str], log: str
    ) -> None:
        self.spec = spec
        self._pins = pins
        self._consent = consent
        self._environ = {name: environ[name] for name in INHERITED if name in environ}
        self._log = log
        self._agreed: Pin | None = None
        self._connection: Connection | None = None
        self._one_at_a_time = asyncio.Lock()

    @property
    def kept(self) -> Pin | None:
        """What was agreed to for good under this name, be it of another program or address."""
        return self._pins.get(self.spec.name)

    @property
    def pin(self) -> Pin | None:
        """What was agreed to of this very program or address: in this run, or for good."""
        pin = self._agreed or self.kept
        return pin if pin is not None and pin.who == self.spec.who else None

    def tools(self) -> tuple[ListedTool, ...]:
        """What may be offered: as it was agreed to, whatever the server says now."""
        pin, wanted = self.pin, self.spec.tools
        return tuple(tool for tool in (pin.tools if pin else ()) if wanted is None or tool.name in wanted)

    async def look(self) -> Listing:
        """What the server offers now; raises `ToolError` or `NotConfigured`. Nobody is asked."""
        async with self._one_at_a_time:
            return await self._open()

    async def meet(self) -> bool:
        """See what the server offers, and have a person agree to it; False when nobody does."""
        async with self._one_at_a_time:
            if self.pin is not None or await self._is_agreed(await self._open()):
                return True
            await self.close()
            return False

    async def call(self, tool: str, arguments: Mapping[str, Any]) -> ToolResult:
        """Call a tool, if the server still is what was agreed to. Raises `ToolError`."""
        connection = await self._verified(tool)
        try:
            return await connection.call(tool, arguments)
        finally:
            if connection.is_lost:
                await self._drop(connection)

    async def close(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            await connection.close()

    async def _verified(self, tool: str) -> "Connection":
        async with self._one_at_a_time:
            if self._connection is None or self._connection.is_lost:
                before = {listed.name: listed for listed in self.tools()}
                listing = await self._open()
                pin = self.pin
                if (pin is None or pin.digest != listing.digest) and not await self._is_agreed(listing):
                    await self.close()
                    raise ToolError(
                        f"the tools of the MCP server `{self.spec.name}` are not those that the user agreed"
                        f" to, so nothing was called; the user can look at them with"
                        f" `hermes mcp trust {self.spec.name}`"
                    )
                if before.get(tool) not in self.tools():
                    raise ToolError(
                        f"`{tool}` of the MCP server `{self.spec.name}` has changed; a new conversation has"
                        " it as it is now"
                    )
            if self._connection is None:
                raise ToolError(f"the MCP server `{self.spec.name}` was closed")
            return self._connection

    async def _open(self) -> Listing:
        """A new session. Whoever calls this holds the lock."""
        if not discover.is_installed(PACKAGE):
            raise NotConfigured(
                f"the MCP server `{self.spec.name}` needs the package `{PACKAGE}`",
                hint='run `pip install "hermes[mcp]"`',
            )
        await self.close()
        environment = {**self._environ, **self.spec.environment()}
        headers = self.spec.headers()
        connection: Connection = discover.module("hermes.tools.mcp.connection").Connection(
            self.spec, environment, headers, self._log
        )
        listing = await connection.open()
        self._connection = connection
        return listing

    async def _is_agreed(self, listing: Listing) -> bool:
        if not await self._consent(self.spec, listing, self.kept):
            return False
        self._agreed = self._pins.made(self.spec.who, listing)
        return True

    async def _drop(self, connection: "Connection") -> None:
        if self._connection is connection:
            self._connection = None
        await connection.close()


def as_tools(servers: Sequence[Server], taken: Collection[str]) -> Iterator[Tool]:
    """The tools of servers under names that every wire takes and that nobody else has."""
    known = set(taken)
    for server in servers:
        for listed in server.tools():
            name = legal(f"{server.spec.name}_{listed.name}")
            if name in known:
                name = legal(f"{server.spec.name}/{listed.name}")
            known.add(name)
            yield _as_tool(server, listed, name)


def _as_tool(server: Server, listed: ListedTool, name: str) -> Tool:
    async def run(_services: object, /, **arguments: Any) -> ToolResult:
        return await server.call(listed.name, arguments)

    return Tool(
        spec=ToolSpec(name=name, description=listed.description, parameters=listed.parameters),
        toolset=server.spec.toolset,
        run=run,
        effect=listed.effect,
    )
