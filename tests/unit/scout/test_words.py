import pytest
from hypothesis import given
from hypothesis import strategies as st

from hermes.providers.scout.kin import root, synonyms
from hermes.ranking.words import fold, surface, term, terms


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("engine", "Engines"),
        ("built", "building"),
        ("city", "cities"),
        ("Newcomen", "Newcomen's"),
        ("Newcomen", "Newcomen\u2019s"),
        ("Fécamp", "fecamp"),
        ("U.S.", "US"),
        ("1,300,000", "1300000"),
        ("planned", "planning"),
        ("writer", "wrote"),
        ("churches", "church"),
        ("glasses", "glass"),
    ],
)
def test_forms_of_one_word_are_one_term(one, other):
    assert term(one) == term(other)


@pytest.mark.parametrize(("one", "other"), [("found", "founded"), ("sing", "sin"), ("bus", "bu")])
def test_different_words_stay_apart(one, other):
    assert term(one) != term(other)


def test_words_are_cut_where_a_reader_would():
    assert surface("In 1781, the U.S. paid 3.5 million; it's well-known.") == [
        "In", "1781", "the", "U.S.", "paid", "3.5", "million", "it's", "well", "known",
    ]  # fmt: skip


def test_identifiers_are_one_word():
    assert surface("set HERMES_HOME or web_extract") == ["set", "HERMES_HOME", "or", "web_extract"]


def test_scripts_without_spaces_give_pairs():
    assert surface("東京タワー is 高い") == ["東京", "京タ", "タワ", "ワー", "is", "高い"]
    assert surface("水") == ["水"]


@pytest.mark.parametrize(
    ("one", "other"), [("invention", "inventor"), ("regulation", "regulate"), ("government", "governor")]
)
def test_a_noun_and_its_verb_share_a_root(one, other):
    assert root(term(one)) == root(term(other))


def test_short_words_are_their_own_root():
    assert root("ion") == "ion"


def test_synonyms_are_stems_and_mutual():
    assert term("purchase") in synonyms(term("buy"))
    assert term("buy") in synonyms(term("purchase"))
    assert term("buy") not in synonyms(term("buy"))
    assert synonyms("xyzzy") == frozenset()


@given(st.text(max_size=80))
def test_any_text_has_terms_and_folding_is_stable(text):
    assert len(terms(text)) == len(surface(text))
    assert all(terms(text))
    assert fold(fold(text)) == fold(text)
