"""News feeds (RSS, Atom, RDF) made readable: a list of their entries. Entities are not expanded."""

from xml.parsers import expat

import msgspec

from hermes.errors import DocumentError
from hermes.protocols import Page
from hermes.tools.web.reader.html import read_html

MAX_ENTRIES = 50
MAX_DEPTH = 100
MAX_TEXT = 100_000
MAX_SUMMARY = 1_000

_ENTRIES = frozenset({"item", "entry"})
_SUMMARIES = ("encoded", "content", "description", "summary")
_DATES = ("pubdate", "published", "updated", "date")
_FIELDS = frozenset({"title", "subtitle", "link", "guid", "id", "author", "creator", *_SUMMARIES, *_DATES})


class Entry(msgspec.Struct):
    """The feed itself, or one entry of it: fields by their plain names."""

    fields: dict[str, str] = {}

    def first(self, *names: str) -> str:
        return next((self.fields[name] for name in names if self.fields.get(name)), "")


class _Enough(Exception):
    """No more entries are wanted."""


def read_feed(text: str, url: str) -> Page:
    """The entries of a feed, newest as the feed has them; what is broken ends the list and is said."""
    reader = _Reader()
    notes: tuple[str, ...] = ()
    try:
        reader.parse(text)
    except _Enough:
        notes = (f"only the first {MAX_ENTRIES} entries are given",)
    except expat.ExpatError as error:
        if not reader.entries:
            raise DocumentError(f"is a broken feed: {expat.ErrorString(error.code)}") from None
        notes = (f"the feed is broken at line {error.lineno}; its entries up to there are given",)
    title = _one_line(reader.feed.first("title"))
    parts = [f"# {title}" if title else "", _text(reader.feed.first("description", "subtitle"), url)]
    parts += [_shown(entry, url) for entry in reader.entries]
    return Page(markdown="\n\n".join(filter(None, parts)), title=title, notes=notes)


class _Reader:
    """Collects the fields of a feed and of its entries while expat walks through it."""

    def __init__(self) -> None:
        self.feed = Entry()
        self.entries: list[Entry] = []
        self._path: list[str] = []
        self._place: list[Entry] = [self.feed]
        self._text: list[str] | None = None
        self._size = 0

    def parse(self, text: str) -> None:
        parser = expat.ParserCreate("utf-8")
        parser.buffer_text = True
        parser.StartElementHandler = self._start
        parser.EndElementHandler = self._end
        parser.CharacterDataHandler = self._characters
        parser.EntityDeclHandler = _refuse_entity
        parser.UseForeignDTD(False)
        parser.Parse(text.encode("utf-8", "replace"), True)

    def _start(self, tag: str, attributes: dict[str, str]) -> None:
        name = tag.rpartition(":")[2].lower()
        self._path.append(name)
        if len(self._path) > MAX_DEPTH:
            raise DocumentError("is nested too deeply")
        if name in _ENTRIES:
            if len(self.entries) == MAX_ENTRIES:
                raise _Enough
            self.entries.append(Entry({}))
            self._place.append(self.entries[-1])
        elif name == "link" and attributes.get("rel", "alternate") == "alternate" and attributes.get("href"):
            self._place[-1].fields.setdefault("link", attributes["href"])
        elif name in _FIELDS and self._text is None:
            self._text = []
            self._size = 0

    def _end(self, tag: str) -> None:
        name = self._path.pop()
        if name in _ENTRIES and len(self._place) > 1:
            self._place.pop()
        elif name in _FIELDS and self._text is not None and not _FIELDS.intersection(self._path):
            value = "".join(self._text).strip()
            if value and self._belongs():
                self._place[-1].fields.setdefault(name, value)
            self._text = None

    def _belongs(self) -> bool:
        """Whether a field stands in the feed or an entry itself, not in an image or a form inside it."""
        return not self._path or self._path[-1] in ("channel", "feed", "item", "entry", "author")

    def _characters(self, data: str) -> None:
        if self._text is not None and self._size < MAX_TEXT:
            self._text.append(data)
            self._size += len(data)


def _refuse_entity(*_: object) -> None:
    raise DocumentError("declares entities of its own, which are not expanded")


def _shown(entry: Entry, url: str) -> str:
    title = _one_line(entry.first("title")) or "Untitled"
    link = entry.first("link") or _address(entry.first("guid", "id"))
    head = f"## [{title}]({link})" if link else f"## {title}"
    about = ", ".join(
        filter(None, (_one_line(entry.first(*_DATES)), _one_line(entry.first("creator", "author"))))
    )
    return "\n\n".join(filter(None, (head, about, _text(entry.first(*_SUMMARIES), url))))


def _address(text: str) -> str:
    return text if text.startswith(("http://", "https://")) else ""


def _one_line(text: str) -> str:
    plain = read_html(text).markdown if "<" in text or "&" in text else text
    return " ".join(plain.split())[:300]


def _text(html: str, url: str) -> str:
    text = read_html(html, url).markdown if html else ""
    return text if len(text) <= MAX_SUMMARY else text[:MAX_SUMMARY].rpartition(" ")[0] + " …"
