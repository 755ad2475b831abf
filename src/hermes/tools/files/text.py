"""The bytes of a file as text and back: mark, encoding and line endings stay what they were."""

import codecs

import msgspec

from hermes.errors import ToolError

SAMPLE = 1 << 16

_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_KINDS = (
    (b"%PDF-", "a PDF document"),
    (b"\x89PNG", "a PNG picture"),
    (b"\xff\xd8\xff", "a JPEG picture"),
    (b"GIF8", "a GIF picture"),
    (b"PK\x03\x04", "a ZIP archive or an office document"),
    (b"\x1f\x8b", "a gzip archive"),
    (b"BZh", "a bzip2 archive"),
    (b"\xfd7zXZ", "an xz archive"),
    (b"Rar!", "a RAR archive"),
    (b"7z\xbc\xaf", "a 7z archive"),
    (b"SQLite format 3", "an SQLite database"),
    (b"\x7fELF", "a program"),
    (b"\xcf\xfa\xed\xfe", "a program"),
    (b"MZ", "a Windows program"),
    (b"OggS", "a sound or film"),
    (b"ID3", "a sound"),
    (b"RIFF", "a sound, film or picture"),
)
_CONTROL = bytes(set(range(32)) - set(b"\t\n\f\r\x1b\b"))


class Form(msgspec.Struct, frozen=True):
    """How a text is written down."""

    encoding: str
    mark: bytes = b""

    def decode(self, data: bytes) -> str:
        return data[len(self.mark) :].decode(self.encoding, "replace")

    def encode(self, text: str) -> bytes:
        """The text as bytes; raises `UnicodeEncodeError` when the encoding has no such characters."""
        return self.mark + text.encode(self.encoding)


def form_of(sample: bytes, shown: str) -> Form:
    """How the file that begins with `sample` is written; raises `ToolError` when it is no text."""
    for mark, encoding in _MARKS:
        if sample.startswith(mark):
            return Form(encoding, mark)
    kind = binary_kind(sample)
    if kind:
        raise ToolError(f"`{shown}` is {kind}, not text")
    return Form("utf-8" if _is_utf8(sample) else "latin-1")


def binary_kind(sample: bytes) -> str | None:
    """What kind of data begins like this, None when it may be text."""
    for magic, kind in _KINDS:
        if sample.startswith(magic) and not (kind == "a Windows program" and b"\0" not in sample):
            return kind
    controls = len(sample) - len(sample.translate(None, _CONTROL))
    return "binary data" if b"\0" in sample or controls > len(sample) // 20 else None


def _is_utf8(sample: bytes) -> bool:
    # A letter may be cut at the end of the sample; the decoder waits for the rest of it.
    try:
        codecs.getincrementaldecoder("utf-8")().decode(sample)
    except UnicodeDecodeError:
        return False
    return True
