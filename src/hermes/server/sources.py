"""The pages that a run has seen, in the order of their numbers, and where an answer points to them."""

import re
from collections.abc import Iterable, Sequence
from typing import Any

import msgspec

from hermes.agent.untrusted import unfenced
from hermes.events import ToolFinished, ToolStarted
from hermes.messages import Citation

_MARK = re.compile(r"\[(\d{1,3})\]")
_MOST_WORDS = 1_000


class SearchResult(msgspec.Struct, frozen=True):
    """A page as Sonar tells of it."""

    title: str
    url: str
    date: str | None = None
    snippet: str = ""
    last_updated: str | None = None


class Mark(msgspec.Struct, frozen=True):
    """Where in a text a source is pointed to: the places of code points, the end not included."""

    start: int
    end: int
    url: str
    title: str


class Seen:
    """What the tools of a run brought in. `earlier` is what was seen before a turn that goes on."""

    def __init__(self, earlier: Sequence[SearchResult] = ()) -> None:
        self._earlier = earlier
        self._by_call: dict[str, list[SearchResult]] = {}
        self.searches = 0

    def begin(self, started: ToolStarted) -> None:
        """Calls are numbered in the order they begin, whichever ends first."""
        self._by_call[started.id] = []
        self.searches += started.name.endswith("_search")

    def take(self, finished: ToolFinished) -> None:
        if not finished.is_error:
            self._by_call[finished.id] = list(_pages(unfenced(finished.result)))

    def results(self, citations: Sequence[Citation] = ()) -> tuple[SearchResult, ...]:
        """Every page once; the n-th is what `[n]` means, also where a provider says so of its own sources."""
        found: dict[str, SearchResult] = {}
        brought = (page for pages in self._by_call.values() for page in pages)
        for page in (*self._earlier, *brought):
            known = found.get(page.url)
            found[page.url] = page if known is None else _fuller(known, page)
        return _numbered(list(found.values()), citations)


def _fuller(one: SearchResult, other: SearchResult) -> SearchResult:
    """Two tellings of one page: the words of the first, with what only the second has."""
    return SearchResult(
        one.title or other.title, one.url, one.date or other.date, one.snippet or other.snippet
    )


def _numbered(pages: list[SearchResult], citations: Sequence[Citation]) -> tuple[SearchResult, ...]:
    for cited in citations:
        if cited.url and not (cited.n <= len(pages) and pages[cited.n - 1].url == cited.url):
            page = next((page for page in pages if page.url == cited.url), None)
            named = page or SearchResult(cited.title, cited.url, snippet=cited.quote)
            pages = [*(page for page in pages if page is not named)]
            pages.insert(cited.n - 1, named)
    return tuple(pages)


def _pages(result: str) -> Iterable[SearchResult]:
    """The pages in the result of a search or of reading; whatever else a tool says brings none."""
    try:
        told = msgspec.json.decode(result)
    except msgspec.DecodeError:
        return
    match told:
        case {"data": {"web": list(rows)}} | {"results": list(rows)}:
            pass
        case _:
            rows = []
    for row in rows:
        if isinstance(row, dict) and _text(row, "url") and not row.get("error"):
            words = _text(row, "description") or _text(row, "content")
            yield SearchResult(
                title=_text(row, "title"),
                url=_text(row, "url"),
                date=_text(row, "date") or None,
                snippet=words[:_MOST_WORDS],
            )


def _text(row: dict[str, Any], name: str) -> str:
    value = row.get(name)
    return value if isinstance(value, str) else ""


def marks(text: str, citations: Iterable[Citation]) -> tuple[Mark, ...]:
    """Every place where a text points to a source that is known."""
    cited = {citation.n: citation for citation in citations if citation.url}
    return tuple(
        Mark(mark.start(), mark.end(), cited[number].url, cited[number].title or cited[number].url)
        for mark in _MARK.finditer(text)
        if (number := int(mark[1])) in cited
    )
