"""Which sources an answer points to, and the words of theirs that carry it."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import msgspec

from hermes.messages import NOT_JSON, Citation
from hermes.protocols import Source

_MARK = re.compile(r"\[(\d{1,3})\]")
_SENTENCE_END = re.compile(r"(?<=[.!?:])\s+|\n+|\[\d{1,3}\]\s*")
_QUOTED = re.compile(r"[\"“]([^\"“”]{12,600})[\"”]")
_SPACE = re.compile(r"\s+")
_CODE = re.compile(r"(?ms)^ *(`{3,}|~{3,}).*?(?:^ *\1|\Z)|(`+)[^`].*?\2")
_ADDRESS = r"(?:\(|: )<?(https?://[^\s<>)]+)"
"""What follows a mark that brings its own address: as a link, or as the definition of one."""


class Sources:
    """The pages a run has seen, numbered in the order they first appeared."""

    def __init__(self) -> None:
        self._numbered: dict[str, list[Source]] = {}

    def add(self, sources: Sequence[Source]) -> None:
        for source in sources:
            self._numbered.setdefault(source.url, []).append(source)

    def __iter__(self) -> Iterator[Source]:
        """Every page once, in the order of the numbers, as it was first seen."""
        return (seen[0] for seen in self._numbered.values())

    def number(self, n: int) -> str | None:
        urls = list(self._numbered)
        return urls[n - 1] if 0 < n <= len(urls) else None

    def title(self, url: str) -> str:
        return next((source.title for source in self._numbered.get(url, ()) if source.title), "")

    def was_read(self, url: str) -> bool:
        return any(source.read for source in self._numbered.get(url, ()))

    def holds(self, url: str, words: str) -> bool:
        """Whether these words stand in what was read of this page."""
        wanted = words.casefold()
        return any(wanted in plain(source.text).casefold() for source in self._numbered.get(url, ()))


def cite(text: str, provider_data: Mapping[str, Any] | None, sources: Sources) -> tuple[Citation, ...]:
    """The citations of an answer, in the order of their numbers.

    A provider that names its own sources is believed on which URL a mark means; otherwise `[n]` is
    the n-th source of the run, and else what the answer itself says it is. The quote is what the cited
    sentence puts in quotation marks, else the sentence itself where the page holds it word for word.
    """
    named = _named_by_provider(text, provider_data or {})
    prose = _without_code(text)
    found: dict[int, Citation] = {}
    for mark in _MARK.finditer(text):
        n = int(mark[1])
        url, title = named.get(n) or (sources.number(n), "")
        if url is None and n and mark[0] == prose[mark.start() : mark.end()]:
            url = _own_address(text, mark[0])
        if url is None or n in found:
            continue
        quote, holds = _quoted(_sentence_before(text, mark.start()), url, sources)
        verified = holds and sources.was_read(url)
        found[n] = Citation(n, url, sources.title(url) or title, quote, verified)
    return tuple(found[n] for n in sorted(found))


def _without_code(text: str) -> str:
    """The text with blanks for code and data, in which a number in brackets points to nothing."""
    if text.lstrip()[:1] in ("{", "[") and _is_json(text):
        return " " * len(text)
    return _CODE.sub(lambda code: " " * len(code[0]), text)


def _is_json(text: str) -> bool:
    try:
        msgspec.json.decode(text)
    except NOT_JSON:
        return False
    return True


def _own_address(text: str, mark: str) -> str:
    """The address that an answer gives to a mark of its own; empty where it gives none."""
    places = (found.end() for found in re.finditer(re.escape(mark), text))
    addresses = (re.match(_ADDRESS, text[place:]) for place in places)
    return next((found[1] for found in addresses if found), "")


def plain(text: str) -> str:
    """Text without Markdown marks and line breaks, so that a quote is found across them."""
    without_links = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", text)
    return _SPACE.sub(" ", re.sub(r"[*_`#>|]", "", without_links)).strip()


def _quoted(sentence: str, url: str, sources: Sources) -> tuple[str, bool]:
    """The words a cited sentence takes from the page, and whether the page holds what it says it quotes."""
    spans = _QUOTED.findall(sentence)
    if spans:
        return spans[0], all(sources.holds(url, plain(span)) for span in spans)
    is_verbatim = bool(sentence) and sources.holds(url, plain(sentence))
    return sentence if is_verbatim else "", True


def _sentence_before(text: str, end: int) -> str:
    before = text[:end].rstrip()
    starts = [found.end() for found in _SENTENCE_END.finditer(before) if found.end() < len(before)]
    return before[starts[-1] if starts else 0 :].strip()


def _named_by_provider(text: str, data: Mapping[str, Any]) -> dict[int, tuple[str, str]]:
    """What number means what page, from `annotations` on marks or a list of `citations`."""
    named: dict[int, tuple[str, str]] = {}
    for position, item in enumerate(data.get("citations") or (), start=1):
        url = item if isinstance(item, str) else item.get("url") if isinstance(item, dict) else None
        if isinstance(url, str):
            named[position] = (url, "")
    for annotation in data.get("annotations") or ():
        cited = annotation.get("url_citation") or annotation
        start, end, url = cited.get("start_index"), cited.get("end_index"), cited.get("url")
        if not (isinstance(start, int) and isinstance(end, int) and isinstance(url, str)):
            continue
        if mark := _MARK.search(text[start:end]):
            named[int(mark[1])] = (url, str(cited.get("title") or ""))
    return named
