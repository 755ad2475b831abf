"""What a page says about itself: title, author, date, language, site and address."""

import re
from collections.abc import Callable
from urllib.parse import urljoin, urlsplit

from selectolax.lexbor import LexborHTMLParser, LexborNode

MAX_FIELD = 500
MAX_DATA = 500_000

_UNSEEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u200b\u2028-\u202e\u2060\u2066-\u2069\ufeff\U000e0000-\U000e007f]"
)
_IN_ADDRESS = {" ": "%20", "(": "%28", ")": "%29", "<": "%3C", ">": "%3E", '"': "%22", "\\": "%5C"}
_ADDRESS = str.maketrans({**_IN_ADDRESS, **dict.fromkeys(map(chr, range(32)), "")})
_PLAIN = re.compile(r"https?://[\w.-]+(?:/[\w/.?=&%#+~,:;@!-]*)?", re.ASCII)
_PATH = re.compile(
    r"(?=/)(?:/[\w=&%+~,:@!-][\w.=&%+~,:@!-]*+)*+/?(?:\?[\w./=&%+~,:@!-]++)?(?:#[\w./=&%+~,:@!-]++)?",
    re.ASCII,
)
"""An address that only lacks the host: no part of it is empty or made of dots."""
_SCHEMES = ("http", "https", "mailto", "")

_STRING = r'"((?:[^"\\]|\\.){1,300}+)"'
_DATA_AUTHOR = re.compile(
    rf'"author"\s*:\s*(?:\[\s*)?(?:{_STRING}|\{{[^{{}}]{{0,500}}?"name"\s*:\s*(?:\[\s*)?{_STRING})'
)
_DATA_DATE = re.compile(rf'"(?:datePublished|dateCreated|uploadDate)"\s*:\s*{_STRING}')
_ESCAPE = re.compile(r"\\(?:u([0-9a-fA-F]{4})|(.))", re.DOTALL)
_ESCAPED = {"n": " ", "t": " ", "r": " ", "b": "", "f": ""}

_FIELDS = {
    "description": ("description", "og:description", "twitter:description"),
    "author": (
        "author",
        "article:author",
        "dc.creator",
        "parsely-author",
        "sailthru.author",
        "citation_author",
    ),
    "date": (
        "article:published_time",
        "datepublished",
        "date",
        "dc.date",
        "dc.date.issued",
        "parsely-pub-date",
        "sailthru.date",
        "publish-date",
        "pubdate",
        "citation_publication_date",
        "og:published_time",
    ),
    "site": ("og:site_name", "application-name", "al:android:app_name"),
}
_BYLINES = '[rel="author"], [itemprop="author"], .byline, .author-name'
_BY = re.compile(r"^(?:written\s+)?(?:by|von|par|por|di|door)\s*:?\s+", re.I)
_DATE = re.compile(r"\d{4}-\d{2}-\d{2}")

Resolve = Callable[[str], str | None]


class Head:
    """The fields of a page's head, read in one query."""

    def __init__(self, tree: LexborHTMLParser) -> None:
        self.fields: dict[str, str] = {}
        self.title = self.base = self.canonical = self.data = ""
        for node in tree.css(
            'meta, link[rel="canonical"], title, base[href], script[type="application/ld+json"]'
        ):
            self._take(node, node.attributes)
        root = tree.root
        self.language = field_text(root.attributes.get("lang")) if root is not None else ""

    def _take(self, node: LexborNode, attributes: dict[str, str | None]) -> None:
        tag = node.tag
        if tag == "meta":
            name = attributes.get("property") or attributes.get("name") or attributes.get("itemprop")
            content = attributes.get("content")
            if name and content:
                self.fields.setdefault(name.lower(), content)
        elif tag == "title":
            parent = node.parent
            if not self.title and parent is not None and parent.tag != "svg":
                self.title = field_text(node.text())
        elif tag == "base":
            self.base = self.base or attributes.get("href") or ""
        elif tag == "link":
            self.canonical = self.canonical or attributes.get("href") or ""
        elif len(self.data) < MAX_DATA:
            self.data += node.text()[:MAX_DATA]


def metadata(head: Head, tree: LexborHTMLParser, resolve: Resolve) -> dict[str, str]:
    """The fields that are known, each as one line."""
    found = {"lang": head.language} if head.language else {}
    for name, keys in _FIELDS.items():
        value = next((head.fields[key] for key in keys if head.fields.get(key, "").strip()), "")
        if name == "author" and (not value or "://" in value):
            value = _from_data(_DATA_AUTHOR, head.data) or _byline(tree) or value
        elif name == "date" and not value:
            value = _from_data(_DATA_DATE, head.data) or _time(tree)
        value = field_text(value)
        if value:
            found[name] = value
    canonical = resolve(field_text(head.canonical)) if head.canonical else None
    if canonical:
        found["canonical"] = canonical
    return found


def title(head: Head, tree: LexborHTMLParser) -> str:
    """The title as the page would be shared, as it is shown, or as its first heading says."""
    found = field_text(head.fields.get("og:title")) or head.title
    if not found:
        heading = tree.css_first("h1")
        found = field_text(heading.text()) if heading is not None else ""
    return found


def _from_data(pattern: re.Pattern[str], data: str) -> str:
    found = pattern.search(data)
    if found is None:
        return ""
    raw = next(filter(None, found.groups()), "")
    return _ESCAPE.sub(lambda m: chr(int(m[1], 16)) if m[1] else _ESCAPED.get(m[2], m[2]), raw)


def _byline(tree: LexborHTMLParser) -> str:
    node = tree.css_first(_BYLINES)
    text = _BY.sub("", field_text(node.text())) if node is not None else ""
    return text if len(text) <= 100 else ""


def _time(tree: LexborHTMLParser) -> str:
    node = tree.css_first("time[datetime]")
    value = (node.attributes.get("datetime") or "") if node is not None else ""
    return value if _DATE.match(value) else ""


def clean(markdown: str) -> str:
    """Without control characters and the invisible ones that hide or reorder text."""
    return _UNSEEN.sub("", markdown).strip()


def field_text(value: str | None) -> str:
    text = " ".join(_UNSEEN.sub("", value or "").split())[:MAX_FIELD]
    return text.encode("utf-8", "replace").decode("utf-8")


def resolver(head: Head, url: str) -> Resolve:
    """A function that makes the addresses of a page absolute."""
    start = _joined(url, head.base) or url
    host = _host(start)
    known: dict[str, str | None] = {}

    def resolve(address: str) -> str | None:
        if not start and address.lstrip().startswith("#"):
            return None
        if address not in known:
            if _PLAIN.fullmatch(address):
                known[address] = address
            elif host and _PATH.fullmatch(address):
                known[address] = f"{host}{address}"
            else:
                whole = _joined(start, address)
                known[address] = whole.translate(_ADDRESS) if whole else None
        return known[address]

    return resolve


def _host(url: str) -> str:
    """The scheme and host of an address as they stand before a path; empty where it has none."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return ""
    has_host = parts.scheme in ("http", "https") and parts.netloc
    return f"{parts.scheme}://{parts.netloc}".translate(_ADDRESS) if has_host else ""


def _joined(base: str, address: str) -> str | None:
    """An absolute address, relative only when the base is unknown; None when it is not one to follow."""
    try:
        whole = urljoin(base, address.strip())
        return whole if urlsplit(whole).scheme in _SCHEMES else None
    except ValueError:
        return None
