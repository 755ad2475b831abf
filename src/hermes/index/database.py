"""The SQLite file of the index: opened whatever state it is in, its errors told in our own words."""

import os
import sqlite3
import time
from collections.abc import Callable
from typing import TypeVar

from hermes.errors import StoreCorrupt, StoreError, StoreUnavailable
from hermes.index.addresses import quoted

SCHEMA = 1
BUSY_SECONDS = 5.0
_PAUSE = 0.02

_TABLES = """
CREATE TABLE documents(
    id INTEGER PRIMARY KEY,
    url TEXT NOT NULL UNIQUE,
    title TEXT NOT NULL,
    text TEXT NOT NULL,
    size INTEGER NOT NULL,
    mtime INTEGER NOT NULL,
    digest BLOB NOT NULL
);
CREATE VIRTUAL TABLE passages USING fts5(
    title, heading, body, grams, tokenize='porter unicode61 remove_diacritics 2'
);
"""
# Our statements are fixed: one that SQLite cannot run shows that the tables are not as we made them.
_DAMAGED = frozenset((sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_ERROR))
_NOT_DAMAGE = ("within a transaction", "no such module: fts5")
_OUT_OF_REACH = {
    sqlite3.SQLITE_READONLY: "is read-only",
    sqlite3.SQLITE_FULL: "cannot grow: the disk is full",
    sqlite3.SQLITE_IOERR: "cannot be read or written",
    sqlite3.SQLITE_CANTOPEN: "cannot be opened",
    sqlite3.SQLITE_PERM: "may not be opened",
    sqlite3.SQLITE_BUSY: "is locked by another process",
    sqlite3.SQLITE_LOCKED: "is locked by another process",
}

# A damaged schema ends up in SQLite's message, which Python then cannot decode.
_Fault = sqlite3.Error | UnicodeDecodeError
_FAULTS = (sqlite3.Error, UnicodeDecodeError)

T = TypeVar("T")


class Database:
    """One connection. `saves` is false when what is written would be lost or refused."""

    def __init__(self, path: str | None, now: Callable[[], float]) -> None:
        self.path = path
        self.notices: list[str] = []
        self.saves = True
        self._now = now
        self._inode = 0
        try:
            self._connection = _memory() if path is None else self._open(path)
        except _FAULTS as error:
            raise self._told(error) from error

    def run(self, work: Callable[[sqlite3.Connection], T]) -> T:
        """Do some work with the connection; raises only `StoreError` and its kinds."""
        try:
            return work(self._connection)
        except _FAULTS as error:
            raise self._told(error) from error

    def write(self, work: Callable[[sqlite3.Connection], T]) -> T:
        """Do some work in one transaction: all of it is kept, or nothing."""

        def transaction(connection: sqlite3.Connection) -> T:
            connection.execute("BEGIN IMMEDIATE")
            try:
                result = work(connection)
                connection.execute("COMMIT")
            finally:
                if connection.in_transaction:
                    connection.execute("ROLLBACK")
            return result

        return self.run(transaction)

    def rebuild(self) -> None:
        """Set a damaged file aside and start anew. If another process has done so already, use its file."""
        self._connection.close()
        if self.path is None or not self.saves:
            self._connection = self._without_file("is damaged")
        else:
            self._connection = self._anew(self.path)

    def close(self) -> None:
        self._connection.close()

    def _open(self, path: str) -> sqlite3.Connection:
        try:
            os.makedirs(os.path.dirname(os.path.abspath(path)), mode=0o700, exist_ok=True)
            if os.path.exists(path) and not _may_write(path):
                return self._read_only(path)
            return self._writable(path)
        except OSError as error:
            return self._without_file(f"cannot be opened: {error.strerror}")
        except _FAULTS as error:
            told = self._told(error)
            if isinstance(told, StoreCorrupt):
                return self._anew(path)
            if isinstance(told, StoreUnavailable):
                return self._without_file(_OUT_OF_REACH[_code(error)])
            raise told from error

    def _writable(self, path: str) -> sqlite3.Connection:
        _create_private(path)
        self._inode = os.stat(path).st_ino
        return _writable(path)

    def _anew(self, path: str) -> sqlite3.Connection:
        try:
            self._set_aside(path)
            return self._writable(path)
        except (OSError, *_FAULTS):
            return self._without_file("is damaged and could not be set aside")

    def _read_only(self, path: str) -> sqlite3.Connection:
        """A write-ahead file cannot be joined in a read-only folder; without writers none is needed."""
        for mode in ("mode=ro", "immutable=1"):
            connection = _connect(f"file:{quoted(path)}?{mode}", uri=True)
            try:
                if _version(connection, path) == SCHEMA:
                    connection.execute("SELECT 1 FROM documents LIMIT 1")
                    self.notices.append(f"the index `{path}` is read-only; nothing can be added")
                    self.saves = False
                    return connection
            except _FAULTS:
                pass
            except StoreError:
                connection.close()
                raise
            connection.close()
        return self._without_file("is read-only and cannot be used")

    def _without_file(self, reason: str) -> sqlite3.Connection:
        self.notices.append(f"the index `{self.path}` {reason}; only the manual is searched")
        self.saves = False
        return _memory()

    def _set_aside(self, path: str) -> None:
        if os.stat(path).st_ino != self._inode:
            return
        stamp = time.strftime("%Y%m%d-%H%M%S", time.gmtime(self._now()))
        aside = _unused(f"{path}.corrupt-{stamp}")
        for suffix in ("-wal", "-shm", ""):
            if os.path.exists(path + suffix):
                os.replace(path + suffix, aside + suffix)
        self.notices.append(f"the index was damaged and is set aside as `{aside}`; add your documents anew")

    def _told(self, error: _Fault) -> StoreError:
        code, words = _code(error), str(error)
        name = f"the index `{self.path}`" if self.path else "the index"
        if code in _OUT_OF_REACH:
            return StoreUnavailable(f"{name} {_OUT_OF_REACH[code]}")
        if code in _DAMAGED and not words.endswith(_NOT_DAMAGE):
            return StoreCorrupt(f"{name} is damaged")
        return StoreError(f"{name} cannot be used: {words}")


def _code(error: _Fault) -> int:
    """SQLite's primary code; text that cannot be decoded comes without one and counts as damage."""
    without = 0 if isinstance(error, sqlite3.ProgrammingError) else sqlite3.SQLITE_CORRUPT
    return getattr(error, "sqlite_errorcode", without) & 0xFF


def _connect(target: str, *, uri: bool = False) -> sqlite3.Connection:
    return sqlite3.connect(
        target, timeout=BUSY_SECONDS, isolation_level=None, check_same_thread=False, uri=uri
    )


def _memory() -> sqlite3.Connection:
    connection = _connect(":memory:")
    _create(connection)
    return connection


def _writable(path: str) -> sqlite3.Connection:
    connection = _connect(path)
    try:
        _patiently(lambda: _prepare(connection, path))
    except (*_FAULTS, StoreError):
        connection.close()
        raise
    return connection


def _prepare(connection: sqlite3.Connection, path: str) -> None:
    if _version(connection, path) == 0:
        connection.execute("PRAGMA journal_mode=WAL")
        _create(connection)
    connection.execute("PRAGMA synchronous=NORMAL")


def _patiently(work: Callable[[], None]) -> None:
    """Try again while another process prepares the file: SQLite does not wait for a change of its journal."""
    deadline = time.monotonic() + BUSY_SECONDS
    while True:
        try:
            return work()
        except sqlite3.OperationalError as error:
            if _code(error) != sqlite3.SQLITE_BUSY or time.monotonic() > deadline:
                raise
            time.sleep(_PAUSE)


def _version(connection: sqlite3.Connection, path: str) -> int:
    version = int(connection.execute("PRAGMA user_version").fetchone()[0])
    if version > SCHEMA:
        raise StoreError(
            f"the index `{path}` was written by a newer Hermes (schema {version}, known is {SCHEMA})",
            hint="update Hermes, or move the file away to start a new index",
        )
    return version


def _create(connection: sqlite3.Connection) -> None:
    """Make the tables, unless another process has just done it."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        if connection.execute("PRAGMA user_version").fetchone()[0] == 0:
            for statement in _TABLES.split(";\n")[:-1]:
                connection.execute(statement)
            connection.execute(f"PRAGMA user_version={SCHEMA}")
        connection.execute("COMMIT")
    finally:
        if connection.in_transaction:
            connection.execute("ROLLBACK")


def _may_write(path: str) -> bool:
    return os.access(path, os.W_OK) and os.access(os.path.dirname(os.path.abspath(path)), os.W_OK)


def _create_private(path: str) -> None:
    """The index holds a person's documents: nobody else reads it."""
    os.close(os.open(path, os.O_RDWR | os.O_CREAT, 0o600))


def _unused(path: str) -> str:
    number, name = 1, path
    while os.path.exists(name):
        number += 1
        name = f"{path}-{number}"
    return name
