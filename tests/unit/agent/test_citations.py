"""Which pages an answer points to, and whether they say what it says they do."""

import pytest

from hermes.agent.citations import Sources, cite
from hermes.messages import Citation
from hermes.protocols import Source

PAGE = Source("http://a", "A", "The **sky** is blue, and the\nsea is green. Nobody knows why.")
FOUND = Source("http://b", "B", "A few words of it.", read=False)


def cited(text, data=None, sources=(PAGE, FOUND)):
    known = Sources()
    known.add(sources)
    return cite(text, data, known)


@pytest.mark.parametrize(
    ("text", "quote", "verified"),
    [
        ("The sky is blue, and the sea is green. [1]", "The sky is blue, and the sea is green.", True),
        ("It is blue up there [1].", "", True),
        ('It says "the sea is green" plainly [1].', "the sea is green", True),
        ("It says “the sea is green” plainly [1].", "the sea is green", True),
        ('It says "the sea is purple" [1].', "the sea is purple", False),
        ('It says "the sky is blue" and "the sea is red" [1].', "the sky is blue", False),
        ("A few words of it. [2]", "A few words of it.", False),
    ],
)
def test_what_is_quoted_is_looked_up_in_what_was_read(text, quote, verified):
    [found] = cited(text)
    assert (found.quote, found.verified) == (quote, verified)


def test_a_page_that_nobody_read_is_not_verified():
    [found] = cited("So it is [1].", {"citations": ["http://elsewhere"]})
    assert (found.url, found.verified) == ("http://elsewhere", False)


@pytest.mark.parametrize(
    ("text", "url"),
    [
        ("So it is [7].", ""),
        ("So it is [7](http://elsewhere/a).", "http://elsewhere/a"),
        ("So it is [7].\n\n[7]: <http://elsewhere/b> Title", "http://elsewhere/b"),
        ("`x[7]` and [7]", ""),
    ],
)
def test_a_number_that_no_source_has_is_told_and_not_verified(text, url):
    assert cited(text) == (Citation(7, url, "", ""),)


def test_an_address_that_the_answer_gives_to_a_number_is_verified_where_it_was_read():
    [found] = cited("It is blue [7](http://a).")
    assert (found.url, found.title, found.verified) == ("http://a", "A", True)


@pytest.mark.parametrize(
    "text",
    ["Take `row[7]`.", "So:\n\n```python\nrow[7]\n```", "```\nrow[7]", '{"rows": [7]}', "[[7], [8]]", "[0]"],
)
def test_a_number_in_code_or_data_points_to_nothing(text):
    assert cited(text) == ()
