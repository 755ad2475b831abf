"""What bytes are: told by themselves first, then by what their server says."""

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hermes.errors import DocumentError
from hermes.tools.web.reading.kinds import charset_of, first_tag, kind_of

HTML = b"<!DOCTYPE html><html><body>hello</body></html>"


@pytest.mark.parametrize(
    ("told", "body", "kind"),
    [
        ("text/html", HTML, "html"),
        ("TEXT/HTML; charset=x", b"no markup at all", "html"),
        ("application/xhtml+xml", b'<?xml version="1.0"?><html/>', "html"),
        ("", HTML, "html"),
        ("application/octet-stream", b"<!-- x --><!-- y -->\n<html>", "html"),
        ("application/pdf", HTML, "html"),
        ("text/xml", b'<?xml version="1.0"?><!DOCTYPE html PUBLIC "-//W3C//DTD"><html>', "html"),
        ("application/json", HTML, "html"),
        ("text/plain", HTML, "text"),
        ("text/html", b"%PDF-1.7\n", "pdf"),
        ("", b"\n\n%PDF-1.4", "pdf"),
        ("application/rss+xml", b'<?xml version="1.0"?><rss version="2.0">', "feed"),
        ("text/html", b"<rss><channel/></rss>", "feed"),
        ("text/xml", b'\xef\xbb\xbf<?xml version="1.0"?>\n<!-- c --><feed xmlns="x">', "feed"),
        (
            "",
            '\ufeff<?xml version="1.0" encoding="utf-16"?><rdf:RDF xmlns:rdf="x">'.encode("utf-16-le"),
            "feed",
        ),
        ("text/xml", b'<!DOCTYPE rss PUBLIC "x" [<!ENTITY a "b">]><rss>', "feed"),
        ("application/json", b'{"a": 1}', "json"),
        ("application/ld+json; charset=utf-8", b"[]", "json"),
        ("", b'  {"a": 1}', "json"),
        ("text/plain", b'{"a": 1}', "text"),
        ("text/markdown", b"# Hello", "text"),
        ("text/csv", b"a,b\n1,2", "text"),
        ("application/xml", b"<urlset><url/></urlset>", "text"),
        ("", b"just words", "text"),
        ("image/png", b"these are plain words under a wrong name", "text"),
        ("text/plain", b"MZ is how this sentence begins", "text"),
        ("text/plain", b"BM too, and ID3 as well", "text"),
    ],
)
def test_it_is_read_as_what_it_is(told, body, kind):
    assert kind_of(told, body) == kind


@pytest.mark.parametrize(
    ("told", "body", "reason"),
    [
        ("text/html", b"MZ\x90\x00\x03\x00\x00\x00", "program"),
        ("text/html", b"\x7fELF\x02\x01", "program"),
        ("", b"\x89PNG\r\n\x1a\n", "PNG"),
        ("image/jpeg", b"\xff\xd8\xff\xe0", "JPEG"),
        ("text/plain", b"PK\x03\x04\x14\x00", "archive or an office document"),
        ("text/html", b"\x1f\x8b\x08\x00", "gzip"),
        ("video/mp4", b"\x00\x00\x00\x18ftypmp42", "film"),
        ("application/octet-stream", b"SQLite format 3\x00", "database"),
        ("image/webp", b"RIFF\x24\x00\x00\x00WEBP", "picture"),
        ("audio/mpeg", b"\xff\xfb\x90\x44\x00\x00", "sound"),
        ("font/woff2", b"wOF2\x00\x01", "font"),
        ("image/svg+xml", b'<?xml version="1.0"?><svg xmlns="x">', "picture"),
        ("text/html", b"", "empty"),
        ("text/html", b" \r\n\t ", "empty"),
        ("application/pdf", b"no PDF at all", "called a PDF"),
    ],
)
def test_what_has_no_text_is_refused_by_its_name(told, body, reason):
    with pytest.raises(DocumentError, match=reason):
        kind_of(told, body)


@pytest.mark.parametrize(
    ("content_type", "charset"),
    [
        ("text/html; charset=UTF-8", "UTF-8"),
        ('text/html;charset="iso-8859-1"', "iso-8859-1"),
        ("text/html; x=y; Charset = koi8-r ; z=1", "koi8-r"),
        ("text/html", ""),
        ("text/html; charset=", ""),
    ],
)
def test_a_server_tells_the_encoding(content_type, charset):
    assert charset_of(content_type) == charset


@given(st.binary(max_size=300), st.text(max_size=60))
def test_any_bytes_are_something_or_refused(body, told):
    with suppress(DocumentError):
        assert kind_of(told, body) in ("html", "pdf", "feed", "json", "text")


@pytest.mark.parametrize(
    "unit", [b"<?x", b"<!--", b"<!-- a -->", b"<!doctype x [", b" ", b"<?x?>", b"<", b"<!doctype x>"]
)
def test_a_long_beginning_is_looked_at_in_a_moment(unit):
    first_tag(unit * (1_000_000 // len(unit)))
