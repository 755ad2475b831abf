"""The addresses of a page become absolute, and the quick way to that gives what the thorough one gives."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from selectolax.lexbor import LexborHTMLParser

from hermes.tools.web.reader.metadata import _ADDRESS, Head, _joined, resolver

PAGES = [
    "https://www.example.org/a/b?c#d",
    "HTTP://example.org:80",
    "ftp://example.org/a",
    "https://[bad/",
    "",
]


@pytest.mark.parametrize(
    ("address", "whole"),
    [
        ("/c/d?e=f#g", "https://www.example.org/c/d?e=f#g"),
        ("/c/../d", "https://www.example.org/d"),
        ("/c d", "https://www.example.org/c%20d"),
        ("//other.example/c", "https://other.example/c"),
        ("c", "https://www.example.org/a/c"),
        ("https://other.example/c?d", "https://other.example/c?d"),
        ("javascript:x", None),
    ],
)
def test_an_address_is_made_absolute(address, whole):
    assert resolver(Head(LexborHTMLParser("")), PAGES[0])(address) == whole


@given(
    st.sampled_from(PAGES),
    st.sampled_from(["", "/", "/a/", "//", "?"]),
    st.text(alphabet="/.?#=&%+:;@ab (", max_size=8),
)
def test_a_plain_path_is_joined_as_any_other_address(page, start, rest):
    whole = _joined(page, start + rest)
    found = resolver(Head(LexborHTMLParser("")), page)(start + rest)
    is_bare = not page and (start + rest).lstrip().startswith("#")
    assert found == (None if is_bare or not whole else whole.translate(_ADDRESS))
