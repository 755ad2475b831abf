import sqlite3

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hermes.errors import StoreError
from hermes.messages import Message
from hermes.store import Store
from hermes.store.search import build_query


async def found(store, text, limit=10):
    return [(hit.session_id, hit.seq) for hit in await store.search(text, limit)]


async def test_all_words_must_be_there_and_may_be_beginnings(store, session):
    await store.create(session("a", title="protocols"))
    await store.append(
        "a", [Message("user", "What changed in HTTP/3?"), Message("assistant", "QUIC streams")]
    )
    await store.create(session("b"))
    await store.append("b", [Message("tool", "a café in Zürich streams music")])
    assert await found(store, "stream") == [("a", 2), ("b", 1)]
    assert await found(store, "streams zurich CAFE") == [("b", 1)]
    assert await found(store, "http/3") == [("a", 1)]
    assert await found(store, "quic zurich") == []
    (hit,) = await store.search("quic", 5)
    assert (hit.title, hit.role, hit.snippet) == ("protocols", "assistant", "QUIC streams")


async def test_messages_are_found_whenever_they_were_added(store, session):
    await store.create(session("a"))
    await store.append("a", [Message("user", f"number{n}") for n in range(450)])
    assert await found(store, "number449") == [("a", 450)]
    await store.append("a", [Message("user", "later")])
    assert await found(store, "later") == [("a", 451)]
    assert len(await found(store, "number", limit=7)) == 7


async def test_deleted_messages_are_not_found_and_new_ones_in_their_place_are(store, session):
    for id in ("a", "b"):
        await store.create(session(id))
        await store.append(id, [Message("user", f"apple {id}")])
    assert await found(store, "apple") == [("a", 1), ("b", 1)]
    await store.append("b", [Message("user", "apple never indexed")])
    await store.delete("b")
    assert await found(store, "apple") == [("a", 1)]
    await store.create(session("c"))
    await store.append("c", [Message("user", "pear"), Message("user", "plum")])
    assert await found(store, "apple") == [("a", 1)]
    assert await found(store, "pear") == [("c", 1)]


@pytest.mark.parametrize(
    "text",
    [
        '"',
        '""',
        "a OR",
        "NEAR(",
        "text:secret",
        "-apple",
        "^apple",
        "*",
        "'; DROP TABLE messages; --",
        "\0",
        "\udcff",
    ],
)
async def test_query_syntax_is_only_text(store, session, text):
    await store.create(session("a"))
    await store.append("a", [Message("user", "apple secret")])
    assert await found(store, text) == ([("a", 1)] if "apple" in text else [])
    assert await found(store, "secret") == [("a", 1)]


@settings(deadline=None)
@given(st.text() | st.text(alphabet="\"'*^-+(){}:,. ANDORNOTEa\0"))
def test_no_text_is_a_syntax_error(text):
    db = sqlite3.connect(":memory:")
    db.execute("CREATE VIRTUAL TABLE words USING fts5(text)")
    query = build_query(text)
    assert (query == "") == (not text.replace("\0", " ").split())
    db.execute("SELECT count(*) FROM words WHERE words MATCH ?", (query or '"x"',)).fetchall()
    db.close()


async def test_a_very_long_query_and_no_word_at_all(store, session):
    await store.create(session("a"))
    await store.append("a", [Message("user", "word")])
    assert await found(store, "word " * 100_000) == [("a", 1)]
    assert await found(store, " \n") == []
    assert await found(store, "!!!") == []


async def test_a_damaged_message_is_named_and_does_not_end_every_search(store, path, session):
    await store.create(session("a"))
    await store.append("a", [Message("user", "apple one"), Message("user", "apple two")])
    db = sqlite3.connect(path)
    with db:
        db.execute("UPDATE messages SET body = CAST(x'7b22ff' AS TEXT) WHERE seq = 1")
    db.close()
    assert await found(store, "apple") == [("a", 2)]
    with pytest.raises(StoreError, match="message 1 of session `a` cannot be read"):
        await store.messages("a")
    await store.delete("a")
    assert await found(store, "apple") == []


@pytest.mark.parametrize("body", ["not json", '{"role": "usar", "content": "apple one"}'])
async def test_a_message_damaged_after_it_was_indexed_is_passed_over(store, path, session, body):
    await store.create(session("a"))
    await store.append("a", [Message("user", "apple one"), Message("user", "apple two")])
    assert await found(store, "apple") == [("a", 1), ("a", 2)]
    db = sqlite3.connect(path)
    with db:
        db.execute("UPDATE messages SET body = ? WHERE seq = 1", (body,))
    db.close()
    assert await found(store, "apple") == [("a", 2)]
    assert store.notices == []


@pytest.mark.parametrize(
    "damage", ["UPDATE message_words_data SET block = zeroblob(9)", "DELETE FROM message_words_idx"]
)
async def test_a_damaged_index_is_built_anew_and_costs_no_message(store, path, session, damage):
    await store.create(session("a"))
    await store.append("a", [Message("user", f"apple {n}") for n in range(300)])
    assert await found(store, "apple 299") == [("a", 300)]
    await store.close()
    db = sqlite3.connect(path)
    with db:
        db.execute(damage)
    db.close()
    again = Store.open(path)
    await again.append("a", [Message("user", "pear")])
    assert await found(again, "pear") == [("a", 301)]
    assert ("a", 300) in await found(again, "299")
    assert again.notices == []
    assert len(await again.messages("a")) == 301
    await again.close()
