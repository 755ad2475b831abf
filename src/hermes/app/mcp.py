"""The MCP servers of a configuration: which tools they bring, and who agreed to them."""

import asyncio
import os
import re
import time
from collections.abc import Callable, Collection, Mapping, Sequence

import msgspec

from hermes import __version__
from hermes.agent.approvals import Approvals
from hermes.agent.send import Emit
from hermes.config import Config, McpServer, Secret
from hermes.errors import ConfigError, NotConfigured, StoreUnavailable, ToolError, UnknownName
from hermes.events import Notice
from hermes.protocols import Concern
from hermes.tools.base import Tool
from hermes.tools.mcp import telling
from hermes.tools.mcp.listing import Listing
from hermes.tools.mcp.pins import Pin, Pins
from hermes.tools.mcp.servers import Server, as_tools
from hermes.tools.mcp.spec import Spec
from hermes.tools.toolbox import ALL, NONE, Toolbox, toolsets

LOOKED_WITHIN = 10.0
"""Seconds that a server has to say what it offers, where that is only looked at."""
LONGEST_QUESTION = 4_000
"""Characters that a person is shown in full; nobody agrees to words left out of the middle."""
_VARIABLE = re.compile(r"\$\{(\w+)\}")

Asking = Callable[[Callable[[str], None]], Approvals]
"""Makes who asks a person; what is given keeps an answer for good."""


class Standing(msgspec.Struct, frozen=True):
    """How a server is, and how to mend what is wrong with it."""

    name: str
    detail: str
    is_well: bool = True
    fix: str | None = None


class Mcp:
    """The servers that the settings name, each a toolset `mcp-NAME`. Close it: it holds programs.

    `asking` is None where nobody can be asked. `environ` is what programs may get of ours.
    """

    def __init__(
        self, config: Config, environ: Mapping[str, str], notices: list[Notice], asking: Asking | None
    ) -> None:
        self._config = config
        self._notices = notices
        self._asking = asking
        self.pins = Pins(os.path.join(config.home, "mcp"), time.time)
        self.servers = {
            name: Server(self._spec(name, server), self.pins, self._consent, environ, self._log(name))
            for name, server in config.mcp.servers.items()
        }

    def server(self, name: str) -> Server:
        """The server of a name; an unknown one is an error that offers the nearest."""
        if name not in self.servers:
            raise UnknownName("MCP server", name, self.servers, hint=None if self.servers else _HOW_TO_ADD)
        return self.servers[name]

    def tools(self, taken: Collection[str] = ()) -> tuple[Tool, ...]:
        """The tools that were agreed to, under names that none of ours and none of `taken` has."""
        return tuple(as_tools(tuple(self.servers.values()), {*toolsets(), *taken}))

    def offered(self, wanted: Sequence[str]) -> tuple[str, ...]:
        """The toolsets of the settings, with those of servers; who wants no tool gets none of theirs."""
        own = () if NONE in wanted else (server.spec.toolset for server in self.servers.values())
        return (*wanted, *own)

    def known(self, wanted: Sequence[str]) -> tuple[str, ...]:
        """The names without the toolsets of servers that bring no tool."""
        empty = {server.spec.toolset for server in self.servers.values() if not server.tools()}
        return tuple(name for name in wanted if name not in empty)

    def strangers(self, wanted: Sequence[str]) -> list[Server]:
        """The wanted servers that nobody has agreed to."""
        return [
            server
            for server in self.servers.values()
            if server.pin is None and (ALL in wanted or server.spec.toolset in wanted)
        ]

    async def introduce(self, strangers: list[Server], box: Toolbox, emit: Emit) -> None:
        """Have a person look at servers, and offer the tools of those that are agreed to. Each comes once."""
        while strangers:
            server = strangers.pop(0)
            name = server.spec.name
            try:
                if self._asking is not None and await server.meet():
                    box.add(as_tools((server,), {*toolsets(), *box.names()}))
                    continue
                problem, hint = "nobody has agreed to them", f"look at them with `hermes mcp trust {name}`"
            except (ToolError, ConfigError) as error:
                problem, hint = str(error), error.hint or f"try it with `hermes mcp trust {name}`"
            emit(Notice(f"the tools of the MCP server `{name}` are not offered: {problem}", hint))

    async def standings(self, *, live: bool) -> "list[Standing]":
        """How each server is; with `live`, those that were agreed to are asked what they offer now."""
        return await asyncio.gather(*(_standing(server, live) for server in self.servers.values()))

    async def close(self) -> None:
        await asyncio.gather(*(server.close() for server in self.servers.values()))

    async def _consent(self, spec: Spec, listing: Listing, before: Pin | None) -> bool:
        if self._asking is None:
            return False
        shown = telling.describe(spec, listing, before)
        if len(shown) > LONGEST_QUESTION:
            raise ToolError(
                f"the tools of the MCP server `{spec.name}` take more words than a question can show; "
                f"the user can look at them with `hermes mcp trust {spec.name}`"
            )
        concern = Concern(
            kind="ask",
            action=shown,
            reason=telling.why(spec, before),
            rules=(f"mcp {spec.name} {listing.digest[:12]}",),
        )
        pin = self.pins.made(spec.who, listing)
        approvals = self._asking(lambda _text: self._keep(spec.name, pin))
        return await approvals.judge(spec.toolset, {}, concern) is None

    def _keep(self, name: str, pin: Pin) -> None:
        """Keep a consent for good; where that cannot be they are told, and the run goes on."""
        try:
            self.pins.put(name, pin)
        except StoreUnavailable as error:
            self._notices.append(Notice(f"`{name}` is agreed to in this run only: {error}", error.hint))

    def _spec(self, name: str, server: McpServer) -> Spec:
        return Spec(
            name=name,
            command=os.path.expanduser(server.command),
            args=server.args,
            url=server.url,
            timeout=server.timeout,
            tools=server.tools,
            environment=lambda: self._filled(f"{name}.env", server.env),
            headers=lambda: self._filled(f"{name}.headers", server.headers),
            version=__version__,
        )

    def _filled(self, where: str, values: Mapping[str, Secret]) -> dict[str, str]:
        """Values in which variables are put in their places; raises `NotConfigured`."""

        def value_of(found: re.Match[str]) -> str:
            value = self._config.environment.lookup(found[1])
            if value is None:
                raise NotConfigured(
                    f"`mcp.servers.{where}` names `{found[1]}`, which is not set",
                    hint=f"set it with `hermes config set {found[1]} VALUE`",
                )
            return value

        return {name: _VARIABLE.sub(value_of, value.reveal()) for name, value in values.items()}

    def _log(self, name: str) -> str:
        return os.path.join(self._config.home, "logs", f"mcp-{name}.log")


async def _standing(server: Server, live: bool) -> Standing:
    name, pin = server.spec.name, server.pin
    look = f"look at its tools with `hermes mcp trust {name}`"
    if pin is None:
        return Standing(name, telling.why(server.spec, server.kept), False, look)
    if live:
        try:
            async with asyncio.timeout(LOOKED_WITHIN):
                listing = await server.look()
        except TimeoutError:
            return Standing(name, f"it gave no answer within {LOOKED_WITHIN:g} seconds", False)
        except (ToolError, ConfigError) as error:
            return Standing(name, str(error), False, error.hint)
        if listing.digest != pin.digest:
            return Standing(name, telling.why(server.spec, pin), False, look)
    return Standing(name, f"{len(server.tools())} tools are offered")


_HOW_TO_ADD = "name one in config.yaml: `mcp.servers.NAME` with a `command` or a `url`"
