"""The pages that a run has seen, in the order of their numbers, and where an answer points to them."""

import re
from collections.abc import Iterable
from typing import Any

import msgspec

from hermes.agent.untrusted import unfenced
from hermes.events import Answer, ToolFinished, ToolStarted
from hermes.messages import Citation
from hermes.protocols import Source

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
    """What a run has seen. `earlier` is what was seen before a turn that goes on."""

    def __init__(self, earlier: Iterable[SearchResult] = ()) -> None:
        self._told = {page.url: page for page in earlier}
        self._sources: tuple[Source, ...] = ()
        self.searches = 0

    def begin(self, started: ToolStarted) -> None:
        self.searches += started.name.endswith("_search")

    def take(self, finished: ToolFinished) -> None:
        """What a tool tells of pages: their dates, and a few words of each."""
        for page in _pages(unfenced(finished.result)) if not finished.is_error else ():
            self._told[page.url] = _fuller(self._told.get(page.url, page), page)

    def number(self, sources: Iterable[Source]) -> None:
        """Take the pages in the order by which the model knows them."""
        self._sources = tuple(sources)

    def results(self, answer: Answer) -> tuple[SearchResult, ...]:
        """Every page once; the n-th is what `[n]` means, also where a provider names its own sources."""
        own = _named_by_provider(answer)
        pages = {url: self._page(url) for url in own}
        for source in self._sources:
            page = SearchResult(source.title, source.url, snippet=source.text[:_MOST_WORDS])
            pages.setdefault(source.url, _fuller(self._page(source.url), page))
        return tuple(pages.values())

    def _page(self, url: str) -> SearchResult:
        return self._told.get(url) or SearchResult("", url)


def _fuller(one: SearchResult, other: SearchResult) -> SearchResult:
    """Two tellings of one page: the words of the first, with what only the second has."""
    return SearchResult(
        one.title or other.title, one.url, one.date or other.date, one.snippet or other.snippet
    )


def _named_by_provider(answer: Answer) -> list[str]:
    """The addresses that a provider numbers by itself; in their order."""
    data = answer.messages[-1].provider_data if answer.messages else None
    named = [
        item.get("url") if isinstance(item, dict) else item for item in (data or {}).get("citations") or ()
    ]
    return [url for url in named if isinstance(url, str)]


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
