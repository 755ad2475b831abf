"""From fetched bytes to a page, whatever they are."""

from contextlib import suppress

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hermes.errors import DocumentError
from hermes.protocols import Page
from hermes.tools.web.reading.documents import read

URL = "https://site.example/docs/the%20file.txt?x=1"


def test_html_is_read_with_its_links_made_whole():
    page = read(b"<title>T</title><main><p>See <a href='/a'>a</a></p></main>", "text/html", URL)
    assert (page.title, page.markdown) == ("T", "See [a](https://site.example/a)")


@pytest.mark.parametrize(
    ("told", "body"),
    [
        ("text/html; charset=iso-8859-1", "<p>caf\xe9".encode("latin-1")),
        ("text/html; charset=utf-8", "<meta charset=koi8-r><p>café".encode()),
        ("text/html", "<meta charset=utf-8><p>café".encode()),
        ("text/html; charset=nonsense", "<p>café".encode()),
        ("text/html; charset=koi8-r", "\ufeff<p>café".encode()),
        ("text/plain; charset=utf-16", "café".encode("utf-16")),
        ("text/plain", "café à la carte".encode("utf-16-le")),
        ("text/plain; charset=windows-1252", "café".encode("cp1252")),
    ],
)
def test_the_encoding_is_told_by_the_mark_then_the_server_then_the_page(told, body):
    assert "café" in read(body, told, URL).markdown


@pytest.mark.parametrize("body", [b"<p>\xff\xfe\xfa broken", b"a\x00b <p>c" + b"d" * 99, b"\xc3(\xa0\xa1 x"])
def test_bytes_that_are_no_text_are_replaced_and_never_raise(body):
    assert isinstance(read(body, "text/html; charset=utf-8", URL), Page)


def test_json_is_set_in_lines():
    assert read(b'{"a":[1,"```"]}', "application/json", URL).markdown == (
        '```json\n{\n  "a": [\n    1,\n    "```"\n  ]\n}\n```'
    )


def test_json_that_is_none_is_given_as_it_came_and_said_so():
    page = read(b"{'a': 1}", "application/json", URL)
    assert page.markdown == "{'a': 1}"
    assert "not valid" in page.notes[0]


def test_json_without_a_floor_is_refused():
    with pytest.raises(DocumentError, match="deeply"):
        read(b"[" * 100_000, "application/json", URL)
    with pytest.raises(DocumentError, match="deeply"):
        read(b'{"a":' * 100_000, "application/json", URL)


def test_what_has_no_title_is_named_after_its_address():
    assert read(b"words", "text/plain", URL).title == "the file.txt"
    assert read(b"<p>words", "text/html", "https://site.example/").title == "site.example"


@pytest.mark.parametrize(
    ("told", "body"),
    [("text/html", b"<p>words"), ("text/plain", b"words"), ("application/json", b'["words",')],
)
def test_what_is_very_large_is_read_in_part_and_says_so(told, body):
    page = read(body + b" " * 3_000_000 + b"the end", told, URL)
    assert "words" in page.markdown
    assert "the end" not in page.markdown
    assert page.notes == ("it is larger than 3 MB; the rest was left out",)


def test_a_pdf_that_is_none_is_an_error():
    with pytest.raises(DocumentError, match="not a readable PDF"):
        read(b"%PDF-1.7 and nothing else", "text/html", URL)


TYPES = st.sampled_from(
    ["", "text/html", "text/plain", "application/json", "application/rss+xml", "text/xml", "image/png", "x"]
)
PIECES = st.sampled_from(
    [
        *(b"<html>", b"<rss>", b"<item>", b"<p>", b"</", b"{", b"[", b'"', b"\xff", b"\x00", b"<!--", b"-->"),
        *(
            b"<!DOCTYPE",
            b"<![CDATA[",
            b"]]>",
            b"\xef\xbb\xbf",
            b"text ",
            b"<table>",
            b"<svg>",
            b"\xe2\x80",
            b"&#x0;",
        ),
    ]
)


@settings(max_examples=500, deadline=None)
@given(st.lists(PIECES | st.binary(max_size=20), max_size=25), TYPES)
def test_anything_at_all_is_a_page_or_a_reason(pieces, told):
    with suppress(DocumentError):
        page = read(b"".join(pieces), told, URL)
        page.markdown.encode()
        assert "\x00" not in page.markdown
