"""What was spent, in a file that any number of processes share."""

import os
import sqlite3
from contextlib import closing

import msgspec

_TABLE = """
CREATE TABLE IF NOT EXISTS spent (
    day TEXT, session TEXT, dollars REAL, tokens INTEGER, PRIMARY KEY (day, session)
) WITHOUT ROWID
"""
_ADD = """
INSERT INTO spent VALUES (?, ?, ?, ?)
ON CONFLICT DO UPDATE SET dollars = dollars + excluded.dollars, tokens = tokens + excluded.tokens
"""
_BUSY = 5.0


class Spent(msgspec.Struct, frozen=True):
    dollars: float
    tokens: int


class Ledger:
    """Opened for each entry, so that no process keeps another waiting. Raises `sqlite3.Error`."""

    def __init__(self, path: str) -> None:
        self._path = path

    def add(self, day: str, session: str, dollars: float, tokens: int) -> None:
        with closing(self._open()) as database, database:
            database.execute(_ADD, (day, session, dollars, tokens))

    def of_day(self, day: str) -> Spent:
        return self._sum("day", day)

    def of_session(self, session: str) -> Spent:
        return self._sum("session", session)

    def _sum(self, column: str, value: str) -> Spent:
        query = f"SELECT total(dollars), total(tokens) FROM spent WHERE {column} = ?"  # noqa: S608
        with closing(self._open()) as database:
            dollars, tokens = database.execute(query, (value,)).fetchone()
        return Spent(dollars, int(tokens))

    def _open(self) -> sqlite3.Connection:
        if not os.path.exists(self._path):
            os.close(os.open(self._path, os.O_CREAT | os.O_WRONLY, 0o600))
        database = sqlite3.connect(self._path, timeout=_BUSY)
        try:
            database.execute(_TABLE)
        except sqlite3.Error:
            database.close()
            raise
        return database
