"""The connections of a client, opened when first used: to servers, and to the proxies before them."""

import asyncio
from contextlib import suppress

import aiohttp
from aiohttp.abc import AbstractResolver
from multidict import CIMultiDict
from yarl import URL

from hermes.net import addresses
from hermes.net.guard import Guard
from hermes.net.guarded import GuardedConnector, GuardedResolver, SocketMaker
from hermes.net.inflate import ENCODINGS
from hermes.net.target import Target

_KEEP_ALIVE = 60.0
_LOOK_UP = 2.0


class Pool:
    """Under a guard, servers and proxies have connections of their own: a proxy is the user's choice."""

    def __init__(
        self,
        guard: Guard | None,
        resolver: AbstractResolver,
        new_socket: SocketMaker,
        user_agent: str,
        largest_header: int,
    ) -> None:
        self._guard = guard
        self._resolver = resolver
        self._new_socket = new_socket
        self._user_agent = user_agent
        self._largest_header = largest_header
        self._sessions: dict[bool, aiohttp.ClientSession] = {}

    async def session(self, where: Target, proxy: URL | None) -> aiohttp.ClientSession:
        """Where to send a request; raises `AddressRefused` for a name that leads somewhere closed."""
        is_judged = self._guard is not None and proxy is None
        if self._guard is not None and proxy is not None:
            await self._judge_name(where, self._guard)
        if is_judged not in self._sessions:
            self._sessions[is_judged] = self._new_session(self._guard if is_judged else None)
        return self._sessions[is_judged]

    def take(self) -> list[aiohttp.ClientSession]:
        """All open sessions, for whoever closes them; the next request opens new ones."""
        taken = list(self._sessions.values())
        self._sessions.clear()
        return taken

    async def _judge_name(self, where: Target, guard: Guard) -> None:
        """Judge what a name leads to here; a proxy looks it up again, and may know what we do not.

        Behind a proxy there may be nobody to answer, so this is not waited for long.
        """
        name = where.url.raw_host or ""
        if addresses.parse(name) is None:
            with suppress(OSError):
                async with asyncio.timeout(_LOOK_UP):
                    await GuardedResolver(self._resolver, guard).resolve(name, where.url.port or 0)

    def _new_session(self, guard: Guard | None) -> aiohttp.ClientSession:
        session = aiohttp.ClientSession(
            connector=self._connector(guard),
            cookie_jar=aiohttp.DummyCookieJar(),
            headers=CIMultiDict({"User-Agent": self._user_agent, "Accept-Encoding": ENCODINGS}),
            auto_decompress=False,
            max_line_size=self._largest_header,
            max_field_size=self._largest_header,
        )
        # aiohttp would send a GET again by itself, which no policy and no budget would see.
        session._retry_connection = False  # noqa: SLF001
        return session

    def _connector(self, guard: Guard | None) -> aiohttp.TCPConnector:
        if guard is None:
            return aiohttp.TCPConnector(
                limit=0,
                keepalive_timeout=_KEEP_ALIVE,
                resolver=self._resolver,
                socket_factory=self._new_socket,
            )
        return GuardedConnector(
            guard,
            limit=0,
            keepalive_timeout=_KEEP_ALIVE,
            resolver=self._resolver,
            new_socket=self._new_socket,
        )
