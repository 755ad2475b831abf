"""Documents in the database: written with their passages, found again by address."""

import sqlite3
from collections.abc import Sequence

import msgspec

from hermes.index.passages import cut
from hermes.index.query import grams

_PER_DOCUMENT = 16
"""Bits of a passage's row number that count within its document; the rest is the document's."""


class Record(msgspec.Struct, frozen=True):
    """A document as it is kept, with what tells whether its file has changed."""

    url: str
    title: str
    text: str
    size: int
    mtime: int
    digest: bytes = b""


def document_of(passage: int) -> int:
    """The document that a passage's row number belongs to."""
    return passage >> _PER_DOCUMENT


def put(connection: sqlite3.Connection, record: Record) -> None:
    """Write a document in place of what its address held."""
    remove(connection, [record.url])
    title, text = _text(record.title), _text(record.text)
    cursor = connection.execute(
        "INSERT INTO documents(url, title, text, size, mtime, digest) VALUES (?, ?, ?, ?, ?, ?)",
        (record.url, title, text, record.size, record.mtime, record.digest),
    )
    first = (cursor.lastrowid or 0) << _PER_DOCUMENT
    connection.executemany(
        "INSERT INTO passages(rowid, title, heading, body, grams) VALUES (?, ?, ?, ?, ?)",
        (
            (first + number, title, passage.heading, passage.body, grams(f"{passage.heading} {passage.body}"))
            for number, passage in enumerate(cut(text))
        ),
    )


def touch(connection: sqlite3.Connection, url: str, size: int, mtime: int) -> None:
    """Note a file's new time; its content is the same."""
    connection.execute("UPDATE documents SET size = ?, mtime = ? WHERE url = ?", (size, mtime, url))


def remove(connection: sqlite3.Connection, urls: Sequence[str]) -> int:
    """Take documents out; returns how many were there."""
    removed = 0
    for url in urls:
        row = connection.execute("SELECT id FROM documents WHERE url = ?", (url,)).fetchone()
        if row is not None:
            first = row[0] << _PER_DOCUMENT
            last = first + (1 << _PER_DOCUMENT) - 1
            connection.execute("DELETE FROM passages WHERE rowid BETWEEN ? AND ?", (first, last))
            connection.execute("DELETE FROM documents WHERE id = ?", (row[0],))
            removed += 1
    return removed


def known(connection: sqlite3.Connection, prefix: str) -> dict[str, tuple[int, int, bytes]]:
    """Address to size, time and digest of the documents whose address starts so."""
    rows = connection.execute(
        "SELECT url, size, mtime, digest FROM documents WHERE url >= ? AND url < ?",
        (prefix, prefix + "\U0010ffff"),
    )
    return {url: (size, mtime, digest) for url, size, mtime, digest in rows}


def _text(text: str) -> str:
    """SQLite keeps UTF-8 up to a NUL: without lone surrogates and NULs."""
    return text.encode("utf-8", "replace").decode("utf-8").replace("\x00", "\ufffd")
