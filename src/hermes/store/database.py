"""One SQLite file that many processes share: opened privately, waited for, replaced when damaged."""

import os
import sqlite3
import threading
import time
from collections.abc import Callable
from typing import Any, TypeVar

import msgspec

from hermes.errors import StoreCorrupt, StoreError, StoreUnavailable
from hermes.store import faults
from hermes.store.schema import Schema, accepted_version, migrate, run

BUSY_SECONDS = 5.0
_PAUSE_SECONDS = 0.002
_LONGEST_PAUSE_SECONDS = 0.02
_REPLACING_SECONDS = 0.05
_COMPANIONS = ("-wal", "-shm", "")
_creating = threading.Lock()

T = TypeVar("T")
Work = Callable[[sqlite3.Connection], T]
Identity = tuple[int, int] | None


class Database:
    """Transactions on one file, or in memory when there is no path.

    Raises errors of `hermes.errors` only. A damaged file is set aside and a new one begun: when it is
    opened, and also when the damage shows later, in a call that then raises `StoreCorrupt`. `notices`
    says what a person should know of it. A file that cannot be written raises `StoreUnavailable`, or
    is only read when that is enough; `saves` is then false. A file that another process has locked is
    waited for, for `patience` seconds.
    """

    def __init__(
        self,
        path: str | None,
        schema: Schema,
        clock: Callable[[], float],
        *,
        reading_is_enough: bool = False,
        patience: float | None = None,
    ) -> None:
        self.notices: list[str] = []
        self.saves = True
        self.name = f"{schema.noun} `{path}`" if path else f"{schema.noun} in memory"
        self._path = path
        self._schema = schema
        self._clock = clock
        self._reading_is_enough = reading_is_enough
        self._patience = BUSY_SECONDS if patience is None else patience
        self._opened = 0
        self._lock = threading.RLock()
        self._open()

    def read(self, work: Work[T]) -> T:
        """Run queries; a locked file is waited for."""
        return self._guarded(lambda: work(self._connection))

    def write(self, work: Work[T], patience: float | None = None) -> T:
        """Run `work` in a transaction: all of it is on disk, or nothing. It may be run again.

        A locked file is waited for; raises `StoreLocked` when that, or `patience`, is over.
        """
        return self._guarded(lambda: _transaction(self._connection, work), patience)

    def follow(self) -> int:
        """Go where the file is now: another process may have set it aside or removed it.

        Gives a number that changes whenever another file is opened.
        """
        with self._lock:
            if self._was_replaced():
                _close(self._connection)
                self._open()
            return self._opened

    def close(self) -> None:
        with self._lock:
            self._path = None
            self._disconnect()

    def __del__(self) -> None:
        """A database that nobody closed is closed when nobody can use it any more."""
        connection = getattr(self, "_connection", None)
        if connection is not None:
            _close(connection)

    def _guarded(self, act: Callable[[], T], patience: float | None = None) -> T:
        patience = self._patience if patience is None else patience
        with self._lock:
            self.follow()
            try:
                return _patiently(lambda: self._with_sound_index(act), patience)
            except faults.RAISED as error:
                if (patience or not faults.is_busy(error)) and self._is_being_replaced():
                    return self._guarded(act, patience)
                fault = faults.translate(error, self.name)
                if isinstance(fault, StoreCorrupt) and self._path and self.saves:
                    self._replace(self._path)
                    fault.hint = self.notices[-1]
                raise fault from error

    def _with_sound_index(self, act: Callable[[], T]) -> T:
        try:
            return act()
        except sqlite3.DatabaseError as error:
            if not self._schema.repair or not faults.is_in_search_index(error):
                raise
        _transaction(self._connection, lambda db: run(db, self._schema.repair))
        return act()

    def _open(self) -> None:
        try:
            self._connect()
        except StoreCorrupt:
            if not self._path or not self.saves:
                self._disconnect()
                raise
            self._replace(self._path)

    def _connect(self) -> None:
        """Connect to the file; a damaged one stays open, for `_replace`."""
        self.saves = self._path is None or _may_write(self._path)
        if not self.saves and not self._reading_is_enough:
            raise StoreUnavailable(f"{self.name} is read-only", hint=faults.OWN_FOLDER)
        if self._path and self.saves:
            _create_private(self._path, self.name)
        # Noted first: should another file take its place meanwhile, `follow` sees that.
        identity = _identity(self._path)
        self._connection = _connection(_address(self._path, self.saves), self.name)
        self._identity = identity
        self._opened += 1
        try:
            _patiently(self._prepare, self._patience)
        except faults.RAISED as error:
            if self._is_being_replaced():
                self._disconnect()
                self._connect()
                return
            fault = faults.translate(error, self.name)
            if not isinstance(fault, StoreCorrupt):
                self._disconnect()
            raise fault from error
        except StoreError:
            self._disconnect()
            raise

    def _prepare(self) -> None:
        db, newest = self._connection, len(self._schema.steps)
        version = accepted_version(db, self._schema, self.name)
        if not self.saves:
            if version < newest:
                raise StoreUnavailable(f"{self.name} is read-only and too old", hint=faults.OWN_FOLDER)
            self.notices.append(f"{self.name} is read-only: nothing can be added")
            return
        if version == 0:
            # An empty file has nothing to lose, and waiting for the disk would take most of the start.
            db.execute("PRAGMA synchronous = OFF")
        db.execute("PRAGMA journal_mode = WAL")
        if version < newest:
            _transaction(db, lambda db: migrate(db, self._schema, self.name))
        db.execute("PRAGMA synchronous = NORMAL")

    def _was_replaced(self) -> bool:
        """Whether another process took the open file away; what SQLite then says of it means nothing."""
        return _identity(self._path) != self._identity

    def _is_being_replaced(self) -> bool:
        """The same after a failure: the log is taken away some moments before the file itself."""
        until = time.monotonic() + _REPLACING_SECONDS
        while not self._was_replaced() and time.monotonic() < until:
            time.sleep(_PAUSE_SECONDS)
        return self._was_replaced()

    def _disconnect(self) -> None:
        self._identity = None
        _close(self._connection)

    def _replace(self, path: str) -> None:
        """Set the damaged file aside and start a new one.

        Moved first and closed then: SQLite does not touch the log of a file that has moved.
        """
        try:
            aside = set_aside(path, self._identity, self._clock())
        except (OSError, sqlite3.Error, StoreError) as error:
            reason = f"{self.name} is damaged and cannot be set aside: {error}"
            raise StoreCorrupt(reason, hint=faults.OWN_FOLDER) from error
        finally:
            self._disconnect()
        kept = f"it is kept as `{aside}`" if aside else "another process set it aside"
        self.notices.append(f"{self._schema.noun} was damaged: {kept}, and a new one was started")
        self._connect()


def fetch(db: sqlite3.Connection, row: type[T], query: str, *values: Any) -> list[T]:
    """The rows that a query finds; those of a damaged file, of any other kind than `row`, are refused."""
    return msgspec.convert(db.execute(query, values).fetchall(), list[row])  # type: ignore[valid-type]


def fetch_one(db: sqlite3.Connection, row: type[T], query: str, *values: Any) -> T:
    """The row of a query that has one in every sound file."""
    rows = db.execute(query, values).fetchall()
    return msgspec.convert(rows[0] if rows else None, row)


def set_aside(path: str, damaged: Identity, now: float) -> str | None:
    """Move a damaged file and its companions away; gives the new name.

    None when the file at `path` is no longer the damaged one: another process was quicker. The lock
    is a database of its own, because SQLite's locks end with their process on every platform.
    """
    lock = _connection(_address(f"{path}.lock", saves=True), "its lock", BUSY_SECONDS)
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
        return aside
    finally:
        _close(lock)


def _connection(address: str, name: str, timeout: float = 0.0) -> sqlite3.Connection:
    try:
        return sqlite3.connect(
            address, timeout=timeout, isolation_level=None, check_same_thread=False, uri=True
        )
    except sqlite3.Error as error:
        raise faults.translate(error, name) from error


def _address(path: str | None, saves: bool) -> str:
    """What SQLite calls the file. Without a log nobody writes to it, and none has to be made to read it."""
    if path is None:
        return ":memory:"
    escaped = os.path.abspath(path).replace("%", "%25").replace("?", "%3f").replace("#", "%23")
    mode = "mode=rwc" if saves else "mode=ro" if os.path.exists(f"{path}-wal") else "immutable=1"
    return f"file://{escaped}?{mode}"


def _transaction(connection: sqlite3.Connection, work: Work[T]) -> T:
    connection.execute("BEGIN IMMEDIATE")
    try:
        result = work(connection)
        connection.execute("COMMIT")
        return result
    finally:
        if connection.in_transaction:
            connection.execute("ROLLBACK")


def _patiently(act: Callable[[], T], patience: float) -> T:
    """Repeat while the file is locked. SQLite itself gives up at once where waiting might be a deadlock."""
    deadline = time.monotonic() + patience
    pause = _PAUSE_SECONDS
    while True:
        try:
            return act()
        except sqlite3.OperationalError as error:
            if not faults.is_busy(error) or time.monotonic() >= deadline:
                raise
        time.sleep(pause)
        pause = min(2 * pause, _LONGEST_PAUSE_SECONDS)


def _may_write(path: str) -> bool:
    """Whether a file is not there, or it and its folder can be written."""
    judged = _identity(path)
    folder = os.path.dirname(os.path.abspath(path))
    if judged is None or (os.access(path, os.W_OK) and os.access(folder, os.W_OK)):
        return True
    # A file that was taken away meanwhile cannot be written either: judge what is there now.
    return _identity(path) != judged and _may_write(path)


def _create_private(path: str, name: str) -> None:
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
        reason = f"{name} cannot be opened: {error.strerror}"
        raise StoreUnavailable(reason, hint=faults.OWN_FOLDER) from error


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
