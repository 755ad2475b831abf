"""How well a text matches its gold: bags of words, snippets, and the structure that was kept."""

import re
from collections import Counter
from collections.abc import Iterable, Sequence

import msgspec

_WORD = re.compile(r"\w+")
_IMAGE = re.compile(r"!\[[^\]]*\]\([^)]*\)")
_LINK = re.compile(r"\[((?:[^\[\]]|\[[^\]]*\])*)\]\([^)]*\)")
_MARKS = re.compile(r"^[ \t]*(?:[-*+>]|#{1,6}|\d+\.|```\w*|---+)(?=\s|$)|^\|[ :|-]+\|$|[*`~|]", re.MULTILINE)
_HEADING = re.compile(r"^\s*(?:[>*-]\s+)*#{1,6}\s+(.+?)\s*$", re.MULTILINE)
_ITEM = re.compile(r"^\s*(?:[>]\s+)*(?:[-*+]|\d+[.)])\s+(.+)$", re.MULTILINE)
_FENCE = re.compile(r"^[ \t>]*(`{3,})[^\n`]*\n(.*?)^[ \t>]*\1", re.MULTILINE | re.DOTALL)


class Match(msgspec.Struct, frozen=True):
    precision: float
    recall: float

    @property
    def f1(self) -> float:
        both = self.precision + self.recall
        return 2 * self.precision * self.recall / both if both else 0.0


def plain(markdown: str) -> str:
    """Markdown without its marks, its images and the targets of its links."""
    return _MARKS.sub(" ", _LINK.sub(r"\1", _IMAGE.sub(" ", markdown)))


def words(text: str) -> list[str]:
    return _WORD.findall(text.lower())


def match(found: str, gold: str) -> Match:
    """Precision and recall over bags of words; two empty texts match."""
    ours, theirs = Counter(words(plain(found))), Counter(words(gold))
    if not ours or not theirs:
        return Match(1.0, 1.0) if ours == theirs else Match(0.0, 0.0)
    both = (ours & theirs).total()
    return Match(both / ours.total(), both / theirs.total())


def snippets(found: str, must: Sequence[str], must_not: Sequence[str]) -> tuple[int, int, int]:
    """Required snippets that came out, required ones that did not, and unwanted ones that did."""
    text = " ".join(words(plain(found)))
    hits = sum(" ".join(words(snippet)) in text for snippet in must)
    noise = sum(" ".join(words(snippet)) in text for snippet in must_not)
    return hits, len(must) - hits, noise


def structure(markdown: str, wanted: dict[str, list]) -> dict[str, tuple[int, int]]:
    """For each kind of structure of a page: how many pieces came out as such, and how many there are."""
    found = {
        "headings": _kept(_HEADING.findall(markdown), wanted.get("headings", ())),
        "items": _kept(_ITEM.findall(markdown), wanted.get("items", ())),
        "links": _kept(_LINK.findall(_IMAGE.sub("", markdown)), wanted.get("links", ())),
        "code": _kept_code(markdown, wanted.get("code", ())),
        "rows": _kept_rows(markdown, wanted.get("rows", ())),
    }
    return {name: counts for name, counts in found.items() if counts[1]}


def _key(text: str) -> str:
    return " ".join(words(_LINK.sub(r"\1", _IMAGE.sub(" ", text))))


def _kept(found: Iterable[str], wanted: Sequence[str]) -> tuple[int, int]:
    ours = Counter(map(_key, found))
    theirs = Counter(filter(None, map(_key, wanted)))
    return (ours & theirs).total(), theirs.total()


def _kept_code(markdown: str, wanted: Sequence[str]) -> tuple[int, int]:
    """Lines of code that stand inside a fence."""
    ours = Counter(_key(line) for _, code in _FENCE.findall(markdown) for line in code.splitlines())
    theirs = Counter(filter(None, (_key(line) for code in wanted for line in code.splitlines())))
    return (ours & theirs).total(), theirs.total()


def _kept_rows(markdown: str, wanted: Sequence[Sequence[str]]) -> tuple[int, int]:
    lines = (line for line in markdown.splitlines() if line.lstrip("> ").startswith("|"))
    ours = Counter(" ".join(filter(None, map(_key, line.split("|")))) for line in lines)
    theirs = Counter(filter(None, (" ".join(filter(None, map(_key, row))) for row in wanted)))
    return (ours & theirs).total(), theirs.total()
