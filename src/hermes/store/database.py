"""One SQLite file that many processes share: opened privately, waited for, replaced when damaged."""

import os
import sqlite3
import threading
import time
from collections.abc import Callable
from typing import TypeVar

from hermes.errors import StoreCorrupt, StoreError
from hermes.store import faults, schema

BUSY_SECONDS = 5.0
_PAUSE_SECONDS = 0.002
_COMPANIONS = ("-wal", "-shm", "")
_creating = threading.Lock()

T = TypeVar("T")
Work = Callable[[sqlite3.Connection], T]
Identity = tuple[int, int] | None


class Database:
    """Transactions on one file, or in memory when there is no path.

    Raises errors of `hermes.errors` only. `notices` says what a person should know of it.
    """

    def __init__(self, path: str | None, clock: Callable[[], float]) -> None:
        self.notices: list[str] = []
        self.name = path or "memory"
        self._path = path
        self._clock = clock
        self._lock = threading.Lock()
        self._open()

    def read(self, work: Work[T]) -> T:
        """Run queries; a locked file is waited for."""
        return self._guarded(lambda: work(self._connection))

    def write(self, work: Work[T]) -> T:
        """Run `work` in a transaction: all of it is on disk, or nothing. It may be run again."""
        return self._guarded(lambda: _transaction(self._connection, work))

    def close(self) -> None:
        with self._lock:
            self._path = None
            self._disconnect()

    def _guarded(self, act: Callable[[], T]) -> T:
        with self._lock:
            self._follow()
            try:
                return _patiently(lambda: self._with_sound_index(act))
            except sqlite3.Error as error:
                fault = faults.translate(error, self.name)
                if isinstance(fault, StoreCorrupt) and self._path:
                    self._replace()
                    fault.hint = self.notices[-1]
                raise fault from error

    def _with_sound_index(self, act: Callable[[], T]) -> T:
        try:
            return act()
        except sqlite3.DatabaseError as error:
            if not faults.is_in_search_index(error):
                raise
        _transaction(self._connection, schema.forget_words)
        return act()

    def _follow(self) -> None:
        """Go where the file is now: it may have been set aside or removed by another process."""
        if _identity(self._path) != self._identity:
            _close(self._connection)
            self._open()

    def _open(self) -> None:
        try:
            self._connect()
        except StoreCorrupt:
            self._replace()

    def _connect(self) -> None:
        """Connect to the file; a damaged one stays open, for `_replace`."""
        if self._path:
            _create_private(self._path)
        self._identity = _identity(self._path)
        self._connection = _connection(self._path or ":memory:")
        try:
            _patiently(lambda: _prepare(self._connection, self.name))
        except sqlite3.Error as error:
            fault = faults.translate(error, self.name)
            if not isinstance(fault, StoreCorrupt):
                self._disconnect()
            raise fault from error
        except StoreError:
            self._disconnect()
            raise

    def _disconnect(self) -> None:
        self._identity = None
        _close(self._connection)

    def _replace(self) -> None:
        """Set the damaged file aside and start a new one.

        Moved first and closed then: SQLite does not touch the log of a file that has moved.
        """
        aside = set_aside(self.name, self._identity, self._clock())
        _close(self._connection)
        kept = f"it is kept as `{aside}`" if aside else "another process set it aside"
        self.notices.append(f"the session history was damaged: {kept}, and a new one was started")
        self._connect()


def set_aside(path: str, damaged: Identity, now: float) -> str | None:
    """Move a damaged file and its companions away; gives the new name.

    None when the file at `path` is no longer the damaged one: another process was quicker. The lock
    is a database of its own, because SQLite's locks end with their process on every platform.
    """
    lock = _connection(f"{path}.lock")
    try:
        lock.execute("BEGIN EXCLUSIVE")
        if _identity(path) != damaged:
            return None
        aside = f"{path}.corrupt-{time.strftime('%Y%m%dT%H%M%SZ', time.gmtime(now))}"
        while os.path.exists(aside):
            aside += "-1"
        for companion in _COMPANIONS:
            if os.path.exists(path + companion):
                os.rename(path + companion, aside + companion)
    except OSError as error:
        raise faults.unavailable(error, path) from error
    except sqlite3.Error as error:
        raise faults.translate(error, path) from error
    finally:
        _close(lock)
    return aside


def _connection(file: str) -> sqlite3.Connection:
    try:
        return sqlite3.connect(file, timeout=BUSY_SECONDS, isolation_level=None, check_same_thread=False)
    except sqlite3.Error as error:
        raise faults.translate(error, file) from error


def _prepare(connection: sqlite3.Connection, file: str) -> None:
    if schema.accepted_version(connection, file) == 0:
        # An empty file has nothing to lose, and waiting for the disk would take most of the start.
        connection.execute("PRAGMA synchronous = OFF")
    connection.execute("PRAGMA journal_mode = WAL")
    _transaction(connection, schema.migrate)
    connection.execute("PRAGMA synchronous = NORMAL")


def _transaction(connection: sqlite3.Connection, work: Work[T]) -> T:
    connection.execute("BEGIN IMMEDIATE")
    try:
        result = work(connection)
        connection.execute("COMMIT")
        return result
    finally:
        if connection.in_transaction:
            connection.execute("ROLLBACK")


def _patiently(act: Callable[[], T]) -> T:
    """Repeat while the file is locked: SQLite gives up at once where waiting might be a deadlock."""
    deadline = time.monotonic() + BUSY_SECONDS
    while True:
        try:
            return act()
        except sqlite3.OperationalError as error:
            if not faults.is_busy(error) or time.monotonic() >= deadline:
                raise
        time.sleep(_PAUSE_SECONDS)


def _create_private(path: str) -> None:
    """Make the folder and the file for their owner alone, unless they are there.

    Only ever opens a file it creates, one at a time: closing any handle of a file gives up all the
    locks that SQLite holds on it in this process.
    """
    try:
        os.makedirs(os.path.dirname(os.path.abspath(path)), mode=0o700, exist_ok=True)
        with _creating:
            os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
    except FileExistsError:
        return
    except OSError as error:
        raise faults.unavailable(error, path) from error


def _identity(path: str | None) -> Identity:
    if path is None:
        return None
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found.st_dev, found.st_ino


def _close(connection: sqlite3.Connection) -> None:
    try:
        connection.close()
    except sqlite3.Error:
        return
