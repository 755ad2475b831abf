"""The tables, and the steps that lead from any older file to them. Steps are only ever added.

A message is one JSON row, numbered within its session. `message_words` is the full-text index of the
rows up to `search_state.indexed`: it is brought up to date by a search, so that saving a message
does not wait for the words of a long page to be indexed.
"""

import sqlite3

from hermes.errors import StoreError

STEPS: tuple[tuple[str, ...], ...] = (
    (
        """
        CREATE TABLE sessions (
            id TEXT PRIMARY KEY,
            title TEXT NOT NULL,
            created REAL NOT NULL,
            updated REAL NOT NULL,
            provider TEXT NOT NULL,
            model TEXT NOT NULL,
            cwd TEXT NOT NULL,
            status TEXT NOT NULL DEFAULT 'open',
            messages INTEGER NOT NULL DEFAULT 0
        )
        """,
        """
        CREATE TABLE messages (
            id INTEGER PRIMARY KEY,
            session TEXT NOT NULL,
            seq INTEGER NOT NULL,
            created REAL NOT NULL,
            body TEXT NOT NULL,
            UNIQUE (session, seq)
        )
        """,
        # One row that is damaged, or nested too deep for SQLite, must not end every search.
        """
        CREATE VIEW message_text AS
        SELECT id, iif(json_valid(body), json_extract(body, '$.content'), '') AS text FROM messages
        """,
        """
        CREATE VIRTUAL TABLE message_words USING fts5(
            text, content = 'message_text', content_rowid = 'id', tokenize = 'unicode61 remove_diacritics 2'
        )
        """,
        "CREATE TABLE search_state (indexed INTEGER NOT NULL)",
        "INSERT INTO search_state VALUES (0)",
    ),
)


def accepted_version(connection: sqlite3.Connection, file: str) -> int:
    """The file's schema, 0 when it is empty.

    Raises, without a change to it, when the file is from a newer Hermes or of another program.
    """
    version, tables = _glance(connection)
    if version > len(STEPS):
        raise StoreError(
            f"`{file}` was written by a newer hermes (schema {version}, this one knows {len(STEPS)})",
            hint="upgrade hermes, or set `HERMES_HOME` to another folder",
        )
    if version == 0 and tables:
        raise StoreError(
            f"`{file}` holds the tables of another program",
            hint="move the file away, or set `HERMES_HOME` to another folder",
        )
    return version


def migrate(connection: sqlite3.Connection) -> None:
    """Bring the file up to the newest schema; the caller holds a write transaction."""
    version = _version(connection)
    for step in STEPS[version:]:
        for statement in step:
            connection.execute(statement)
    if version < len(STEPS):
        connection.execute(f"PRAGMA user_version = {len(STEPS)}")


def forget_words(connection: sqlite3.Connection) -> None:
    """Empty the full-text index; the next search builds it anew."""
    connection.execute("INSERT INTO message_words (message_words) VALUES ('delete-all')")
    connection.execute("UPDATE search_state SET indexed = 0")


def _glance(connection: sqlite3.Connection) -> tuple[int, int]:
    """Version and number of tables as of one moment, while another process may be making them."""
    connection.execute("BEGIN")
    try:
        (tables,) = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
        return _version(connection), tables
    finally:
        connection.execute("ROLLBACK")


def _version(connection: sqlite3.Connection) -> int:
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    return int(version)
