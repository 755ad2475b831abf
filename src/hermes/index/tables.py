"""The tables of the index: documents, and the passages they are found by."""

from hermes.store.schema import Schema

INDEX = Schema(
    noun="the index",
    steps=(
        (
            """
            CREATE TABLE documents(
                id INTEGER PRIMARY KEY, url TEXT NOT NULL UNIQUE, title TEXT NOT NULL, text TEXT NOT NULL,
                size INTEGER NOT NULL, mtime INTEGER NOT NULL, digest BLOB NOT NULL
            )
            """,
            """CREATE VIRTUAL TABLE passages USING fts5(
                title, heading, body, grams, tokenize='porter unicode61 remove_diacritics 2')""",
        ),
    ),
)
