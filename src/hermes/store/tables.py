"""The tables of the session history.

A message is one JSON row, numbered within its session. The events between two messages are one row,
whose `seq` is that of the message before them. `message_words` is the full-text index of the messages up
to `search_state.indexed`: it is brought up to date by a search, so that saving a message does not wait for
the words of a long page to be indexed.
"""

from hermes.store.schema import Schema

HISTORY = Schema(
    noun="the session history",
    steps=(
        (
            """
            CREATE TABLE sessions (
                id TEXT PRIMARY KEY, title TEXT NOT NULL, created REAL NOT NULL, updated REAL NOT NULL,
                provider TEXT NOT NULL, model TEXT NOT NULL, cwd TEXT NOT NULL,
                status TEXT NOT NULL DEFAULT 'open', messages INTEGER NOT NULL DEFAULT 0
            )
            """,
            """
            CREATE TABLE messages (
                id INTEGER PRIMARY KEY, session TEXT NOT NULL, seq INTEGER NOT NULL, created REAL NOT NULL,
                body TEXT NOT NULL, UNIQUE (session, seq)
            )
            """,
            # One row that is damaged, or nested too deep for SQLite, must not end every search.
            """
            CREATE VIEW message_text AS
            SELECT id, iif(json_valid(body), json_extract(body, '$.content'), '') AS text FROM messages
            """,
            """
            CREATE VIRTUAL TABLE message_words USING fts5(
                text, content = 'message_text', content_rowid = 'id',
                tokenize = 'unicode61 remove_diacritics 2'
            )
            """,
            "CREATE TABLE search_state (indexed INTEGER NOT NULL)",
            "INSERT INTO search_state VALUES (0)",
        ),
        (
            """
            CREATE TABLE events (
                id INTEGER PRIMARY KEY, session TEXT NOT NULL, seq INTEGER NOT NULL, body TEXT NOT NULL
            )
            """,
            "CREATE INDEX events_by_session ON events (session)",
        ),
    ),
    repair=(
        "INSERT INTO message_words (message_words) VALUES ('delete-all')",
        "UPDATE search_state SET indexed = 0",
    ),
)
