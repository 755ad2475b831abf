"""What a run learned and the next one may use: small values under a topic and a key, each for a while."""

import os
import time
from collections.abc import Callable, Mapping
from sqlite3 import Connection
from typing import Any, TypeVar

import msgspec

from hermes.errors import StoreError
from hermes.store.database import Database, fetch
from hermes.store.schema import Schema
from hermes.store.text import legible

NOTES = Schema(
    noun="the notebook",
    steps=(
        (
            """
            CREATE TABLE notes (
                topic TEXT NOT NULL, key TEXT NOT NULL, value BLOB NOT NULL, expires REAL,
                PRIMARY KEY (topic, key)
            ) WITHOUT ROWID
            """,
        ),
    ),
)
_ONE = "SELECT key, value FROM notes WHERE topic = ? AND key = ? AND coalesce(expires > ?, 1)"
_ALL = "SELECT key, value FROM notes WHERE topic = ? AND coalesce(expires > ?, 1) ORDER BY key"

_PATIENCE_SECONDS = 0.2
"""No note is worth a longer wait for a file that another process has locked."""

T = TypeVar("T")


class Notebook:
    """The notes of one file, opened when first needed; a look at a file that is not there makes none.

    Nobody's work depends on a note: with no path, or a file that cannot be used, notes are kept in
    memory, and no call raises for it. Values are what JSON can hold.
    """

    def __init__(self, path: str | None, clock: Callable[[], float] = time.time) -> None:
        self._path = path
        self._clock = clock
        self._database: Database | None = None

    def read(self, topic: str, key: str) -> Any:
        """The value that was noted, or None when there is none or its time is over."""
        found = self._select(_ONE, legible(topic), legible(key))
        return next(iter(found.values()), None)

    def entries(self, topic: str) -> Mapping[str, Any]:
        """All that is noted under a topic, by key."""
        return self._select(_ALL, legible(topic))

    def write(self, topic: str, key: str, value: Any, seconds: float | None = None) -> None:
        """Note a value, for so many seconds or for good; what stood there is replaced."""
        now = self._clock()
        row = (
            legible(topic),
            legible(key),
            msgspec.json.encode(value),
            None if seconds is None else now + seconds,
        )

        def insert(db: Connection) -> None:
            db.execute("DELETE FROM notes WHERE expires <= ?", (now,))
            db.execute("INSERT OR REPLACE INTO notes VALUES (?, ?, ?, ?)", row)

        self._try(lambda database: database.write(insert))

    def forget(self, topic: str, key: str) -> None:
        """Remove a note; there need not be one."""
        if self._is_blank():
            return
        row = (legible(topic), legible(key))

        def remove(db: Connection) -> None:
            db.execute("DELETE FROM notes WHERE topic = ? AND key = ?", row)

        self._try(lambda database: database.write(remove))

    def close(self) -> None:
        if self._database is not None:
            self._database.close()
            self._database = None

    def _select(self, query: str, *values: str) -> dict[str, Any]:
        if self._is_blank():
            return {}
        now = self._clock()

        def select(db: Connection) -> list[tuple[str, bytes]]:
            return fetch(db, tuple[str, bytes], query, *values, now)

        rows = self._try(lambda database: database.read(select))
        return {key: msgspec.json.decode(value) for key, value in rows if _is_json(value)}

    def _is_blank(self) -> bool:
        return self._database is None and (self._path is None or not os.path.exists(self._path))

    def _try(self, act: Callable[[Database], T]) -> T:
        """Act on the file, or in memory from the first failure on."""
        try:
            if self._database is None:
                self._database = Database(self._path, NOTES, self._clock, patience=_PATIENCE_SECONDS)
            return act(self._database)
        except StoreError:
            self.close()
            self._path = None
            self._database = Database(None, NOTES, self._clock)
            return act(self._database)


def _is_json(value: bytes) -> bool:
    try:
        msgspec.json.decode(value)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return False
    return True
