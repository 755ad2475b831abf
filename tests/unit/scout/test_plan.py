import pytest

from hermes.protocols import SearchRow as Row
from hermes.providers.scout.plan import choose, is_weak, queries, resolve


def test_the_first_query_is_made_of_the_words_that_matter():
    assert (
        queries("In what year did James Watt patent the steam engine?")[0] == "James Watt patent steam engine"
    )


def test_quoted_phrases_stay_quoted():
    assert queries('Who sang "Blue Moon" first?')[0] == '"Blue Moon" sang first'


def test_later_queries_use_other_words():
    first, second, third = queries("How did James Watt improve the old atmospheric engine?")
    assert set(second.split()) < set(first.split())
    assert {"James", "Watt"} <= set(second.split())
    assert third == "How did James Watt improve the old atmospheric engine"


@pytest.mark.parametrize("text", ["?", "...", "what", "水は何ですか", "a" * 5000])
def test_there_is_always_a_query_of_reasonable_size(text):
    found = queries(text)
    assert found
    assert all(query.strip() and len(query) <= 5000 for query in found)


@pytest.mark.parametrize(
    ("earlier", "text", "expected"),
    [
        (["Where is the Eiffel Tower?"], "and when was it built?", "and when was Eiffel Tower built?"),
        (["Where is the Eiffel Tower?"], "What is its height?", "What is Eiffel Tower's height?"),
        (["Where is the Eiffel Tower?"], "and why?", "and why Eiffel Tower?"),
        (["how do solar panels work"], "who invented them?", "who invented solar panels work?"),
        (
            ["Where is the Eiffel Tower?", "when was it built?"],
            "Who designed it?",
            "Who designed Eiffel Tower?",
        ),
        (["Where is the Eiffel Tower?"], "Who was Isambard Brunel?", "Who was Isambard Brunel?"),
        ([], "when was it built?", "when was it built?"),
    ],
)
def test_a_follow_up_borrows_its_subject(earlier, text, expected):
    assert resolve(text, earlier) == expected


@pytest.mark.parametrize("text", ["", "hi", "Hello!", "good morning, Hermes", "  ?? ", "thank you"])
def test_a_greeting_asks_what_this_is(text):
    assert resolve(text, []) == "What is Hermes?"


def test_a_pasted_document_is_not_the_question():
    pasted = "\n\n".join(["A long paragraph about nothing in particular, again and again."] * 20)
    assert resolve(f"Who wrote this?\n\n{pasted}", []) == "Who wrote this?"
    assert resolve(f"{pasted}\n\nWho wrote this?", []) == "Who wrote this?"
    assert len(resolve("x" * 9000, [])) <= 400


ROWS = [
    Row("Cooking", "https://a.test/", "Soups and stews"),
    Row("James Watt", "https://b.test/", "Watt improved the steam engine"),
    Row("Engines", "https://c.test/", "The steam engine"),
]


def test_the_pages_that_speak_of_the_question_are_read_first():
    chosen = choose("How did James Watt improve the engine?", ROWS, [])
    assert chosen[0] == "https://b.test/"
    assert len(chosen) <= 4


def test_of_two_pages_the_new_one_is_read_first_where_the_question_asks_for_it():
    old, new = (
        Row("Acme", f"https://{day}.test/", "Acme is out", day) for day in ("2019-01-01", "2026-01-01")
    )
    assert choose("What is the latest Acme?", [old, new], [])[0] == new.url
    assert choose("What is Acme?", [old, new], [])[0] == old.url


def test_pages_already_read_are_not_chosen_again():
    assert "https://b.test/" not in choose(
        "How did James Watt improve the engine?", ROWS, ["https://b.test/"]
    )
    assert choose("anything", [], []) == []


def test_at_most_four_pages_are_read():
    rows = [Row("Watt", f"https://{n}.test/", "Watt") for n in range(9)]
    assert len(choose("Watt?", rows, [])) == 4


def test_results_about_something_else_are_weak():
    assert is_weak("How did James Watt improve the engine?", ROWS[:1])
    assert not is_weak("How did James Watt improve the engine?", ROWS)
    assert is_weak("anything", [])
