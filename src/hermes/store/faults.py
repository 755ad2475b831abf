"""SQLite's failures in our words: the class says what to do next."""

import sqlite3

import msgspec

from hermes.errors import StoreCorrupt, StoreError, StoreLocked, StoreUnavailable

RAISED = (sqlite3.Error, UnicodeDecodeError, msgspec.ValidationError)
"""What SQLite raises, also with a damaged text in its message, and what a row of the wrong kind does."""

OWN_FOLDER = "make the file and its folder writable, or set `HERMES_HOME` to a folder you own"
_LOCKED = (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)
_UNAVAILABLE = {
    sqlite3.SQLITE_READONLY: ("cannot be written", OWN_FOLDER),
    sqlite3.SQLITE_PERM: ("cannot be written", OWN_FOLDER),
    sqlite3.SQLITE_CANTOPEN: ("cannot be opened", OWN_FOLDER),
    sqlite3.SQLITE_FULL: ("cannot grow: the disk is full", "free some space on the disk"),
    sqlite3.SQLITE_IOERR: ("cannot be read or written", "check the disk, its free space and your quota"),
}
# Our statements are fixed and break no rule: one that SQLite cannot run meets tables that we did not make,
# unless it is an SQLite that lacks something, or a call at the wrong time.
_DAMAGED = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_CONSTRAINT, sqlite3.SQLITE_ERROR)
_NOT_DAMAGE = ("fts5: ", "syntax error", "no such module", "no such function", "transaction")
# A bare constraint, without the detail that our own tables would give, is a clash within the index.
_IN_SEARCH_INDEX = (sqlite3.SQLITE_CORRUPT_VTAB, sqlite3.SQLITE_CONSTRAINT)


def is_busy(error: Exception) -> bool:
    """Whether another connection is in the way, so that waiting helps."""
    return code(error) in _LOCKED


def is_in_search_index(error: sqlite3.Error) -> bool:
    """Whether only a full-text index is damaged."""
    return getattr(error, "sqlite_errorcode", 0) in _IN_SEARCH_INDEX


def translate(error: Exception, name: str) -> StoreError:
    """The error of our tree that says the same of the file called `name`."""
    found = code(error)
    if found in _LOCKED:
        hint = "close the program that holds it and try again"
        return StoreLocked(f"{name} is locked by another program", hint=hint)
    if found in _UNAVAILABLE:
        message, hint = _UNAVAILABLE[found]
        return StoreUnavailable(f"{name} {message}", hint=hint)
    excused = found == sqlite3.SQLITE_ERROR and any(words in str(error) for words in _NOT_DAMAGE)
    if found in _DAMAGED and not excused:
        return StoreCorrupt(f"{name} is damaged")
    return StoreError(f"{name} cannot be used: {error}")


def code(error: Exception) -> int:
    """SQLite's error without its detail. What cannot be decoded comes without one, and is damage."""
    without = 0 if isinstance(error, sqlite3.ProgrammingError) else sqlite3.SQLITE_CORRUPT
    return int(getattr(error, "sqlite_errorcode", without)) & 0xFF
