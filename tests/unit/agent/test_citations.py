"""Which pages an answer points to, and whether they say what it says they do."""

import pytest

from hermes.agent.citations import Sources, cite
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


def test_a_number_that_stands_for_nothing_is_no_citation():
    assert cited("So it is [7].") == ()
