"""From bytes of unknown encoding to text that holds no NUL and no lone surrogate."""

import codecs
import re

from hermes.errors import DocumentError

_BOMS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_DECLARED = re.compile(
    rb"<(?:meta\b[^>]{0,500}?\bcharset|\?xml\b[^>]{0,200}?\bencoding)\s*=\s*[\"']?\s*([\w.:-]{2,40})", re.I
)
_DECLARED_WITHIN = 4096

# What a page calls an encoding is often its smaller ancestor; browsers read these as the larger one.
_WIDER = {
    "ascii": "cp1252",
    "iso8859-1": "cp1252",
    "iso8859-9": "cp1254",
    "gb2312": "gb18030",
    "gbk": "gb18030",
    "shift_jis": "cp932",
    "euc_kr": "cp949",
    "big5": "big5hkscs",
    "tis-620": "cp874",
}
_TRUSTED = re.compile(
    r"utf-8|cp125\d|cp866|cp874|cp932|cp949|iso8859-\d+|koi8-[ru]|mac-\w+|euc_jp|iso2022_jp|gb18030|big5hkscs"
)

_SAMPLE = 4096
_MAGIC = (
    b"%PDF-",
    b"\x1f\x8b",
    b"PK\x03\x04",
    b"\x89PNG",
    b"\xff\xd8\xff",
    b"GIF8",
    b"\x7fELF",
    b"Rar!",
    b"BZh",
)
_CONTROL = bytes(set(range(1, 32)) - set(b"\t\n\f\r\x1b"))


def decode(data: bytes, *, declared: bool = False, told: str = "") -> str:
    """The text of some bytes: byte order mark, `told` encoding, declared if asked for, UTF-8, windows-1252.

    Invalid bytes and NULs become U+FFFD. Binary data raises `DocumentError`.
    """
    encoding = _marked(data) or _bare_utf16(data)
    if encoding is None:
        refuse_binary(data)
        encoding = _known(told) or (_declared(data) if declared else None) or _guessed(data)
    return data.decode(encoding, "replace").removeprefix("\ufeff").replace("\x00", "\ufffd")


def refuse_binary(data: bytes) -> None:
    """Raise `DocumentError` when the data starts as no text does; a NUL between words is only a stray."""
    sample = data[:_SAMPLE]
    controls = len(sample) - len(sample.translate(None, _CONTROL))
    if sample.startswith(_MAGIC) or controls > len(sample) // 20 or sample.count(0) > len(sample) // 4:
        raise DocumentError("is binary data, not text")


def _marked(data: bytes) -> str | None:
    return next((encoding for mark, encoding in _BOMS if data.startswith(mark)), None)


def _bare_utf16(data: bytes) -> str | None:
    """UTF-16 without its mark shows as text with a NUL beside nearly every letter."""
    sample = data[:_SAMPLE]
    enough = len(sample) * 2 // 5
    even, odd = sample[0::2].count(0), sample[1::2].count(0)
    if len(sample) >= 8 and max(even, odd) >= enough and min(even, odd) <= len(sample) // 50:
        return "utf-16-be" if even > odd else "utf-16-le"
    return None


def _declared(data: bytes) -> str | None:
    found = _DECLARED.search(data, 0, _DECLARED_WITHIN)
    return _known(found[1].decode("ascii", "replace")) if found else None


def _known(label: str) -> str | None:
    """The codec that a label means, when it is one that text is written in."""
    try:
        name = codecs.lookup(label).name
    except (LookupError, ValueError):
        return None
    name = _WIDER.get(name, name)
    return name if _TRUSTED.fullmatch(name) else None


def _guessed(data: bytes) -> str:
    """UTF-8 if it is valid, or would be but for a letter cut at the end."""
    try:
        data.decode("utf-8")
    except UnicodeDecodeError as error:
        is_cut = error.reason == "unexpected end of data" and not data[: error.start].isascii()
        return "utf-8" if is_cut else "cp1252"
    return "utf-8"
