import pytest
from hypothesis import given
from hypothesis import strategies as st

from hermes.providers.scout.question import analyse, could_answer
from hermes.ranking.words import surface, term


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("Who built the bridge?", "who"),
        ("The bridge was built by whom?", "who"),
        ("Which king built it?", "who"),
        ("When did the bridge open?", "when"),
        ("In what year did the bridge open?", "when"),
        ("Where is the bridge?", "where"),
        ("What city has the bridge?", "where"),
        ("How many arches does it have?", "number"),
        ("How long is the bridge?", "number"),
        ("What percentage of the traffic crosses it?", "number"),
        ("Why was the bridge closed?", "why"),
        ("What was the reason it closed?", "why"),
        ("How is the bridge painted?", "how"),
        ("What is the bridge called?", "name"),
        ("What is a caisson?", "define"),
        ("What does caisson mean?", "define"),
        ("What did the engineers learn from the storm?", "what"),
        ("tell me about the bridge", "other"),
        ("", "other"),
    ],
)
def test_the_kind_of_answer_is_seen(text, kind):
    assert analyse(text).kind == kind


def test_a_question_is_taken_apart():
    question = analyse('What branch of the Acme company made the "red rocket" in 1969?')
    assert question.terms == tuple(map(term, ["branch", "Acme", "company", "made", "red", "rocket", "1969"]))
    assert question.names == {term("Acme")}
    assert question.phrases == ("red rocket",)
    assert (0, 1) in question.pairs


def test_a_capital_that_opens_the_sentence_makes_no_name():
    assert analyse("Bridges are made of what?").names == frozenset()
    assert analyse("NASA launched what?").names == {term("NASA")}


def test_a_question_of_stop_words_keeps_them():
    assert analyse("who is it?").terms


@pytest.mark.parametrize(
    ("asked", "text", "expected"),
    [
        ("Who built it?", "However the bridge was built by John Roebling", ["John", "Roebling"]),
        ("When did it open in 1883?", "From 1883 to May 1890", ["May", "1890"]),
        ("How many arches?", "It has three arches and 20 lamps", ["three", "20"]),
        ("Why?", "Because John said so in 1999", []),
    ],
)
def test_words_that_could_answer_are_new_and_look_the_part(asked, text, expected):
    words = surface(text)
    assert [words[at] for at in could_answer(analyse(asked), words, list(map(term, words)))] == expected


@given(st.text(max_size=120))
def test_any_text_can_be_asked(text):
    question = analyse(text)
    assert all(one != two and max(one, two) < len(question.terms) for one, two in question.pairs)
