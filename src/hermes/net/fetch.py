"""Pages fetched politely: a few at a time from one host, only what has changed, and within the caps."""

import asyncio
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

from hermes.errors import AddressRefused, HttpStatus, NetError
from hermes.net import robots, target
from hermes.net.client import Client
from hermes.net.reply import Reply
from hermes.net.robots import Robots
from hermes.net.target import Target
from hermes.protocols import Deadlines, Fetched, HttpRequest, KeptPage, PageCache

PER_HOST = 4
AT_ONCE = 32
DEADLINES = Deadlines(connect=5.0, first_byte=30.0, idle=30.0, total=120.0)

_ACCEPT = (
    "text/html, application/xhtml+xml, text/*;q=0.9, application/pdf;q=0.9, application/json;q=0.8, */*;q=0.5"
)
_NOT_MODIFIED = 304
_CLIENT_ERRORS = range(400, 500)
_ROBOTS_KEPT = 3600.0
_MOST_SITES = 1_000


class Fetcher:
    """A `PageFetcher` over a guarded client. With `heeds_robots`, a site's wishes for robots are kept.

    `agent` is the name that sites know us by in `robots.txt`; `clock` counts seconds.
    """

    def __init__(
        self,
        client: Client,
        *,
        cache: PageCache | None = None,
        heeds_robots: bool = False,
        agent: str = "hermes",
        per_host: int = PER_HOST,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._client = client
        self._cache = cache
        self._heeds_robots = heeds_robots
        self._agent = agent
        self._clock = clock
        self._gates = _Gates(per_host)
        self._known: dict[str, tuple[float, Robots]] = {}

    async def fetch(self, url: str) -> Fetched:
        """The page; raises `NetError` when there is none to be had."""
        where = target.parse(url)
        async with self._gates.enter(where.origin):
            if self._heeds_robots:
                await self._ask_robots(where)
            kept = self._cache.get(url) if self._cache is not None else None
            try:
                async with self._client.open(_request(url, kept)) as reply:
                    return await self._take(url, reply)
            except HttpStatus as error:
                if error.status == _NOT_MODIFIED and kept is not None:
                    return kept.page
                raise

    async def close(self) -> None:
        await self._client.close()

    async def _take(self, url: str, reply: Reply) -> Fetched:
        body, note = await reply.read_part()
        notes = [note] if note else []
        if self._client.uses_proxy(reply.url):
            notes.append("it came through the proxy of the environment, which decides where it connects")
        content_type = reply.headers.get("content-type", "")
        fetched = Fetched(reply.url, reply.status, content_type, body, tuple(notes))
        etag, modified = reply.headers.get("etag", ""), reply.headers.get("last-modified", "")
        may_keep = "no-store" not in reply.headers.get("cache-control", "").lower() and not note
        if self._cache is not None and (etag or modified) and may_keep:
            self._cache.put(url, KeptPage(fetched, etag, modified))
        return fetched

    async def _ask_robots(self, where: Target) -> None:
        known = self._known.get(where.origin)
        if known is None or known[0] < self._clock():
            known = self._clock() + _ROBOTS_KEPT, await self._fetch_robots(where)
            if len(self._known) >= _MOST_SITES:
                self._known.clear()
            self._known[where.origin] = known
        if not known[1].allows(where.url.raw_path_qs):
            raise NetError(
                f"`{where.origin}` does not want robots to read this page",
                hint="`web.robots` says whether that is heeded",
            )

    async def _fetch_robots(self, where: Target) -> Robots:
        """A site without rules is open; one whose rules cannot be had just now is not."""
        try:
            async with self._client.open(_request(f"{where.origin}/robots.txt")) as reply:
                text = await reply.read_start(robots.LARGEST)
        except AddressRefused:
            raise
        except HttpStatus as error:
            return Robots() if error.status in _CLIENT_ERRORS else robots.CLOSED
        except NetError:
            return robots.CLOSED
        return robots.parse(text.decode("utf-8", "replace"), self._agent)


class _Gates:
    """Lets a few in at a time for each host, and not too many in all."""

    def __init__(self, per_host: int) -> None:
        self._per_host = per_host
        self._all = asyncio.Semaphore(AT_ONCE)
        self._hosts: dict[str, asyncio.Semaphore] = {}
        self._inside: Counter[str] = Counter()

    @asynccontextmanager
    async def enter(self, host: str) -> AsyncIterator[None]:
        gate = self._hosts.setdefault(host, asyncio.Semaphore(self._per_host))
        self._inside[host] += 1
        try:
            async with gate, self._all:
                yield
        finally:
            self._inside[host] -= 1
            if not self._inside[host]:
                del self._hosts[host], self._inside[host]


def _request(url: str, kept: KeptPage | None = None) -> HttpRequest:
    headers = {"Accept": _ACCEPT}
    if kept is not None and kept.etag:
        headers["If-None-Match"] = kept.etag
    if kept is not None and kept.last_modified:
        headers["If-Modified-Since"] = kept.last_modified
    return HttpRequest("GET", url, headers, deadlines=DEADLINES)
