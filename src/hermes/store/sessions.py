"""Conversations, kept: every message is on disk when `append` is done."""

import asyncio
import time
from collections.abc import Callable, Sequence
from sqlite3 import Connection, IntegrityError
from typing import Any, Literal, TypeVar

import msgspec

from hermes.errors import StoreError, StoreLocked, StoreUnavailable, UnknownName, UsageError
from hermes.messages import Message
from hermes.store import search
from hermes.store.database import BUSY_SECONDS, Database, Work, fetch
from hermes.store.events import Happening
from hermes.store.search import SearchHit
from hermes.store.summaries import placed
from hermes.store.tables import HISTORY
from hermes.store.text import legible
from hermes.store.writer import Writer

Status = Literal["open", "done", "interrupted", "failed"]

_SESSIONS = "SELECT id, title, created, updated, provider, model, cwd, status, messages FROM sessions"
_MESSAGES = "SELECT seq, CAST(body AS BLOB) FROM messages WHERE session = ? ORDER BY seq"
_EVENTS = "SELECT seq, CAST(body AS BLOB) FROM events WHERE session = ? ORDER BY id"
_TEXTS = ("id", "title", "provider", "model", "cwd")
_NEWEST_FIRST = "ORDER BY updated DESC, id DESC"
_OFFERED = 50
_CLOSING_SECONDS = 2 * BUSY_SECONDS
"""How long a store that is closed waits for what is not on disk yet."""

_encoder = msgspec.json.Encoder()
_decoder = msgspec.json.Decoder(Message)
_happenings = msgspec.json.Decoder(list[Happening])

T = TypeVar("T")


class Session(msgspec.Struct, frozen=True):
    """A conversation: when it was begun and last used, with whom, and in which folder."""

    id: str
    title: str
    created: float
    updated: float
    provider: str
    model: str
    cwd: str


class SessionInfo(Session, frozen=True):
    """A stored session. Status `open` means that its last turn has not ended."""

    status: Status
    messages: int


def new_session_id(now: float, entropy: bytes) -> str:
    """An id that sorts by time and is short to type; three bytes of `entropy` are used."""
    return f"{time.strftime('%Y%m%d-%H%M%S', time.gmtime(now))}-{entropy[:3].hex()}"


class Store:
    """The sessions of one file. Several processes may use it at once.

    What writes is begun when it is called, and done in the order of the calls; who awaits it knows that
    it is on disk. Only a thread of the store ever waits for a locked file.

    Raises `StoreUnavailable` when nothing can be saved, so that a shell goes on without. A damaged file
    is set aside; `notices` then says where it is.
    """

    def __init__(self, database: Database, clock: Callable[[], float]) -> None:
        self._database = database
        self._writer = Writer()
        self._clock = clock

    @classmethod
    def open(cls, path: str | None, clock: Callable[[], float] = time.time) -> "Store":
        """The store in a file, made for its owner alone when missing; in memory without a path."""
        return cls(Database(path, HISTORY, clock), clock)

    @property
    def notices(self) -> Sequence[str]:
        return self._database.notices

    def create(self, session: Session) -> asyncio.Future[None]:
        """Begin a session; its id must be new."""
        texts = {name: legible(getattr(session, name)) for name in _TEXTS}
        values = {"created": session.created, "updated": session.updated, **texts}

        def insert(db: Connection) -> None:
            try:
                db.execute(
                    "INSERT INTO sessions (id, title, created, updated, provider, model, cwd)"
                    " VALUES (:id, :title, :created, :updated, :provider, :model, :cwd)",
                    values,
                )
            except IntegrityError as error:
                raise StoreError(f"session `{session.id}` already exists") from error

        return self._write(insert)

    def append(
        self, session_id: str, messages: Sequence[Message], events: Sequence[Happening] = ()
    ) -> asyncio.Future[None]:
        """Add messages in order, and what happened before them, all or none.

        The session is `open` until it is marked.
        """
        bodies = [_encode(message) for message in messages]
        now = self._clock()
        return self._write(lambda db: _insert(db, session_id, bodies, events, now))

    def summarise(
        self,
        session_id: str,
        summary: Message,
        known: Sequence[Message],
        events: Sequence[Happening] = (),
    ) -> asyncio.Future[None]:
        """Add a summary of `known`, the messages as its writer knows them.

        What others wrote meanwhile is not among what it stands for.
        """
        bodies = [_encode(message) for message in known]
        now = self._clock()

        def insert(db: Connection) -> None:
            rows = fetch(db, tuple[int, bytes], _MESSAGES, session_id)
            here = summary
            if len(rows) != len(bodies):
                here = placed(summary, bodies, [body.decode() for _, body in rows])
            _insert(db, session_id, [_encode(here)], events, now)

        return self._write(insert)

    async def messages(self, session_id: str) -> tuple[Message, ...]:
        """All that was said in a session, in order."""
        await self._require(session_id)
        rows = await self._read(lambda db: fetch(db, tuple[int, bytes], _MESSAGES, session_id))
        return tuple(_decode(session_id, seq, body) for seq, body in rows)

    async def events(self, session_id: str) -> tuple[Happening, ...]:
        """What happened in a session, in order."""
        await self._require(session_id)
        rows = await self._read(lambda db: fetch(db, tuple[int, bytes], _EVENTS, session_id))
        return tuple(event for seq, body in rows for event in _decode_events(session_id, seq, body))

    async def latest(self, cwd: str | None = None) -> SessionInfo | None:
        """The session used last: in the folder `cwd` when given, else anywhere."""
        if cwd is None:
            found = await self._sessions(f"{_NEWEST_FIRST} LIMIT 1")
        else:
            found = await self._sessions(f"WHERE cwd = ? {_NEWEST_FIRST} LIMIT 1", legible(cwd))
        return found[0] if found else None

    async def find(self, reference: str) -> SessionInfo:
        """The session with this id, this title, or the only one whose id begins so."""
        wanted = legible(reference)
        found = await self._named(wanted)
        if not found:
            raise await self._unknown(wanted)
        if len(found) > 1:
            candidates = ", ".join(f"`{session.id}`" for session in found[:8])
            raise UsageError(
                f"`{wanted}` stands for {len(found)} sessions", hint=f"give one of their ids: {candidates}"
            )
        return found[0]

    async def list(self, limit: int) -> Sequence[SessionInfo]:
        """The sessions used last, newest first."""
        return await self._sessions(f"{_NEWEST_FIRST} LIMIT ?", limit)

    async def search(self, text: str, limit: int) -> Sequence[SearchHit]:
        """Messages that hold every word of `text`, or words that begin so; the best first."""
        query = search.build_query(text)
        hits: Sequence[SearchHit] | None = None if query else ()
        while hits is None:
            hits = await self._write(lambda db: search.step(db, query, limit))
        return hits

    async def delete(self, session_id: str) -> None:
        """Remove a session with all its messages."""
        await self._require(session_id)

        await self._write(lambda db: _remove_after(db, session_id, 0))

    def cut(self, session_id: str, keep: int, known: int) -> asyncio.Future[None]:
        """Remove all but the first `keep` messages, for who knows of `known`; with none kept, the session.

        Raises `StoreError` where another wrote to it meanwhile: their words are not ours to remove.
        """

        def remove(db: Connection) -> None:
            counted = fetch(db, tuple[int], "SELECT messages FROM sessions WHERE id = ?", session_id)
            if not counted:
                raise _gone(session_id)
            if counted[0][0] != known:
                raise StoreError(
                    f"another program wrote to session `{session_id}`, and nothing was taken back",
                    hint=f"go on with all of it: `hermes chat -r {session_id}`",
                )
            _remove_after(db, session_id, keep)

        return self._write(remove)

    def mark(self, session_id: str, status: Status, events: Sequence[Happening] = ()) -> asyncio.Future[None]:
        """Say how the last turn ended, and what happened after its last message."""
        return self._update(session_id, "status", status, events)

    def rename(self, session_id: str, title: str, events: Sequence[Happening] = ()) -> asyncio.Future[None]:
        """Give a session another title."""
        return self._update(session_id, "title", legible(title), events)

    def _update(
        self, session_id: str, column: Literal["status", "title"], value: str, events: Sequence[Happening]
    ) -> asyncio.Future[None]:
        def update(db: Connection) -> None:
            query = f"UPDATE sessions SET {column} = ? WHERE id = ? RETURNING CAST(messages AS INTEGER)"  # noqa: S608
            counted = db.execute(query, (value, session_id)).fetchall()
            if not counted:
                raise _gone(session_id)
            _insert_events(db, session_id, counted[0][0], events)

        return self._write(update)

    async def check(self) -> Sequence[str]:
        """What SQLite finds wrong with the file; nothing when it is sound."""
        rows = await self._read(lambda db: fetch(db, tuple[str], "PRAGMA quick_check"))
        return [text for (text,) in rows if text != "ok"]

    async def close(self) -> None:
        """Close the file when all is written; one that stays locked is left to its thread."""
        if await self._writer.close(_CLOSING_SECONDS):
            self._database.close()

    def _write(self, work: Work[T]) -> asyncio.Future[T]:
        """Write at once where that can be done at once; else where it can be waited for."""
        if not self._writer.is_idle:
            return self._write_later(work)
        done: asyncio.Future[T] = asyncio.get_running_loop().create_future()
        try:
            done.set_result(self._database.write(work, patience=0))
        except StoreLocked:
            return self._write_later(work)
        except StoreError as error:
            done.set_exception(error)
        return done

    def _write_later(self, work: Work[T]) -> asyncio.Future[T]:
        return self._writer.do(lambda: self._database.write(work))

    async def _read(self, work: Work[T]) -> T:
        """Read what is there; after what is still to be written, where something is."""
        if self._writer.is_idle:
            return self._database.read(work)
        return await self._writer.do(lambda: self._database.read(work))

    async def _named(self, wanted: str) -> Sequence[SessionInfo]:
        if not wanted:
            return ()
        return (
            await self._sessions("WHERE id = ?", wanted)
            or await self._sessions(f"WHERE title = ? COLLATE NOCASE {_NEWEST_FIRST}", wanted)
            or await self._sessions(f"WHERE substr(id, 1, ?) = ? {_NEWEST_FIRST}", len(wanted), wanted)
        )

    async def _sessions(self, condition: str, *values: str | int) -> Sequence[SessionInfo]:
        query = f"{_SESSIONS} {condition}"
        rows = await self._read(
            lambda db: fetch(db, tuple[str, str, float, float, str, str, str, Status, int], query, *values)
        )
        return [SessionInfo(*row) for row in rows]

    async def _require(self, session_id: str) -> None:
        if not await self._sessions("WHERE id = ?", legible(session_id)):
            raise await self._unknown(session_id)

    async def _unknown(self, reference: str) -> UnknownName:
        recent = await self._sessions(f"{_NEWEST_FIRST} LIMIT ?", _OFFERED)
        names = {name for session in recent for name in (session.id, session.title) if name.isprintable()}
        return UnknownName("session", reference, names - {""})


def _insert(
    db: Connection, session_id: str, bodies: Sequence[str], events: Sequence[Happening], now: float
) -> None:
    counted = db.execute(
        "UPDATE sessions SET updated = ?, status = 'open', messages = messages + ?"
        " WHERE id = ? RETURNING CAST(messages AS INTEGER)",
        (now, len(bodies), session_id),
    ).fetchall()
    if not counted:
        raise _gone(session_id)
    before = counted[0][0] - len(bodies)
    rows = [(session_id, seq, now, body) for seq, body in enumerate(bodies, before + 1)]
    db.executemany("INSERT INTO messages (session, seq, created, body) VALUES (?, ?, ?, ?)", rows)
    _insert_events(db, session_id, before, events)


def _remove_after(db: Connection, session_id: str, keep: int) -> None:
    """Remove the messages after so many, and what happened after them; the session, where none is kept."""
    search.forget(db, session_id, keep)
    db.execute("DELETE FROM messages WHERE session = ? AND seq > ?", (session_id, keep))
    db.execute("DELETE FROM events WHERE session = ? AND seq > ?", (session_id, keep if keep else -1))
    if keep:
        db.execute("UPDATE sessions SET messages = ?, status = 'done' WHERE id = ?", (keep, session_id))
    else:
        db.execute("DELETE FROM sessions WHERE id = ?", (session_id,))
    search.lower_mark(db)


def _insert_events(db: Connection, session_id: str, after: int, events: Sequence[Happening]) -> None:
    if events:
        row = (session_id, after, _encode(events))
        db.execute("INSERT INTO events (session, seq, body) VALUES (?, ?, ?)", row)


def _gone(session_id: str) -> StoreUnavailable:
    return StoreUnavailable(
        f"session `{session_id}` is not in the store", hint="it was removed while in use; start a new one"
    )


def _encode(value: Message | Sequence[Happening]) -> str:
    try:
        return _encoder.encode(value).decode()
    except UnicodeEncodeError:
        return _encoder.encode(_legible_tree(msgspec.to_builtins(value))).decode()


def _legible_tree(value: Any) -> Any:
    match value:
        case str():
            return legible(value)
        case dict():
            return {_legible_tree(key): _legible_tree(item) for key, item in value.items()}
        case list() | tuple():
            return [_legible_tree(item) for item in value]
        case _:
            return value


def _decode(session_id: str, seq: int, body: bytes) -> Message:
    try:
        return _decoder.decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise StoreError(f"message {seq} of session `{session_id}` cannot be read: {error}") from error


def _decode_events(session_id: str, seq: int, body: bytes) -> list[Happening]:
    try:
        return [msgspec.structs.replace(event, after=seq) for event in _happenings.decode(body)]
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise StoreError(f"an event after message {seq} of session `{session_id}` cannot be read") from error
