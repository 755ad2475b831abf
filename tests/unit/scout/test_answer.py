import re

from hypothesis import given
from hypothesis import strategies as st

from hermes.providers.scout.answer import DO_NOT_ANSWER, MOST_WORDS, answer
from hermes.providers.scout.conversation import Source

SOURCES = [
    Source(
        "Bridge",
        "https://b.test/",
        "The bridge was designed by **Ellen Marsh**. It opened in 1931. It is grey.",
    ),
    Source("Marsh", "https://m.test/", "Ellen Marsh designed the old bridge and two dams."),
]


def test_each_sentence_is_quoted_with_its_mark():
    reply = answer("Who designed the bridge?", SOURCES)
    assert (
        reply.text.startswith("The bridge was designed by Ellen Marsh. [1] ")
        or "Ellen Marsh" in reply.pieces[0]
    )
    assert not reply.doubtful
    for mark in reply.marks:
        assert re.fullmatch(r"\[\d\]", reply.text[mark.start : mark.end])
    numbers = [int(reply.text[mark.start + 1 : mark.end - 1]) for mark in reply.marks]
    assert list(dict.fromkeys(numbers)) == list(range(1, len(set(numbers)) + 1))
    urls = {}
    for number, mark in zip(numbers, reply.marks, strict=True):
        assert urls.setdefault(number, mark.source.url) == mark.source.url


def test_the_order_of_the_sources_does_not_matter():
    assert (
        answer("Who designed the bridge?", SOURCES).text
        == answer("Who designed the bridge?", SOURCES[::-1]).text
    )


def test_the_same_sentence_from_two_pages_is_said_once():
    copies = [Source("A", f"https://{n}.test/", "The bridge was designed by Ellen Marsh.") for n in range(3)]
    assert answer("Who designed the bridge?", copies).text == "The bridge was designed by Ellen Marsh. [1]"


def test_sources_that_do_not_answer_are_named_as_such():
    reply = answer(
        "What is the capital of Peru?", [*SOURCES, Source("C", "https://c.test/", "Rome is a capital.")]
    )
    assert reply.doubtful
    assert reply.text.startswith(f"{DO_NOT_ANSWER}\n\nClosest: Rome is a capital. [1]")
    assert reply.text[reply.marks[0].start : reply.marks[0].end] == "[1]"


def test_nothing_at_all_in_common():
    reply = answer("Quantum chromodynamics?", SOURCES)
    assert (reply.text, reply.marks, reply.doubtful) == (DO_NOT_ANSWER, (), True)
    assert answer("anything", []).doubtful


def test_a_short_block_of_code_follows_the_sentence_that_introduces_it():
    page = "To install Hermes, run this:\n\n```\nmake install\n```\n\nHermes needs Python to be installed.\n"
    text = answer("How do I install Hermes?", [Source("Guide", "https://g.test/", page)]).text
    assert text.startswith("To install Hermes, run this: [1]\n\n```\nmake install\n```\n\n")


def test_sentences_without_an_end_stand_on_their_own_lines():
    page = "- the red lamp means danger\n- the red lamp stands left\n"
    text = answer("Which lamp is red?", [Source("L", "https://l.test/", page)]).text
    assert text == "the red lamp means danger [1]\nthe red lamp stands left [1]"


def test_a_monstrous_sentence_is_cut_and_stands_alone():
    page = "The bridge " + "and the bridge " * 100 + "ends. The bridge is grey."
    text = answer("What about the bridge?", [Source("B", "https://b.test/", page)]).text
    assert len(text.split()) <= MOST_WORDS + 2


WORDS = st.lists(
    st.sampled_from(
        ["bridge", "grey", "Ellen", "1931", "the", "is", "opened", "it", "dam", "river", "old", "and"]
    ),
    min_size=1,
    max_size=60,
)


@given(st.lists(WORDS, min_size=1, max_size=12), WORDS)
def test_an_answer_keeps_its_limits_and_quotes_verbatim(page, question):
    page = ". ".join(" ".join(words).capitalize() for words in page) + "."
    reply = answer(" ".join(question) + "?", [Source("P", "https://p.test/", page)])
    said = reply.text.removeprefix(DO_NOT_ANSWER).strip().removeprefix("Closest: ")
    quotes = [quote.strip() for quote in re.split(r"\[\d\]", said) if quote.strip()]
    assert len(quotes) == len(reply.marks) <= 3
    assert sum(len(quote.split()) for quote in quotes) <= MOST_WORDS
    assert all(quote in page for quote in quotes)


def test_how_a_thing_is_done_is_told_in_the_steps_that_follow():
    page = (
        "# Tea\n\nTo make tea, boil water in a kettle. Pour it over the leaves. Wait four minutes.\n\n"
        "Tea was brought to the harbour by ship.\n"
    )
    reply = answer("How do I make tea?", [Source("https://t.test/", "Tea", page)])
    assert reply.text == (
        "To make tea, boil water in a kettle. [1] Pour it over the leaves. [1] Wait four minutes. [1]"
    )
