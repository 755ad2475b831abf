"""Which runs to keep: as many of the likeliest as promise the best match, then whole structures."""

from collections.abc import Sequence
from itertools import compress

from hermes.tools.web.reader.cut import HEADINGS, Cut, Element

LEAST, MOST = 0.15, 0.6
SLOPE, START = 0.8, -0.16

_EASE = {
    **dict.fromkeys(HEADINGS, 0.7),
    **dict.fromkeys(("li", "dd", "dt", "td", "th"), 0.6),
}
"""What a heading, an item or a cell needs of the threshold: without it a structure has a hole."""
_EASE_OF_LINKS = 0.7
_EASIEST = min(*_EASE.values(), _EASE_OF_LINKS)
_WHOLE = {"table": 0.1, "tr": 0.1, "ul": 0.65, "ol": 0.65, "dl": 0.5}
"""Structures that are kept whole when at least this share of their words is kept."""
_NEAR = 2
"""How many runs may lie between code and the kept text it belongs to."""


def choose(cut: Cut, odds: Sequence[float], best: float) -> list[bool]:
    """For each run whether to keep it; `best` is the F1 expected of the page."""
    seen = (odd for odd, text in zip(odds, cut.texts, strict=True) if text)
    least = min(threshold(best), max(seen, default=0.0))
    kept = [odd >= least and bool(text) for odd, text in zip(odds, cut.texts, strict=True)]
    for index, odd in enumerate(odds):
        if least * _EASIEST <= odd < least:
            kept[index] = odd >= least * _ease(cut, index) and bool(cut.texts[index])
    close(cut, kept)
    return kept


def _ease(cut: Cut, index: int) -> float:
    is_link = cut.linked[index] > 0.8 * len(cut.texts[index])
    return min(_EASE.get(cut.elements[index].tag, 1.0), _EASE_OF_LINKS if is_link else 1.0)


def expected(words: Sequence[int], odds: Sequence[float]) -> float:
    """The best F1 to be expected of a page, over all cuts between likely and unlikely runs."""
    pairs = sorted(zip(odds, words, strict=True), reverse=True)
    wanted = sum(odd * count for odd, count in pairs)
    taken = right = best = 0.0
    for odd, count in pairs:
        taken += count
        right += odd * count
        best = max(best, 2 * right / (taken + wanted or 1))
    return best


def threshold(best: float) -> float:
    """The probability from which a run is kept, by the best F1 to be expected.

    If runs were wanted or not each on its own, half of that F1 would be right. Runs of one part go together:
    a clear page should not take a doubtful part, and a page that is doubtful all over should not lose one.
    """
    return min(MOST, max(LEAST, SLOPE * best + START))


def close(cut: Cut, kept: list[bool]) -> None:
    """Keep whole structures that are mostly kept, code near kept text, and headings right above it."""
    seen = [bool(text) for text in cut.texts]
    for element in cut.containers:
        first, last = element.first, element.last
        enough = _WHOLE.get(element.tag)
        if enough is not None and last - first > 1:
            is_whole = _is_mostly_kept(cut.words[first:last], kept, element, enough)
        else:
            is_whole = element.tag == "pre" and any(kept[max(0, first - _NEAR) : last + _NEAR])
        if is_whole:
            kept[first:last] = seen[first:last]
    _adopt_headings(cut, kept)


def _is_mostly_kept(words: Sequence[int], kept: Sequence[bool], element: Element, enough: float) -> bool:
    """Whether enough of a structure is kept, or a part of it and the text before and after."""
    first, last = element.first, element.last
    taken = sum(compress(words, kept[first:last]))
    is_between = first > 0 and last < len(kept) and kept[first - 1] and kept[last]
    return taken > 0 and (is_between or taken >= enough * sum(words))


def _adopt_headings(cut: Cut, kept: list[bool]) -> None:
    """A heading right above kept text is kept."""
    for index in range(len(kept) - 2, -1, -1):
        is_heading = cut.elements[index].tag in HEADINGS
        if not kept[index] and kept[index + 1] and is_heading and cut.texts[index]:
            kept[index] = True
