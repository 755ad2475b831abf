"""What was found and read lately, in SQLite; and equal questions at the same time asked once."""

import asyncio
import hashlib
from collections.abc import Awaitable, Callable, Coroutine, Hashable, Sequence
from sqlite3 import Connection
from typing import Any, Generic, TypeVar

import msgspec

from hermes.errors import HermesError, StoreError
from hermes.net.sites import matches
from hermes.protocols import Document, Found, KeptPage, Query, WebBackend, progress
from hermes.store.database import Database, fetch
from hermes.store.schema import Schema
from hermes.tools.web.addresses import matched, split

CACHE = Schema(
    noun="the web cache",
    steps=(
        (
            """
            CREATE TABLE answers (
                key TEXT PRIMARY KEY, size INTEGER NOT NULL, value BLOB NOT NULL, expires REAL NOT NULL
            ) WITHOUT ROWID
            """,
            "CREATE INDEX answers_by_age ON answers (expires)",
        ),
    ),
)
MOST_ENTRIES = 2_000
LARGEST_ENTRY = 2_000_000
MOST_BYTES = 64_000_000
_DROP_OLDEST = "DELETE FROM answers WHERE key IN (SELECT key FROM answers ORDER BY expires LIMIT ?)"
_HELD = "SELECT count(*), total(length(value)) FROM answers"
_SPARED = 10
"""How many go at once when there is too much: the oldest tenth."""

A = TypeVar("A")
T = TypeVar("T")


class Cache:
    """Answers by key, each for `seconds`. Nobody's work depends on it: no call raises."""

    def __init__(self, path: str, seconds: float, clock: Callable[[], float]) -> None:
        self._path = path
        self._seconds = seconds
        self._clock = clock
        self._database: Database | None = None
        self._is_broken = False

    def get(self, key: str, kind: type[T], size: int = 0) -> T | None:
        """The answer of a key that was made for at least this size; None when there is none."""
        query = "SELECT value FROM answers WHERE key = ? AND size >= ? AND expires > ?"
        now = self._clock()
        rows = self._try(lambda db: db.read(lambda c: fetch(c, tuple[bytes], query, key, size, now)))
        try:
            return msgspec.json.decode(rows[0][0], type=kind) if rows else None
        except (msgspec.DecodeError, UnicodeDecodeError):
            return None

    def latest(self, parts: tuple[str, str], start: int, count: int) -> list[tuple[str, str, str]]:
        """The keys of the answers from a position on, the latest first, each with two texts of its JSON."""
        query = """
            SELECT key, json_extract(CAST(value AS TEXT), ?), json_extract(CAST(value AS TEXT), ?)
            FROM answers WHERE expires > ? ORDER BY expires DESC, key LIMIT ? OFFSET ?
        """
        now, kind = self._clock(), tuple[str, str, str]
        return self._try(lambda db: db.read(lambda c: fetch(c, kind, query, *parts, now, count, start))) or []

    def put(self, key: str, value: object, size: int = 0) -> None:
        data = msgspec.json.encode(value)
        now = self._clock()
        if len(data) > LARGEST_ENTRY:
            return

        def insert(db: Connection) -> None:
            db.execute("DELETE FROM answers WHERE expires <= ?", (now,))
            db.execute(
                "INSERT OR REPLACE INTO answers VALUES (?, ?, ?, ?)", (key, size, data, now + self._seconds)
            )
            count, held = db.execute(_HELD).fetchone()
            while count > MOST_ENTRIES or held > MOST_BYTES:
                db.execute(_DROP_OLDEST, (count // _SPARED + 1,))
                count, held = db.execute(_HELD).fetchone()

        self._try(lambda database: database.write(insert))

    def close(self) -> None:
        if self._database is not None:
            self._database.close()
            self._database = None

    def _try(self, act: Callable[[Database], T]) -> T | None:
        if self._is_broken:
            return None
        try:
            if self._database is None:
                self._database = Database(self._path, CACHE, self._clock)
            return act(self._database)
        except StoreError:
            self.close()
            self._is_broken = True
            return None


class Shared(Generic[A, T]):
    """Equal calls at the same time are one call. Whoever came first makes it, and the others get its outcome.

    When the first one leaves before it has an outcome, the next one makes the call.
    """

    def __init__(self) -> None:
        self._calls: dict[Hashable, asyncio.Future[T | None] | None] = {}
        """The calls under way, each with what others wait on, once somebody does."""

    async def call(self, key: Hashable, work: Callable[[A], Awaitable[T]], asked: A) -> T:
        while key in self._calls:
            outcome = await self._outcome(key)
            if outcome is not None:
                return outcome
        self._calls[key] = None
        try:
            outcome = await work(asked)
        except BaseException as error:
            self._fail(key, error)
            raise
        waiting = self._calls.pop(key)
        if waiting is not None:
            waiting.set_result(outcome)
        return outcome

    async def _outcome(self, key: Hashable) -> T | None:
        """What the call under way gives; None when it is given up."""
        running = self._calls[key]
        if running is None:
            running = self._calls[key] = asyncio.get_running_loop().create_future()
        await asyncio.wait([running])
        return running.result()

    def _fail(self, key: Hashable, failure: BaseException) -> None:
        """A failure is everybody's; who only leaves leaves the call to the next."""
        waiting = self._calls.pop(key)
        if waiting is None:
            return
        if isinstance(failure, HermesError):
            waiting.set_exception(failure)
            waiting.exception()  # who waits may have left, and then nobody else looks at it
        else:
            waiting.set_result(None)


class Cached:
    """A backend with a memory: only what was found is kept, and only for addresses of the open web.

    `identity` tells this backend from another one of its name, such as one with another address.
    """

    def __init__(
        self, backend: WebBackend, cache: Cache | None, identity: str, exempt: Sequence[str] = ()
    ) -> None:
        self.name = backend.name
        self.schemes = backend.schemes
        self.filters = backend.filters
        self._backend = backend
        self._cache = cache
        self._identity = identity
        self._exempt = exempt
        self._searches: Shared[Query, Found] = Shared()
        self._readings: Shared[Sequence[str], Sequence[Document]] = Shared()

    def search(self, query: Query) -> Coroutine[Any, Any, Found]:
        if self._cache is None:
            return self._searches.call(query, self._backend.search, query)
        return self._found(self._cache, query)

    async def _found(self, cache: Cache, query: Query) -> Found:
        words = " ".join(query.text.split()).casefold()
        key = self._key("search", msgspec.structs.replace(query, text=words, limit=0))
        kept = cache.get(key, Found, query.limit)
        if kept is not None:
            progress.get()("from the cache")
            return msgspec.structs.replace(kept, rows=kept.rows[: query.limit])
        found = await self._searches.call((key, query.limit), self._backend.search, query)
        if found.rows or found.answer:
            cache.put(key, found, query.limit)
        return found

    async def extract(self, urls: Sequence[str]) -> Sequence[Document]:
        kept = {url: document for url in urls if (document := self._kept(url)) is not None}
        left = tuple(url for url in urls if url not in kept)
        if kept:
            progress.get()(f"{len(kept)} of {len(urls)} from the cache" if left else "from the cache")
        if not left:
            return list(kept.values())
        read = await self._readings.call(left, self._backend.extract, left)
        if self._cache is not None:
            for url, document in matched(left, read).items():
                if document.error is None and document.content and self._may_keep(url, document):
                    self._cache.put(self._key("page", url), document)
        return [*kept.values(), *read]

    def _kept(self, url: str) -> Document | None:
        if self._cache is None or not may_keep(url, self._exempt):
            return None
        return self._cache.get(self._key("page", url), Document)

    def _may_keep(self, url: str, document: Document) -> bool:
        places = filter(None, (url, document.url, document.final_url))
        return all(may_keep(place, self._exempt) for place in places)

    def _key(self, kind: str, asked: Any) -> str:
        return _digest([kind, self.name, self._identity, asked])


class Stored(msgspec.Struct, frozen=True):
    """A stored page, as a list tells of it."""

    url: str
    content_type: str


class KeptPages:
    """A `PageCache`: pages as their servers sent them, so that these are only asked for changes."""

    def __init__(self, cache: Cache, exempt: Sequence[str] = ()) -> None:
        self._cache = cache
        self._exempt = exempt

    def get(self, url: str) -> KeptPage | None:
        return self._cache.get(_digest(url), KeptPage) if may_keep(url, self._exempt) else None

    def put(self, url: str, kept: KeptPage) -> None:
        if may_keep(url, self._exempt) and may_keep(kept.page.url, self._exempt):
            self._cache.put(_digest(url), kept)

    def latest(self, start: int, count: int) -> tuple[list[Stored], bool]:
        """Stored pages from a position on, the latest first, and whether there are more.

        One that was found elsewhere than where it was looked for counts, and is not told of.
        """
        rows = self._cache.latest(("$.page.url", "$.page.content_type"), start, count + 1)
        shown = [Stored(url, kind) for key, url, kind in rows[:count] if key == _digest(url)]
        return shown, len(rows) > count


def may_keep(url: str, exempt: Sequence[str]) -> bool:
    """Whether a page may be kept: it is of the open web, and no rule exempts its host."""
    _, host = split(url) or ("", "")
    return "." in host and not _is_near(host) and not any(matches(host, rule) for rule in exempt)


def _digest(asked: Any) -> str:
    return hashlib.sha256(msgspec.json.encode(asked)).hexdigest()


def _is_near(host: str) -> bool:
    """Whether a host is an address in figures, or a name of the local network."""
    return (
        host.replace(".", "").isdigit()
        or ":" in host
        or host.endswith((".local", ".lan", ".internal", ".home"))
    )
