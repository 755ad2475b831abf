"""Responses that are kept for a while, each with the conversation that it ended."""

import asyncio
import time
from collections.abc import Callable
from sqlite3 import Connection

import msgspec

from hermes.errors import RequestFault
from hermes.messages import Message
from hermes.store.database import Database, fetch
from hermes.store.schema import Schema

RESPONSES = Schema(
    noun="the kept responses",
    steps=(
        (
            """
            CREATE TABLE responses (
                id TEXT PRIMARY KEY, expires REAL NOT NULL, response BLOB NOT NULL, history BLOB NOT NULL
            ) WITHOUT ROWID
            """,
        ),
    ),
)
_ONE = "SELECT response, history FROM responses WHERE id = ? AND expires > ?"


class Kept(msgspec.Struct, frozen=True):
    response: bytes
    history: tuple[Message, ...]


class KeptResponses:
    """The responses of one file, opened with the first that is kept or asked for."""

    def __init__(
        self,
        path: str,
        seconds: float,
        redact: Callable[[str], str],
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._path = path
        self._seconds = seconds
        self._redact = redact
        self._clock = clock
        self._opened: Database | None = None

    async def keep(self, id: str, response: object, history: tuple[Message, ...]) -> None:
        """Write a response down, without a secret in it; those whose time is over are removed."""
        now = self._clock()
        row = (id, now + self._seconds, self._clean(response), self._clean(history))

        def insert(db: Connection) -> None:
            db.execute("DELETE FROM responses WHERE expires <= ?", (now,))
            db.execute("INSERT OR REPLACE INTO responses VALUES (?, ?, ?, ?)", row)

        await asyncio.to_thread(lambda: self._database().write(insert))

    async def find(self, id: str) -> Kept:
        """A response that is kept; raises `RequestFault` when there is none of this id."""
        now = self._clock()
        rows = await asyncio.to_thread(
            lambda: self._database().read(lambda db: fetch(db, tuple[bytes, bytes], _ONE, id, now))
        )
        if not rows:
            raise _unknown(id)
        response, history = rows[0]
        return Kept(response, msgspec.json.decode(history, type=tuple[Message, ...]))

    async def remove(self, id: str) -> None:
        """Forget a response; raises `RequestFault` when there is none of this id."""

        def delete(db: Connection) -> int:
            return db.execute("DELETE FROM responses WHERE id = ?", (id,)).rowcount

        if not await asyncio.to_thread(lambda: self._database().write(delete)):
            raise _unknown(id)

    def close(self) -> None:
        if self._opened is not None:
            self._opened.close()

    def _database(self) -> Database:
        if self._opened is None:
            self._opened = Database(self._path, RESPONSES, self._clock)
        return self._opened

    def _clean(self, value: object) -> bytes:
        return self._redact(msgspec.json.encode(value).decode()).encode()


def _unknown(id: str) -> RequestFault:
    words = f"there is no response `{id[:80]}`"
    return RequestFault(words, status=404, code="response_not_found", hint="it may have expired")
