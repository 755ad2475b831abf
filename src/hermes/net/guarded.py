"""Connections under a guard: the address that was judged is the one that is connected to."""

import socket
from collections.abc import Callable
from typing import Any

import aiohttp
from aiohttp.abc import AbstractResolver, ResolveResult
from aiohttp.client_proto import ResponseHandler
from aiohttp.tracing import Trace

from hermes.errors import AddressRefused
from hermes.net.guard import Guard

SocketMaker = Callable[[aiohttp.AddrInfoType], socket.socket]


def plain_socket(info: aiohttp.AddrInfoType) -> socket.socket:
    """A socket for an address that was looked up."""
    family, kind, proto, _, _ = info
    return socket.socket(family, kind, proto)


class GuardedResolver(AbstractResolver):
    """A lookup whose answers are judged before anyone uses them; a closed one among them closes the name."""

    def __init__(self, inner: AbstractResolver, guard: Guard) -> None:
        self._inner = inner
        self._guard = guard

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_UNSPEC
    ) -> list[ResolveResult]:
        found = await self._inner.resolve(host, port, family)
        if not found:
            raise socket.gaierror(socket.EAI_NONAME, "no address")
        for one in found:
            self._guard.admit_text(one["host"], host)
        return found

    async def close(self) -> None:
        await self._inner.close()


class GuardedConnector(aiohttp.TCPConnector):
    """Makes sockets for judged addresses only, and looks once more at who answers before a byte is sent."""

    def __init__(
        self, guard: Guard, *, resolver: AbstractResolver, new_socket: SocketMaker, **settings: Any
    ) -> None:
        def judged_socket(info: aiohttp.AddrInfoType) -> socket.socket:
            try:
                guard.admit_text(info[4][0], info[4][0])
            except AddressRefused as error:  # a race of connections only knows errors of the system
                raise PermissionError(str(error)) from error
            return new_socket(info)

        super().__init__(resolver=GuardedResolver(resolver, guard), socket_factory=judged_socket, **settings)
        self._guard = guard

    async def _create_connection(
        self,
        req: aiohttp.ClientRequest,
        traces: list[Trace],
        timeout: aiohttp.ClientTimeout,  # noqa: ASYNC109 - the signature is aiohttp's
    ) -> ResponseHandler:
        protocol = await super()._create_connection(req, traces, timeout)
        transport = protocol.transport
        peer = transport.get_extra_info("peername") if transport is not None else None
        try:
            self._guard.admit_text(peer[0] if peer else "", req.url.raw_host or "")
        except AddressRefused:
            if transport is not None:
                transport.abort()
            raise
        return protocol
