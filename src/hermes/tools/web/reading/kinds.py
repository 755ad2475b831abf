"""What some fetched bytes are: by themselves first, then by what their server calls them. Pure."""

import re
from typing import Literal

from hermes.errors import DocumentError

Kind = Literal["html", "pdf", "feed", "json", "text"]

_LOOK = 1024
_MAGIC: tuple[tuple[bytes, str], ...] = (
    (b"\x89PNG\r\n", "a PNG picture"),
    (b"\xff\xd8\xff", "a JPEG picture"),
    (b"GIF8", "a GIF picture"),
    (b"RIFF", "a picture, a sound or a film"),
    (b"BM", ""),
    (b"II*\x00", "a TIFF picture"),
    (b"MM\x00*", "a TIFF picture"),
    (b"\x00\x00\x01\x00", "an icon"),
    (b"PK\x03\x04", "a ZIP archive or an office document"),
    (b"PK\x05\x06", "an empty ZIP archive"),
    (b"\x1f\x8b", "a gzip archive"),
    (b"BZh", "a bzip2 archive"),
    (b"\xfd7zXZ\x00", "an XZ archive"),
    (b"7z\xbc\xaf\x27\x1c", "a 7-Zip archive"),
    (b"Rar!\x1a\x07", "a RAR archive"),
    (b"\x28\xb5\x2f\xfd", "a Zstandard archive"),
    (b"\x7fELF", "a program"),
    (b"MZ", ""),
    (b"\xca\xfe\xba\xbe", "a program"),
    (b"\xcf\xfa\xed\xfe", "a program"),
    (b"\x00asm", "a program"),
    (b"\xd0\xcf\x11\xe0", "an old office document"),
    (b"SQLite format 3\x00", "a database"),
    (b"OggS", "a sound or a film"),
    (b"ID3", ""),
    (b"fLaC", "a sound"),
    (b"\x1a\x45\xdf\xa3", "a film"),
    (b"wOFF", "a font"),
    (b"wOF2", "a font"),
)
_FAMILIES = {"image": "a picture", "audio": "a sound", "video": "a film", "font": "a font"}
_BEFORE_MARKUP = re.compile(r"(?:\s+|<\?[^>]*+>|<!--(?:(?!-->).)*+-->)*+", re.DOTALL)
_DOCTYPE = re.compile(r"<!doctype\s+([a-z0-9:]+)[^>\[]*+(?:\[[^\]]*+\][^>]*+)?>\s*+", re.I)
_TAG = re.compile(r"<([a-z][a-z0-9:-]*+)(?=[\s/>])", re.I)
_FEEDS = frozenset({"rss", "feed", "rdf:rdf"})
_HTML_TAGS = frozenset(
    {
        *("html", "head", "body", "title", "meta", "link", "base", "script", "style", "frameset", "iframe"),
        *("main", "article", "section", "header", "footer", "nav", "aside", "div", "span", "center", "form"),
        *("h1", "h2", "h3", "h4", "h5", "h6", "p", "pre", "a", "b", "i", "em", "strong", "br", "hr", "img"),
        *("ul", "ol", "li", "dl", "table"),
    }
)


def kind_of(content_type: str, body: bytes) -> Kind:
    """What to read the bytes as; raises `DocumentError` for what has no text to read."""
    told = content_type.partition(";")[0].strip().lower()
    if not body.strip(b" \t\r\n\x00"):
        raise DocumentError("is empty")
    if b"%PDF-" in body[:_LOOK]:
        return "pdf"
    _refuse_binary(told, body)
    tag = first_tag(body)
    if tag in _FEEDS:
        return "feed"
    if tag == "svg":
        raise DocumentError("is a picture, not text")
    if told in ("text/html", "application/xhtml+xml") or (tag in _HTML_TAGS and told != "text/plain"):
        return "html"
    if _is_json(told, body):
        return "json"
    if told == "application/pdf":
        raise DocumentError("is called a PDF and is none")
    return "text"


def charset_of(content_type: str) -> str:
    """The encoding that a server tells, or nothing."""
    found = re.search(r";\s*charset\s*=\s*[\"']?([\w.:-]{2,40})", content_type[:500], re.I)
    return found[1] if found else ""


def first_tag(body: bytes) -> str:
    """The name of the first element, in small letters; empty when the bytes do not begin as markup does."""
    start = body[: 4 * _LOOK]
    encoding = "utf-16" if start.startswith((b"\xff\xfe", b"\xfe\xff")) else "utf-8-sig"
    text = start.decode(encoding, "replace").replace("\x00", "")
    at = _end_of(_BEFORE_MARKUP, text, 0)
    doctype = _DOCTYPE.match(text, at)
    if doctype:
        if doctype[1].lower() == "html":
            return "html"
        at = _end_of(_BEFORE_MARKUP, text, doctype.end())
    tag = _TAG.match(text, at)
    return tag[1].lower() if tag else ""


def _end_of(pattern: re.Pattern[str], text: str, at: int) -> int:
    found = pattern.match(text, at)
    return found.end() if found else at


def _refuse_binary(told: str, body: bytes) -> None:
    """Bytes that begin as no text does. Short marks that a text may begin with count only beside a NUL."""
    start = body[:_LOOK]
    for mark, name in _MAGIC:
        if start.startswith(mark) and (name or b"\x00" in start):
            raise DocumentError(f"is {name or 'a program, a picture or a sound'}, not text")
    if start[4:8] == b"ftyp":
        raise DocumentError("is a film or a picture, not text")
    family = _FAMILIES.get(told.partition("/")[0])
    if family and told != "image/svg+xml" and not _looks_like_text(start):
        raise DocumentError(f"is {family}, not text")


def _looks_like_text(start: bytes) -> bool:
    return b"\x00" not in start and start[:64].isascii()


def _is_json(told: str, body: bytes) -> bool:
    if told.endswith(("/json", "+json")):
        return True
    is_unknown = not told or told in ("application/octet-stream", "text/javascript", "application/javascript")
    return is_unknown and body.lstrip()[:1] in (b"{", b"[")
