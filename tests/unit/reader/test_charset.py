"""Bytes become text by the rules of browsers, and never raise but for binary data."""

import codecs

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hermes.errors import DocumentError
from hermes.tools.web.reader.charset import decode


@pytest.mark.parametrize(
    "data",
    [
        codecs.BOM_UTF8 + "äöü".encode(),
        codecs.BOM_UTF16_LE + "äöü".encode("utf-16-le"),
        codecs.BOM_UTF16_BE + "äöü".encode("utf-16-be"),
        "äöü".encode(),
        "äöü".encode("cp1252"),
    ],
)
def test_marks_utf8_and_windows(data):
    assert decode(data) == "äöü"


@pytest.mark.parametrize(
    ("label", "codec", "text"),
    [
        ("iso-8859-1", "cp1252", "“quoted” café"),
        ("Windows-1251", "cp1251", "Привет"),
        ("gb2312", "gb18030", "北京镕"),
        ("Shift_JIS", "cp932", "日本①"),
        ("euc-kr", "cp949", "한국똠"),
        ("koi8-r", "koi8-r", "Привет"),
        ("big5", "big5", "臺灣"),
    ],
)
def test_a_declared_encoding_is_read_as_browsers_read_it(label, codec, text):
    for head in (f'<meta charset="{label}">', f"<meta http-equiv=x content='text/html; charset={label}'>"):
        assert decode(f"{head}{text}".encode(codec), declared=True).endswith(text)
    xml = f'<?xml version="1.0" encoding="{label}"?>{text}'
    assert decode(xml.encode(codec), declared=True) == xml


@pytest.mark.parametrize(
    "label", ["nonsense", "base64", "rot13", "idna", "utf-7", "punycode", "utf-16", "hex"]
)
def test_an_encoding_that_is_none_is_not_obeyed(label):
    data = f"<meta charset={label}>äöü".encode()
    assert decode(data, declared=True).endswith("äöü")


def test_the_mark_beats_the_declaration_and_a_declaration_is_only_heeded_when_asked():
    assert decode(codecs.BOM_UTF8 + "<meta charset=koi8-r>ä".encode(), declared=True).endswith("ä")
    assert decode("<meta charset=koi8-r>ä".encode()).endswith("ä")


@pytest.mark.parametrize("codec", ["utf-16-le", "utf-16-be"])
def test_utf16_without_a_mark_is_recognised(codec):
    assert decode("plain words here".encode(codec)) == "plain words here"


def test_a_cut_letter_at_the_end_does_not_make_utf8_windows():
    assert decode("déjà vu ä".encode()[:-1]) == "déjà vu �"


def test_stray_nuls_and_bad_bytes_are_replaced():
    assert decode(b"a" * 100 + b"\x00b") == "a" * 100 + "�b"
    assert "�" in decode(b"\xef\xbb\xbfa\xff\xfe")


@pytest.mark.parametrize(
    "data",
    [
        b"%PDF-1.7 x",
        b"\x1f\x8b\x08rest",
        b"PK\x03\x04rest",
        b"\x89PNG\r\n",
        b"\xff\xd8\xffrest",
        bytes(range(32)) * 9,
    ],
)
def test_binary_data_is_refused(data):
    with pytest.raises(DocumentError, match="binary"):
        decode(data)


@given(st.binary(max_size=300))
def test_any_bytes_give_clean_text_or_our_error(data):
    try:
        text = decode(data, declared=True)
    except DocumentError:
        return
    assert "\x00" not in text
    text.encode("utf-8")
