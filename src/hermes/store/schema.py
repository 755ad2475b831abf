"""The tables of a file as a value, and the way from any older file to them."""

import sqlite3

import msgspec

from hermes.errors import StoreError
from hermes.store import faults


class Schema(msgspec.Struct, frozen=True):
    """What a file holds. Its version is the number of its steps, which are only ever added.

    `noun` names it in messages. `repair` empties a full-text index that is built anew from the rest;
    without it, damage there is damage to the file.
    """

    noun: str
    steps: tuple[tuple[str, ...], ...]
    repair: tuple[str, ...] = ()


def accepted_version(connection: sqlite3.Connection, schema: Schema, name: str) -> int:
    """The file's schema, 0 when it is empty.

    Raises, without a change to it, when the file is from a newer Hermes or of another program.
    """
    # One statement, because another process may be making the tables.
    glance = "SELECT user_version, (SELECT count(*) FROM sqlite_master) FROM pragma_user_version"
    version, tables = connection.execute(glance).fetchone()
    known = len(schema.steps)
    if version > known:
        raise StoreError(
            f"{name} was written by a newer hermes (schema {version}, this one knows {known})",
            hint="upgrade hermes, or set `HERMES_HOME` to another folder",
        )
    if version < 1 and tables:
        raise StoreError(
            f"{name} holds the tables of another program",
            hint="move the file away, or set `HERMES_HOME` to another folder",
        )
    return int(version)


def migrate(connection: sqlite3.Connection, schema: Schema, name: str) -> None:
    """Bring the file up to the newest schema; the caller holds a write transaction.

    A step that SQLite does not take may be our mistake, and is no reason to set a file aside.
    """
    try:
        (version,) = connection.execute("PRAGMA user_version").fetchone()
        for step in schema.steps[version:]:
            run(connection, step)
        connection.execute(f"PRAGMA user_version = {len(schema.steps)}")
    except sqlite3.OperationalError as error:
        if faults.code(error) != sqlite3.SQLITE_ERROR:
            raise
        raise StoreError(f"{name} cannot be brought up to date: {error}") from error


def run(connection: sqlite3.Connection, statements: tuple[str, ...]) -> None:
    for statement in statements:
        connection.execute(statement)
