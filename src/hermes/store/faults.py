"""SQLite's failures in our words: the class says what to do next."""

import sqlite3

from hermes.errors import StoreCorrupt, StoreError, StoreUnavailable

_OWN_FOLDER = "make the file and its folder writable, or set `HERMES_HOME` to a folder you own"
_UNAVAILABLE = {
    sqlite3.SQLITE_BUSY: ("is locked by another program", "close the program that holds it and try again"),
    sqlite3.SQLITE_LOCKED: ("is locked by another program", "close the program that holds it and try again"),
    sqlite3.SQLITE_READONLY: ("cannot be written", _OWN_FOLDER),
    sqlite3.SQLITE_PERM: ("cannot be written", _OWN_FOLDER),
    sqlite3.SQLITE_CANTOPEN: ("cannot be opened", _OWN_FOLDER),
    sqlite3.SQLITE_FULL: ("cannot grow: the disk is full", "free some space on the disk"),
    sqlite3.SQLITE_IOERR: ("cannot be read or written", "check the disk, its free space and your quota"),
    sqlite3.SQLITE_NOMEM: ("needs more memory than there is", "close other programs and try again"),
}
# A bare constraint, without the detail that our own tables would give, is a clash within the index.
_IN_SEARCH_INDEX = (sqlite3.SQLITE_CORRUPT_VTAB, sqlite3.SQLITE_CONSTRAINT)
_CORRUPT = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)


def is_busy(error: sqlite3.Error) -> bool:
    """Whether another connection is in the way, so that waiting helps."""
    return _primary_code(error) in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)


def is_in_search_index(error: sqlite3.Error) -> bool:
    """Whether only the full-text index is damaged, which can be built anew from the messages."""
    return getattr(error, "sqlite_errorcode", 0) in _IN_SEARCH_INDEX


def translate(error: sqlite3.Error, file: str) -> StoreError:
    """The error of our tree that says the same."""
    code = _primary_code(error)
    if code in _CORRUPT:
        return StoreCorrupt(f"`{file}` is damaged")
    if code in _UNAVAILABLE:
        message, hint = _UNAVAILABLE[code]
        return StoreUnavailable(f"`{file}` {message}", hint=hint)
    return StoreError(f"`{file}` cannot be used: {error}")


def unavailable(error: OSError, file: str) -> StoreUnavailable:
    """The same for what the operating system refused."""
    return StoreUnavailable(f"`{file}` cannot be opened: {error.strerror}", hint=_OWN_FOLDER)


def _primary_code(error: sqlite3.Error) -> int:
    """SQLite's error without its detail; 0 for those the Python module raises by itself."""
    return int(getattr(error, "sqlite_errorcode", 0)) & 0xFF
