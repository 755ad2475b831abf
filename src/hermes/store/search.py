"""Full-text search over what was said: the words a person types are never read as query syntax."""

from collections.abc import Sequence
from sqlite3 import Connection
from typing import get_args

import msgspec

from hermes.messages import Role
from hermes.store.database import fetch, fetch_one
from hermes.store.text import legible

_WORDS = 32
_MESSAGES_PER_STEP = 200
_SNIPPET_WORDS = 24
_NEXT = "SELECT max(id) FROM (SELECT id FROM messages WHERE id > ? ORDER BY id LIMIT ?)"
_ROLE = "iif(json_valid(body), json_extract(body, '$.role'), '')"
# A message that was damaged after it was indexed has no role that we know.
_MATCHES = f"""
SELECT sessions.id, title, seq, {_ROLE}, snippet(message_words, 0, '', '', '…', ?)
FROM message_words JOIN messages ON messages.id = message_words.rowid
JOIN sessions ON sessions.id = messages.session
WHERE message_words MATCH ? AND {_ROLE} IN {get_args(Role)} ORDER BY rank LIMIT ?
"""  # noqa: S608 - made of constants


class SearchHit(msgspec.Struct, frozen=True):
    """A message that matched: the `seq`-th of its session, and the words around the match."""

    session_id: str
    title: str
    seq: int
    role: Role
    snippet: str


def build_query(text: str) -> str:
    """An FTS5 query: each word quoted, matching words that begin with it; empty without a word."""
    words = legible(text).replace("\0", " ").split()[:_WORDS]
    return " ".join('"' + word.replace('"', '""') + '"*' for word in words)


def step(db: Connection, query: str, limit: int) -> Sequence[SearchHit] | None:
    """Index some messages that are not yet, or, when all are, search them.

    In steps, because other writers must not wait for a long history to be indexed.
    """
    (indexed,) = fetch_one(db, tuple[int], "SELECT indexed FROM search_state")
    (reached,) = fetch_one(db, tuple[int | None], _NEXT, indexed, _MESSAGES_PER_STEP)
    if reached is None:
        return _matches(db, query, limit)
    db.execute(
        "INSERT INTO message_words (rowid, text) SELECT id, text FROM message_text WHERE id > ? AND id <= ?",
        (indexed, reached),
    )
    db.execute("UPDATE search_state SET indexed = ?", (reached,))
    return None


def forget(db: Connection, session_id: str, after: int = 0) -> None:
    """Take a session's messages after so many out of the index, before they are deleted."""
    db.execute(
        "INSERT INTO message_words (message_words, rowid, text) SELECT 'delete', id, text FROM message_text"
        " WHERE id IN (SELECT id FROM messages WHERE session = ? AND seq > ?)"
        " AND id <= (SELECT indexed FROM search_state)",
        (session_id, after),
    )


def lower_mark(db: Connection) -> None:
    """Keep the mark at or below the last message: SQLite gives the ids above it out again."""
    db.execute("UPDATE search_state SET indexed = min(indexed, (SELECT coalesce(max(id), 0) FROM messages))")


def _matches(db: Connection, query: str, limit: int) -> Sequence[SearchHit]:
    rows = fetch(db, tuple[str, str, int, Role, str], _MATCHES, _SNIPPET_WORDS, query, limit)
    return [SearchHit(*row) for row in rows]
