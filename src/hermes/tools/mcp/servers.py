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
        connection, listing = await self._open()
        await connection.close()
        return listing

    async def meet(self) -> bool:
        """See what the server offers, and have a person agree to it; False when nobody does."""
        async with self._one_at_a_time:
            return self.pin is not None or await self._begin()

    async def call(self, tool: ListedTool, arguments: Mapping[str, Any]) -> ToolResult:
        """Call a tool, if it still is what was agreed to and what a model was told. Raises `ToolError`."""
        connection = await self._verified()
        if tool not in self.tools():
            raise ToolError(
                f"`{tool.name}` of the MCP server `{self.spec.name}` has changed; "
                "a new conversation has it as it is now"
            )
        try:
            return await connection.call(tool.name, arguments)
        finally:
            if connection.is_lost:
                await self._drop(connection)

    async def close(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            await connection.close()

    async def _verified(self) -> "Connection":
        async with self._one_at_a_time:
            if (self._connection is None or self._connection.is_lost) and not await self._begin():
                name = self.spec.name
                raise ToolError(
                    f"the tools of the MCP server `{name}` are not those that the user agreed to, so nothing"
                    f" was called; the user can look at them with `hermes mcp trust {name}`"
                )
            if self._connection is None:
                raise ToolError(f"the MCP server `{self.spec.name}` was closed")
            return self._connection

    async def _begin(self) -> bool:
        """Start a session that is kept if the server is what was agreed to, or if that is agreed to now."""
        connection, listing = await self._open()
        is_agreed = False
        try:
            pin = self.pin
            is_agreed = (pin is not None and pin.digest == listing.digest) or await self._is_agreed(listing)
        finally:
            if not is_agreed:
                await connection.close()
        await self.close()
        self._connection = connection if is_agreed else None
        return is_agreed

    async def _open(self) -> "tuple[Connection, Listing]":
        if not discover.is_installed(PACKAGE):
            raise NotConfigured(
                f"the MCP server `{self.spec.name}` needs the package `{PACKAGE}`",
                hint='run `pip install "hermes[mcp]"`',
            )
        environment = {**self._environ, **self.spec.environment()}
        headers = self.spec.headers()
        connection: Connection = discover.module("hermes.tools.mcp.connection").Connection(
            self.spec, environment, headers, self._log
        )
        return connection, await connection.open()

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
        return await server.call(listed, arguments)

    return Tool(
        spec=ToolSpec(name=name, description=listed.description, parameters=listed.parameters),
        toolset=server.spec.toolset,
        run=run,
        effect=listed.effect,
    )
