"""Documents in the database: written with their passages, found again by address."""

import sqlite3
from collections.abc import Sequence

import msgspec

from hermes import discover
from hermes.index.query import grams
from hermes.store.database import fetch, fetch_one
from hermes.store.text import legible

_PER_DOCUMENT = 16
"""Bits of a passage's row number that count within its document; the rest is the document's."""
_INSERT = "INSERT INTO documents(url, title, text, size, mtime, digest) VALUES (?,?,?,?,?,?) RETURNING id"
_DELETE = "DELETE FROM documents WHERE url = ? RETURNING id"
_KNOWN = "SELECT url, size, mtime, digest FROM documents WHERE url >= ? AND url < ?"
# A damaged number too large to be shifted is an error of SQLite, not of Python.
_INSERT_PASSAGE = "INSERT INTO passages(rowid, title, heading, body, grams) VALUES ((? << ?) + ?, ?, ?, ?, ?)"
_DELETE_PASSAGES = "DELETE FROM passages WHERE rowid BETWEEN ?1 << ?2 AND ((?1 + 1) << ?2) - 1"


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
    title, text = (legible(part).replace("\0", "\ufffd") for part in (record.title, record.text))
    values = record.url, title, text, record.size, record.mtime, record.digest
    (document,) = fetch_one(connection, tuple[int], _INSERT, *values)
    cut = discover.module("hermes.index.passages").cut  # who only reads never needs it
    for number, passage in enumerate(cut(text)):
        row = document, _PER_DOCUMENT, number, title, passage.heading, passage.body
        connection.execute(_INSERT_PASSAGE, (*row, grams(f"{passage.heading} {passage.body}")))


def touch(connection: sqlite3.Connection, touched: Sequence[tuple[int, int, str]]) -> None:
    """Note the new size and time of files by their address; their content is the same."""
    connection.executemany("UPDATE documents SET size = ?, mtime = ? WHERE url = ?", touched)


def remove(connection: sqlite3.Connection, urls: Sequence[str]) -> int:
    """Take documents out; returns how many were there."""
    removed = 0
    for url in urls:
        for (document,) in fetch(connection, tuple[int], _DELETE, url):
            connection.execute(_DELETE_PASSAGES, (document, _PER_DOCUMENT))
            removed += 1
    return removed


def known(connection: sqlite3.Connection, prefix: str) -> dict[str, tuple[int, int, bytes]]:
    """Address to size, time and digest of the documents whose address starts so."""
    rows = fetch(connection, tuple[str, int, int, bytes], _KNOWN, prefix, prefix + "\U0010ffff")
    return {url: (size, mtime, digest) for url, size, mtime, digest in rows}
