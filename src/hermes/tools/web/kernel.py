"""The web kernel: validates what is asked, calls the injected backends, judges what comes back.

It resolves nothing itself. Rows and pages from a backend are untrusted: a bad row is dropped with its
reason, or fails the whole call with `strict`. Every URL asked for gets exactly one document, in the order
asked, whatever order the backend answered in.
"""

import datetime as dt
from collections.abc import Awaitable, Callable, Coroutine, Mapping, Sequence
from typing import Any

import msgspec

from hermes import discover
from hermes.errors import HermesError, UsageError, WebError
from hermes.protocols import Compressor, Document, Query, SearchRow, WebBackend
from hermes.tools.web.addresses import Blocked, Gate, Refusal, matched, same, spelled, split
from hermes.tools.web.budget import PageArchive, fit, without_embedded_images
from hermes.tools.web.filters import ask, judged
from hermes.tools.web.rows import judged_rows

DEFAULT_LIMIT = 5
MOST_RESULTS = 100
MOST_URLS = 5
DEFAULT_BUDGET = 15_000
COMPRESS_FLOOR = 5_000
ANSWER_TITLE = "Search Answer"
_NUMERIC = (int, float, str)

Log = Callable[[str, dict[str, Any]], None]
"""Told of every call: the tool, and what there is to know of it."""

Reorder = Callable[[Query, Sequence[SearchRow]], Awaitable[tuple[list[SearchRow], tuple[str, ...]]]]
"""Gives the rows in another order, with what is to be known of it."""


class SearchOutcome(msgspec.Struct, frozen=True):
    """What a search gave: rows that hold, who served them, why others were dropped, and what to know."""

    rows: tuple[SearchRow, ...]
    served_by: str
    dropped: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    among_several: bool = False
    """Whether others could have served it."""


class ReadPage(msgspec.Struct, frozen=True):
    url: str
    title: str
    content: str
    error: str | None
    blocked: Blocked | None = None
    final_url: str = ""
    """Where the page really was, when it was somewhere else."""


class ExtractOutcome(msgspec.Struct, frozen=True):
    pages: tuple[ReadPage, ...]
    served_by: str


class Wanted(msgspec.Struct, frozen=True):
    """One page that was asked for: its address as it is sent, or why it is not."""

    url: str
    refusal: Refusal | None = None


def today() -> dt.date:
    return dt.datetime.now(dt.UTC).date()


class WebKernel:
    """Search and extraction over two backends, which may be the same one. Each is made when first used.

    `gate` judges addresses before and after a backend has seen them. `compressor` makes pages from
    `compress_floor` characters on shorter. `reorder` changes the order of the backend. `log` is told of
    every call, where there is one.
    """

    def __init__(
        self,
        search_backend: Callable[[], WebBackend],
        extract_backend: Callable[[], WebBackend],
        *,
        archive: PageArchive,
        char_limit: int = DEFAULT_BUDGET,
        gate: Gate = Gate(),  # noqa: B008 - it has no state
        compressor: Compressor | None = None,
        compress_floor: int = COMPRESS_FLOOR,
        reorder: Reorder | None = None,
        strict: bool = False,
        today: Callable[[], dt.date] = today,
        log: Log | None = None,
    ) -> None:
        self._search = search_backend
        self._extract = extract_backend
        self._archive = archive
        self._char_limit = char_limit
        self._gate = gate
        self._compressor = compressor
        self._compress_floor = compress_floor
        self._reorder = reorder
        self._strict = strict
        self._today = today
        self._log = log

    def search(
        self, query: object, limit: object = DEFAULT_LIMIT, filters: Mapping[str, object] | None = None
    ) -> Coroutine[Any, Any, SearchOutcome]:
        """Search; `filters` are the fields of `Query` that narrow it."""
        most = clamp_limit(limit)
        if self._log is None:
            return self._found(query, most, filters)
        return self._logged(self._log, query, most, filters)

    async def _logged(
        self, log: Log, query: object, limit: int, filters: Mapping[str, object] | None
    ) -> SearchOutcome:
        asked = {"query": query, "limit": limit}
        try:
            outcome = await self._found(query, limit, filters)
        except HermesError as error:
            log("web_search", {"parameters": asked, "error": str(error), "results_count": 0})
            raise
        log("web_search", {"parameters": asked, **_search_figures(outcome)})
        return outcome

    async def _found(self, query: object, limit: int, filters: Mapping[str, object] | None) -> SearchOutcome:
        wanted = _query(query, limit, filters)
        backend = self._search()
        found = await ask(backend, wanted, self._today)
        good, dropped, repeated = judged_rows(found.rows, backend.schemes, wanted)
        if self._strict and dropped:
            raise WebError(f"Invalid web search result: {dropped[0]}")
        notes = (*found.notes, *_repetitions(repeated)) if repeated else found.notes
        if self._reorder is not None and len(good) > 1:
            good, more = await self._reorder(wanted, good)
            notes += more
        if not good and found.answer:
            good = [SearchRow(title=ANSWER_TITLE, url="", description=found.answer)]
        return SearchOutcome(
            rows=tuple(good[:limit]),
            served_by=found.served_by or backend.name,
            dropped=tuple(dropped),
            notes=notes,
            among_several=bool(found.served_by),
        )

    async def extract(
        self, items: object, char_limit: object = None, *, in_all: int | None = None
    ) -> ExtractOutcome:
        """Read pages, each cut to `char_limit`; `in_all` bounds them together."""
        wanted = [self._wanted(item, index) for index, item in enumerate(_as_list(items)[:MOST_URLS])]
        if not wanted:
            raise UsageError("no URL to read", hint="give at least one URL")
        budget = clamp_budget(char_limit if char_limit is not None else self._char_limit)
        if in_all is not None:
            budget = min(budget, in_all // len(wanted))
        asked = {"urls": [each.url for each in wanted], "format": "markdown", "char_limit": budget}
        try:
            documents, served_by = await self._read(wanted)
            short = await self._shortened(documents)
        except HermesError as error:
            if self._log is not None:
                failure = {"error": str(error), "pages_extracted": 0}
                self._log("web_extract", {"parameters": asked, **failure})
            raise
        pages = tuple(self._page(each, documents, short, budget) for each in wanted)
        if self._log is not None:
            self._log("web_extract", {"parameters": asked, **_figures(pages, documents, short)})
        return ExtractOutcome(pages=pages, served_by=served_by)

    def _wanted(self, item: object, index: int) -> Wanted:
        """One input item: text, or a search row passed on as it was."""
        if isinstance(item, Mapping):
            item = item.get("url") or item.get("href")
        if not isinstance(item, str) or not item.strip():
            return Wanted("", Refusal(f"Invalid URL item at index {index}"))
        return Wanted(spelled(item), self._gate.judge(item.strip()))

    async def _read(self, wanted: Sequence[Wanted]) -> tuple[dict[str, Document], str]:
        """The document of each page that may be read, by its URL, and who read them."""
        allowed = dict.fromkeys(each.url for each in wanted if each.refusal is None)
        if not allowed:
            return {}, ""
        backend = self._extract()
        readable = [url for url in allowed if _is_readable(url, backend.schemes)]
        documents = {
            url: Document(url=url, error=_unreadable(url, backend)) for url in allowed if url not in readable
        }
        missing = "the backend returned nothing for this address"
        documents |= {url: Document(url=url, error=missing) for url in readable}
        documents |= matched(readable, _sound(await backend.extract(readable)) if readable else ())
        served = dict.fromkeys(each.served_by for each in documents.values() if each.served_by)
        return documents, ", ".join(served) or backend.name

    async def _shortened(self, documents: Mapping[str, Document]) -> dict[str, str]:
        if self._compressor is None:
            return {}
        texts = {
            url: without_embedded_images(each.content) for url, each in documents.items() if not each.error
        }
        # Loaded here because most runs have no compressor.
        short: dict[str, str] = await discover.module("hermes.tools.web.compressing").shortened(
            texts, self._compressor, floor=self._compress_floor, strict=self._strict
        )
        return short

    def _page(
        self, wanted: Wanted, documents: Mapping[str, Document], short: Mapping[str, str], budget: int
    ) -> ReadPage:
        url, refusal = wanted.url, wanted.refusal
        document = documents.get(url, Document(url=url))
        if refusal is None and document.final_url:
            refusal = self._gate.judge(document.final_url)
        if refusal is not None:
            return ReadPage(url=url, title="", content="", error=refusal.reason, blocked=refusal.blocked)
        if document.error is not None:
            return ReadPage(url=url, title=document.title, content="", error=document.error)
        content = fit(document.content, budget, lambda text: self._archive.keep(url, text), short.get(url))
        final = document.final_url if _is_elsewhere(document.final_url, url) else ""
        return ReadPage(url=url, title=document.title, content=content, error=None, final_url=final)


def _query(words: object, limit: int, filters: Mapping[str, object] | None) -> Query:
    text = words.strip() if isinstance(words, str) else ""
    if not text:
        raise UsageError("the search query is empty", hint="say what to look for")
    return judged(text, limit, filters) if filters else Query(text=text, limit=limit)


def clamp_limit(limit: object) -> int:
    """A result count between 1 and 100; what is no number means the default."""
    return _between(1, limit, MOST_RESULTS, DEFAULT_LIMIT)


def clamp_budget(limit: object) -> int:
    """A character budget between 2,000 and 500,000; what is no number means the default."""
    return _between(2_000, limit, 500_000, DEFAULT_BUDGET)


def _between(least: int, value: object, most: int, default: int) -> int:
    if not isinstance(value, _NUMERIC):
        return default
    try:
        whole = int(value)
    except (ValueError, OverflowError):
        return default
    return least if whole < least else most if whole > most else whole


def _sound(documents: Sequence[Document]) -> list[Document]:
    """The documents with texts where texts belong; what has no address belongs nowhere."""
    return [
        msgspec.structs.replace(each, title=each.title or "", content=each.content or "")
        for each in documents
        if isinstance(each.url, str)
    ]


def _is_elsewhere(final_url: str, url: str) -> bool:
    """Whether a page was somewhere else than it was looked for; its part after `#` is the same page."""
    return bool(final_url) and same(final_url.partition("#")[0]) != same(url.partition("#")[0])


def _as_list(items: object) -> list[object]:
    if isinstance(items, str):
        return [items]
    return list(items) if isinstance(items, list | tuple) else []


def _is_readable(url: str, schemes: Sequence[str]) -> bool:
    return (split(url) or ("", ""))[0] in schemes


def _unreadable(url: str, backend: WebBackend) -> str:
    if url.startswith(("/", ".", "~")):
        return "this is not an address, and no file that is there"
    if "://" not in url and ":" not in url.partition("/")[0]:
        return f"the address has no scheme: write it as `https://{url}`"
    kinds = ", ".join(f"`{scheme}:`" for scheme in backend.schemes)
    return f"the backend `{backend.name}` reads only {kinds} addresses"


def _repetitions(count: int) -> tuple[str, ...]:
    return (f"{count} {'row was' if count == 1 else 'rows were'} left out: the page of another row",)


def _search_figures(outcome: SearchOutcome) -> dict[str, Any]:
    """What a log says of a search."""
    size = sum(len(row.title) + len(row.url) + len(row.description) for row in outcome.rows)
    sizes = {"original_response_size": size, "final_response_size": size}
    return {"error": None, "results_count": len(outcome.rows), **sizes}


def _figures(
    pages: Sequence[ReadPage], documents: Mapping[str, Document], short: Mapping[str, str]
) -> dict[str, Any]:
    """What a log says of pages."""
    cut = [
        {"url": page.url, "original_size": len(documents[page.url].content), "sent_size": len(page.content)}
        for page in pages
        if page.url in documents and len(page.content) != len(documents[page.url].content) and not page.error
    ]
    return {
        "error": None,
        "pages_extracted": sum(page.error is None for page in pages),
        "pages_truncated": len(cut),
        "original_response_size": sum(len(each.content) for each in documents.values()),
        "final_response_size": sum(len(page.content) for page in pages),
        "truncation_metrics": cut,
        "processing_applied": ["compressed"] * bool(short) + ["truncated"] * bool(cut),
    }
