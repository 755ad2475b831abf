"""The only sockets: requests out, replies in, under deadlines, caps and one layer of retries."""

import asyncio
import io
import os
import random as _random
import time
from collections.abc import Awaitable, Callable, Mapping
from contextlib import AbstractAsyncContextManager
from functools import lru_cache
from types import TracebackType

import aiohttp
from aiohttp.abc import AbstractResolver

from hermes.errors import Disconnected, HttpStatus, NetError, ProtocolBroken
from hermes.events import RetryWaiting
from hermes.net import faults, target
from hermes.net.guard import Guard
from hermes.net.guarded import SocketMaker, plain_socket
from hermes.net.names import Resolver
from hermes.net.pool import Pool
from hermes.net.reply import Caps, Reply
from hermes.net.retry import RetryBudget, RetryPolicy, retry_after
from hermes.net.target import Target
from hermes.protocols import HttpRequest, MayRetry

_REDIRECTS = frozenset({301, 302, 303, 307, 308})
_FOR_ANYBODY = frozenset({"accept", "accept-language", "if-none-match", "if-modified-since"})
"""Headers that go along when a redirect leads to another origin; any other may hold a credential."""
_LARGE_BODY = 1024 * 1024
_POLICY = RetryPolicy()
_CAPS = Caps()


class Client:
    """A `Wire` over one pool of connections, opened when first used and bound to that event loop.

    `clock` is wall time in seconds since 1970, for waits that servers give as a date; `sleep` and
    `random` are what a retry waits with; `environ` is asked for proxies. With a `guard`, requests and
    redirects go only where it admits: for addresses that the user did not choose. `resolver` and
    `new_socket` are how names are looked up and what connects.
    """

    def __init__(
        self,
        *,
        retry: RetryPolicy = _POLICY,
        caps: Caps = _CAPS,
        user_agent: str = "hermes",
        environ: Mapping[str, str] = os.environ,
        clock: Callable[[], float] = time.time,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
        random: Callable[[], float] = _random.random,
        guard: Guard | None = None,
        resolver: AbstractResolver | None = None,
        new_socket: SocketMaker = plain_socket,
    ) -> None:
        self._retry = retry
        self._caps = caps
        self._proxies = target.proxies(environ)
        self._clock = clock
        self._sleep = sleep
        self._random = random
        self._guard = guard
        self._pool = Pool(guard, resolver or Resolver(), new_socket, user_agent, caps.headers)
        self._budgets: dict[str, RetryBudget] = {}
        self._entered: set[Reply] = set()

    def open(
        self, request: HttpRequest, may_retry: MayRetry | None = None
    ) -> AbstractAsyncContextManager[Reply]:
        """Send the request and enter with a 2xx reply; raises `NetError` otherwise.

        Connections that fail and statuses that pass are tried again as the policy says, and
        `may_retry` is asked before each wait begins. A request with an attempt is sent once: its
        sender waits and comes back. Leaving closes what was not read.
        """
        return _Call(self, request, may_retry)

    def uses_proxy(self, url: str) -> bool:
        """Whether a request to a URL goes through a proxy."""
        return bool(self._proxies) and target.proxy_for(target.parse(url), self._proxies) is not None

    async def close(self) -> None:
        """Close every connection, also those in use; a later request opens new ones."""
        sessions = self._pool.take()
        for reply in tuple(self._entered):
            reply.fail(Disconnected("the connection was closed on our side"))
        for session in sessions:
            await session.close()

    async def enter(self, request: HttpRequest, may_retry: MayRetry | None) -> Reply:
        """All attempts of one call, up to the reply that is a success."""
        where = self._admitted(target.parse(request.url))
        total_at = asyncio.get_running_loop().time() + request.deadlines.total
        attempt = request.attempt or 1
        while True:
            try:
                reply = await self._attempt(request, where, total_at)
            except NetError as error:
                wait = self._wait(error, attempt, where.origin, total_at)
                if wait is None:
                    raise
                if may_retry is not None and not may_retry(error, RetryWaiting(str(error), wait, attempt)):
                    self._give_back(where.origin)
                    raise
                if request.attempt is not None:
                    raise
            else:
                if self._budgets:
                    self._give_back(where.origin)
                self._entered.add(reply)
                return reply
            await self._sleep(wait)
            attempt += 1

    def leave(self, reply: Reply) -> None:
        """The other end of `enter`: what was not read is cut."""
        self._entered.discard(reply)
        reply.close()

    def _admitted(self, where: Target) -> Target:
        return where if self._guard is None else self._guard.admit(where)

    def _wait(self, error: NetError, attempt: int, origin: str, total_at: float) -> float | None:
        wait = self._retry.delay(error, attempt, self._random)
        if wait is None or asyncio.get_running_loop().time() + wait >= total_at:
            return None
        return wait if self._budgets.setdefault(origin, RetryBudget()).spend() else None

    def _give_back(self, origin: str) -> None:
        budget = self._budgets.get(origin)
        if budget is not None:
            budget.give_back()

    async def _attempt(self, request: HttpRequest, where: Target, total_at: float) -> Reply:
        deadlines = request.deadlines
        answer_at = asyncio.get_running_loop().time() + deadlines.first_byte
        try:
            async with asyncio.timeout_at(min(answer_at, total_at)):
                response, where = await self._exchange(request, where)
        except TimeoutError:
            if answer_at < total_at:
                raise faults.deadline_passed("first byte", deadlines.first_byte, where.origin) from None
            raise faults.deadline_passed("total", deadlines.total, where.origin) from None
        reply = Reply(response, request, where, self._caps, total_at)
        if not 200 <= reply.status < 300:
            raise await self._refusal(reply, where)
        if self._retry.whole:
            await self._load(reply)
        return reply

    async def _load(self, reply: Reply) -> None:
        try:
            await reply.load()
        except BaseException:
            reply.close()
            raise

    async def _refusal(self, reply: Reply, where: Target) -> HttpStatus:
        """The error of a reply that is not a success; its connection is closed or back in the pool."""
        try:
            body = await reply.read_start(self._caps.error_body)
        finally:
            reply.close()
        wait = retry_after(reply.status, reply.headers, body, self._clock())
        error = HttpStatus(reply.status, reply.headers, body, retry_after=wait)
        if reply.status in _REDIRECTS:
            error.hint = f"`{where.origin}` has moved: check the address that is set for it"
        return error

    async def _exchange(self, request: HttpRequest, where: Target) -> tuple[aiohttp.ClientResponse, Target]:
        """The answer's headers, after any redirects; only what reads is redirected, never a POST."""
        headers = request.headers
        follows = request.method in ("GET", "HEAD")
        for _ in range(self._caps.redirects + 1):
            response = await self._send(request, where, headers)
            if not follows or response.status not in _REDIRECTS or "location" not in response.headers:
                return response, where
            response.close()
            place = self._admitted(self._redirected(where, response.headers["location"]))
            if place.origin != where.origin:
                headers = {name: value for name, value in headers.items() if name.lower() in _FOR_ANYBODY}
            where = place
        raise ProtocolBroken(f"`{where.origin}` redirects more than {self._caps.redirects} times")

    def _redirected(self, where: Target, location: str) -> Target:
        may_leave_tls = self._guard is not None and self._guard.may_leave_tls
        return target.redirected(where, location, may_leave_tls=may_leave_tls)

    async def _send(
        self, request: HttpRequest, where: Target, headers: Mapping[str, str]
    ) -> aiohttp.ClientResponse:
        proxy = target.proxy_for(where, self._proxies) if self._proxies else None
        session = await self._pool.session(where, proxy)
        body: bytes | io.BytesIO | None = request.body or None
        if len(request.body) > _LARGE_BODY:  # aiohttp writes bytes in one go, and warns of it
            body = io.BytesIO(request.body)
        try:
            return await session.request(
                request.method,
                where.url,
                headers=headers,
                data=body,
                allow_redirects=False,
                timeout=_timeout(request.deadlines.connect),
                proxy=proxy,
            )
        except aiohttp.ClientError as error:
            raise faults.before_headers(error, where, request.deadlines.connect) from None
        except ValueError:
            raise NetError(
                f"the request to `{where.origin}` has a header that cannot be sent",
                hint="look for line breaks and odd characters in the key",
            ) from None


class _Call:
    """One call as a context: entered with the reply, left with its connection let go."""

    __slots__ = ("_client", "_may_retry", "_reply", "_request")

    def __init__(self, client: Client, request: HttpRequest, may_retry: MayRetry | None) -> None:
        self._client = client
        self._request = request
        self._may_retry = may_retry

    async def __aenter__(self) -> Reply:
        self._reply = await self._client.enter(self._request, self._may_retry)
        return self._reply

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._client.leave(self._reply)


@lru_cache(maxsize=64)
def _timeout(connect: float) -> aiohttp.ClientTimeout:
    """aiohttp keeps the time to connect; the rest is kept here, exactly and with our own words."""
    return aiohttp.ClientTimeout(total=None, connect=connect, ceil_threshold=float("inf"))
