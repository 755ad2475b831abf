"""The web kernel: validates what is asked, calls the injected backends, judges what comes back.

It resolves nothing itself. Rows and pages from a backend are untrusted: a bad row is dropped with its
reason, or fails the whole call with `strict`. Every URL asked for gets exactly one document, in the order
asked, whatever order the backend answered in.
"""

import datetime as dt
from collections.abc import Callable, Mapping, Sequence
from urllib.parse import urlsplit

import msgspec

from hermes.errors import WebError
from hermes.protocols import Document, Query, SearchRow, WebBackend
from hermes.tools.web.budget import PageArchive, fit
from hermes.tools.web.filters import ask, is_within, judged

DEFAULT_LIMIT = 5
MOST_RESULTS = 100
MOST_URLS = 5
DEFAULT_BUDGET = 15_000
ANSWER_TITLE = "Search Answer"


class FoundRow(msgspec.Struct, frozen=True):
    title: str
    url: str
    description: str
    position: int
    date: str = ""


class SearchOutcome(msgspec.Struct, frozen=True):
    """What a search gave: rows that hold, who served them, why others were dropped, and what to know."""

    rows: tuple[FoundRow, ...]
    served_by: str
    dropped: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


class ReadPage(msgspec.Struct, frozen=True):
    url: str
    title: str
    content: str
    error: str | None


class ExtractOutcome(msgspec.Struct, frozen=True):
    pages: tuple[ReadPage, ...]
    served_by: str


def today() -> dt.date:
    return dt.datetime.now(dt.UTC).date()


class WebKernel:
    """Search and extraction over two backends, which may be the same one. Each is made when first used."""

    def __init__(
        self,
        search_backend: Callable[[], WebBackend],
        extract_backend: Callable[[], WebBackend],
        *,
        archive: PageArchive,
        char_limit: int = DEFAULT_BUDGET,
        strict: bool = False,
        today: Callable[[], dt.date] = today,
    ) -> None:
        self._search = search_backend
        self._extract = extract_backend
        self._archive = archive
        self._char_limit = char_limit
        self._strict = strict
        self._today = today

    async def search(
        self, query: object, limit: object = DEFAULT_LIMIT, filters: Mapping[str, object] | None = None
    ) -> SearchOutcome:
        """Search; `filters` are the fields of `Query` that narrow it."""
        text = query.strip() if isinstance(query, str) else ""
        if not text:
            raise WebError("the search query is empty", hint="say what to look for")
        wanted = judged(text, clamp_limit(limit), filters or {})
        backend = self._search()
        found = await ask(backend, wanted, self._today())
        problems = [_problem(row, backend.schemes, wanted) for row in found.rows]
        dropped = tuple(problem for problem in problems if problem)
        if self._strict and dropped:
            raise WebError(f"Invalid web search result: {dropped[0]}")
        good = [row for row, problem in zip(found.rows, problems, strict=True) if not problem]
        if not found.rows and found.answer:
            good = [SearchRow(title=ANSWER_TITLE, url="", description=found.answer)]
        return SearchOutcome(
            rows=tuple(_numbered(row, place) for place, row in enumerate(good[: wanted.limit], start=1)),
            served_by=found.served_by or backend.name,
            dropped=dropped,
            notes=found.notes,
        )

    async def extract(
        self, items: object, char_limit: object = None, *, in_all: int | None = None
    ) -> ExtractOutcome:
        """Read pages, each cut to `char_limit`; `in_all` bounds them together."""
        asked = [_url_of(item, index) for index, item in enumerate(_as_list(items)[:MOST_URLS])]
        if not asked:
            raise WebError("no URL to read", hint="give at least one URL")
        backend = self._extract()
        readable = list(
            dict.fromkeys(url for url in asked if isinstance(url, str) and _is_readable(url, backend.schemes))
        )
        documents = match_by_url(readable, await backend.extract(readable) if readable else ())
        budget = clamp_budget(char_limit if char_limit is not None else self._char_limit)
        if in_all is not None:
            budget = min(budget, in_all // len(asked))
        pages = tuple(self._page(url, documents, budget, backend) for url in asked)
        return ExtractOutcome(pages=pages, served_by=backend.name)

    def _page(
        self, url: "str | Document", documents: Mapping[str, Document], budget: int, backend: WebBackend
    ) -> ReadPage:
        document = url if isinstance(url, Document) else documents.get(url)
        if document is None:
            reads = ", ".join(f"`{scheme}:`" for scheme in backend.schemes)
            document = Document(
                url=str(url), error=f"the backend `{backend.name}` reads only {reads} addresses"
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


def _is_readable(url: str, schemes: Sequence[str]) -> bool:
    return urlsplit(url).scheme.lower() in schemes


def _problem(row: SearchRow, schemes: Sequence[str], query: Query) -> str:
    """Why a row is not shown; empty when it is."""
    if not isinstance(row.url, str) or not row.url:
        return "a row has no URL"
    try:
        parts = urlsplit(row.url)
        host = parts.hostname or ""
    except ValueError:
        return "a row has a URL that is none"
    if parts.scheme.lower() not in schemes or not (parts.netloc or parts.path):
        return "a row has a URL of a kind that is not read here"
    if query.include_domains and not is_within(host, query.include_domains):
        return f"a row is from `{host}`, which is not one of the wanted domains"
    if is_within(host, query.exclude_domains):
        return f"a row is from `{host}`, which is not wanted"
    return ""


def _numbered(row: SearchRow, position: int) -> FoundRow:
    return FoundRow(
        title=row.title or "",
        url=row.url,
        description=row.description or "",
        position=position,
        date=row.date or "",
    )


def _canonical(url: str) -> str:
    return url.strip().rstrip("/").lower()
