"""The web kernel: validates what is asked, calls the injected backends, judges what comes back.

It resolves nothing itself. Rows and pages from a backend are untrusted: a bad row is dropped and
counted, or fails the whole call with `strict`. Every URL asked for gets exactly one document, in
the order asked, whatever order the backend answered in.
"""

from collections.abc import Mapping, Sequence
from urllib.parse import urlsplit

import msgspec

from hermes.errors import WebError
from hermes.protocols import Document, SearchRow, WebBackend
from hermes.tools.web.budget import PageArchive, fit

DEFAULT_LIMIT = 5
MOST_RESULTS = 100
MOST_URLS = 5
DEFAULT_BUDGET = 15_000


class FoundRow(msgspec.Struct, frozen=True):
    title: str
    url: str
    description: str
    position: int


class SearchOutcome(msgspec.Struct, frozen=True):
    """What a search gave: rows that hold, who served them, and how many were not fit to show."""

    rows: tuple[FoundRow, ...]
    served_by: str
    dropped: int = 0


class ReadPage(msgspec.Struct, frozen=True):
    url: str
    title: str
    content: str
    error: str | None


class ExtractOutcome(msgspec.Struct, frozen=True):
    pages: tuple[ReadPage, ...]
    served_by: str


class WebKernel:
    """Search and extraction over two backends, which may be the same one."""

    def __init__(
        self,
        search_backend: WebBackend,
        extract_backend: WebBackend,
        *,
        archive: PageArchive,
        char_limit: int = DEFAULT_BUDGET,
        strict: bool = False,
    ) -> None:
        self._search = search_backend
        self._extract = extract_backend
        self._archive = archive
        self._char_limit = char_limit
        self._strict = strict

    @property
    def served_by(self) -> tuple[str, str]:
        """The names of the backends that search and that read."""
        return self._search.name, self._extract.name

    async def search(self, query: object, limit: object = DEFAULT_LIMIT) -> SearchOutcome:
        wanted = clamp_limit(limit)
        text = query.strip() if isinstance(query, str) else ""
        if not text:
            raise WebError("the search query is empty", hint="say what to look for")
        rows = await self._search.search(text, wanted)
        good = [row for row in rows if _has_usable_url(row, self._search.schemes)]
        if self._strict and len(good) < len(rows):
            raise WebError(
                f"Invalid web search result: {len(rows) - len(good)} of {len(rows)} rows have no usable URL"
            )
        found = tuple(
            FoundRow(title=row.title or "", url=row.url, description=row.description or "", position=position)
            for position, row in enumerate(good[:wanted], start=1)
        )
        return SearchOutcome(rows=found, served_by=self._search.name, dropped=len(rows) - len(good))

    async def extract(
        self, items: object, char_limit: object = None, *, in_all: int | None = None
    ) -> ExtractOutcome:
        """Read pages, each cut to `char_limit`; `in_all` bounds them together."""
        asked = [_url_of(item, index) for index, item in enumerate(_as_list(items)[:MOST_URLS])]
        if not asked:
            raise WebError("no URL to read", hint="give at least one URL")
        readable = list(dict.fromkeys(url for url in asked if isinstance(url, str) and self._readable(url)))
        documents = match_by_url(readable, await self._extract.extract(readable) if readable else ())
        budget = clamp_budget(char_limit if char_limit is not None else self._char_limit)
        if in_all is not None:
            budget = min(budget, in_all // len(asked))
        pages = tuple(self._page(url, documents, budget) for url in asked)
        served_by = dict.fromkeys(document.served_by for document in documents.values() if document.served_by)
        return ExtractOutcome(pages=pages, served_by=", ".join(served_by) or self._extract.name)

    def _readable(self, url: str) -> bool:
        return urlsplit(url).scheme.lower() in self._extract.schemes

    def _page(self, url: "str | Document", documents: Mapping[str, Document], budget: int) -> ReadPage:
        document = url if isinstance(url, Document) else documents.get(url)
        if document is None:
            reads = ", ".join(f"`{scheme}:`" for scheme in self._extract.schemes)
            document = Document(
                url=str(url), error=f"the backend `{self._extract.name}` reads only {reads} addresses"
            )
        if document.error is not None:
            return ReadPage(url=document.url, title=document.title, content="", error=document.error)
        content = fit(document.content, budget, lambda text: self._archive.keep(document.url, text))
        return ReadPage(url=document.url, title=document.title, content=content, error=None)


def clamp_limit(limit: object) -> int:
    """A result count between 1 and 100; what is no number means the default."""
    return min(max(_whole(limit, DEFAULT_LIMIT), 1), MOST_RESULTS)


def clamp_budget(limit: object) -> int:
    """A character budget between 2,000 and 500,000; what is no number means the default."""
    return min(max(_whole(limit, DEFAULT_BUDGET), 2_000), 500_000)


def _whole(value: object, default: int) -> int:
    if not isinstance(value, int | float | str):
        return default
    try:
        return int(value)
    except (ValueError, OverflowError):
        return default


def match_by_url(asked: Sequence[str], documents: Sequence[Document]) -> dict[str, Document]:
    """Each asked URL with its document, found by URL and never by position."""
    by_url = {_canonical(document.url): document for document in documents}
    missing = "the backend returned nothing for this address"
    return {url: by_url.get(_canonical(url)) or Document(url=url, error=missing) for url in asked}


def _as_list(items: object) -> list[object]:
    if isinstance(items, str):
        return [items]
    return list(items) if isinstance(items, list | tuple) else []


def _url_of(item: object, index: int) -> "str | Document":
    """The URL of one input item: text, or a search row passed on as it was."""
    if isinstance(item, Mapping):
        item = item.get("url") or item.get("href")
    if isinstance(item, str) and item.strip():
        return item.strip()
    return Document(url="", error=f"Invalid URL item at index {index}")


def _has_usable_url(row: SearchRow, schemes: Sequence[str]) -> bool:
    try:
        parts = urlsplit(row.url)
        return parts.scheme.lower() in schemes and bool(parts.netloc or parts.path)
    except (ValueError, AttributeError, TypeError):
        return False


def _canonical(url: str) -> str:
    return url.strip().rstrip("/").lower()
