"""Which documents answer a query best: the best passages speak for their document."""

import sqlite3
from collections.abc import Sequence
from itertools import islice

from hermes.index.excerpt import excerpt
from hermes.index.query import Query
from hermes.index.records import document_of
from hermes.protocols import IndexedDocument
from hermes.store.database import fetch

PASSAGES = 60
FADE = 0.3

_MATCHES = """
SELECT rowid, -bm25(passages, 2.0, 1.5, 1.0, 1.0) AS score
FROM passages WHERE passages MATCH ? ORDER BY score DESC LIMIT ?
"""
_DOCUMENT = """
SELECT url, documents.title, text, body FROM documents, passages WHERE documents.id = ? AND passages.rowid = ?
"""


def search(connection: sqlite3.Connection, query: Query, limit: int) -> Sequence[IndexedDocument]:
    """The best documents first, each with the passage that spoke for it."""
    rows = fetch(connection, tuple[int, float], _MATCHES, query.expression, max(PASSAGES, limit * 5))
    found = (_document(connection, passage, query) for passage in _leaders(rows))
    return list(islice((document for document in found if document is not None), limit))


def _leaders(rows: Sequence[tuple[int, float]]) -> list[int]:
    """The best passage of each document, best document first. Each further passage counts less."""
    scores: dict[int, float] = {}
    leaders: dict[int, int] = {}
    weights: dict[int, float] = {}
    for passage, score in rows:
        document = document_of(passage)
        leaders.setdefault(document, passage)
        weight = weights.get(document, 1.0)
        scores[document] = scores.get(document, 0.0) + score * weight
        weights[document] = weight * FADE
    return [leaders[document] for document in sorted(scores, key=lambda document: -scores[document])]


def _document(connection: sqlite3.Connection, passage: int, query: Query) -> IndexedDocument | None:
    """The document of a passage; None when another process has just removed it."""
    rows = fetch(connection, tuple[str, str, str, str], _DOCUMENT, document_of(passage), passage)
    return IndexedDocument(*rows[0][:3], excerpt(rows[0][3], query.words)) if rows else None
