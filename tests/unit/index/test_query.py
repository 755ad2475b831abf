"""Whatever a person types becomes words to look for, never syntax."""

import sqlite3

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hermes.index import Index
from hermes.index.query import MAX_TERMS, build, grams

HOSTILE = [
    '"', '""', "'", "*", "a*", "NEAR(a b)", "NEAR", "AND", "OR", "NOT", "a AND", "(", ")", "^a", "title:a",
    "title : x", "{title body}: x", "-x", "+", "a + b", "\\", ";", "--", "x\x00y", "\ud800", "🙂",
    "\u202eabc", "site:x.org y", "a\nb", "İ", "ß", "é" * 3, "%s", "?", ":1", "@a", "$a", "_", "__init__",
    "a_b", "c++", "rowid:1", "x" * 100_000, "بحث", "हिन्दी", "ไทย", "漢", "漢字かな", "한국어 문서",
]  # fmt: skip


@pytest.fixture(scope="module")
def index():
    index = Index.open(None)
    yield index
    index.close()


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_queries_are_only_searched_for(index, text):
    assert list(index.search(text, 5)) == []


@given(st.text())
def test_any_text_makes_an_expression_that_fts5_accepts(text):
    built = build(text)
    connection = sqlite3.connect(":memory:")
    try:
        connection.execute("CREATE VIRTUAL TABLE t USING fts5(title, heading, body, grams)")
        if built is not None:
            assert connection.execute("SELECT * FROM t WHERE t MATCH ?", (built.expression,)).fetchall() == []
    finally:
        connection.close()


@given(st.text(alphabet='"*:()^-+{} NEARORANDabc漢字\x00\n', max_size=60))
def test_operators_in_any_order_are_accepted(text):
    index = Index.open(None)
    try:
        assert list(index.search(text, 3)) == []
    finally:
        index.close()


@pytest.mark.parametrize("text", ["", "   ", "?!.,", "🙂🙂", "\x00", "'\"*"])
def test_text_without_words_has_no_query(text):
    assert build(text) is None


def test_stop_words_go_unless_nothing_else_is_left():
    assert build("what is the boiler").expression == '"boiler"'
    assert build("who is it").expression == '"who" OR "is" OR "it"'


def test_a_quoted_phrase_counts_beside_its_words():
    assert build('the "steam engine" act').expression == '"steam" OR "engine" OR "act" OR "steam engine"'


def test_a_megabyte_stays_a_bounded_expression():
    built = build(" ".join(f"word{number}" for number in range(150_000)))
    assert built.expression.count('"') // 2 <= MAX_TERMS


def test_scripts_without_spaces_become_letter_pairs():
    assert grams("see 漢字文 now") == "漢字 字文 文"
    assert build("東京tower").expression == '"tower" OR grams : "東京"'
    assert build("字").expression == 'grams : "字" *'
    assert grams("plain") == ""
