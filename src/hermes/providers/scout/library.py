"""The sentences of a few pages, ready to be asked: where each term stands, and which terms are akin."""

import math
from collections import defaultdict
from collections.abc import Iterable
from functools import lru_cache

from hermes.providers.scout.passages import Sentence, read
from hermes.providers.scout.words import root, synonyms, terms

EXACT = 1.0
_ROOT, _PREFIX, _SYNONYM, _SPELLING = 0.8, 0.55, 0.45, 0.6


class Library:
    """An inverted index over sentences, built once for a set of pages and then only read."""

    def __init__(self, pages: tuple[tuple[str, str], ...]) -> None:
        self.sentences: list[Sentence] = []
        self.page_of: list[int] = []
        self.start_of: list[int] = []
        self.titles: list[frozenset[str]] = []
        for number, (title, markdown) in enumerate(pages):
            self.start_of.append(len(self.sentences))
            found = read(markdown)
            self.sentences.extend(found)
            self.page_of.extend([number] * len(found))
            self.titles.append(frozenset(terms(title)))
        self.postings: dict[str, list[int]] = {}
        self._families: dict[str, list[str]] = defaultdict(list)
        self._openings: dict[str, list[str]] = defaultdict(list)
        self._index()
        self.mean_length = sum(len(s.terms) for s in self.sentences) / max(1, len(self.sentences))

    def _index(self) -> None:
        postings: dict[str, list[int]] = defaultdict(list)
        for number, sentence in enumerate(self.sentences):
            for stem in dict.fromkeys(sentence.terms):
                postings[stem].append(number)
        self.postings = dict(postings)
        for stem in self.postings:
            self._families[root(stem)].append(stem)
            self._openings[stem[:4]].append(stem)

    def neighbours(self, number: int, step: int) -> range:
        """The sentence before or after on the same page, as a range of none or one."""
        other = number + step
        inside = 0 <= other < len(self.sentences) and self.page_of[other] == self.page_of[number]
        return range(other, other + 1) if inside else range(0)

    def block_range(self, number: int) -> range:
        """The sentences of the paragraph a sentence stands in."""
        sentence = self.sentences[number]
        start = end = number
        while start and self.sentences[start - 1].block == sentence.block and self.page_of[start - 1] == self.page_of[number]:
            start -= 1
        while end + 1 < len(self.sentences) and self.sentences[end + 1].block == sentence.block and self.page_of[end + 1] == self.page_of[number]:
            end += 1
        return range(start, end + 1)

    def heads(self, number: int) -> frozenset[str]:
        """The terms of the page's title and of the headings above a sentence."""
        return self.titles[self.page_of[number]] | _heading_terms(self.sentences[number].heading)

    def akin(self, stem: str) -> dict[str, float]:
        """The terms in these pages that may stand for `stem`, with how surely."""
        found = {other: _SYNONYM for other in synonyms(stem) if other in self.postings}
        for other in self._openings.get(stem[:4], ()):
            if _shared_opening(stem, other):
                found[other] = max(found.get(other, 0.0), _PREFIX)
        for other in self._families.get(root(stem), ()):
            found[other] = _ROOT
        if stem in self.postings:
            found[stem] = EXACT
        elif not found and len(stem) > 4:
            found = {other: _SPELLING for other in self.postings if _near(stem, other)}
        return found

    def rarity(self, akin: Iterable[tuple[str, float]]) -> float:
        """Inverse document frequency of a term together with its inflections."""
        seen = sum(len(self.postings[stem]) for stem, strength in akin if strength >= _ROOT)
        total = len(self.sentences)
        return math.log(1 + (total - min(seen, total) + 0.5) / (min(seen, total) + 0.5))


@lru_cache(maxsize=4096)
def _heading_terms(heading: str) -> frozenset[str]:
    return frozenset(terms(heading))


def _shared_opening(one: str, other: str) -> bool:
    if one[:1].isdigit() or min(len(one), len(other)) < 5:
        return False
    longest = max(len(one), len(other))
    same = next((at for at, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))
    return same >= 5 and same >= 0.65 * longest


def _near(one: str, other: str) -> bool:
    """Whether two words differ by little, as a slip of spelling does."""
    if abs(len(one) - len(other)) > 2 or one[:1] != other[:1] or one[:1].isdigit():
        return False
    mine = {one[at : at + 2] for at in range(len(one) - 1)}
    theirs = {other[at : at + 2] for at in range(len(other) - 1)}
    return 2 * len(mine & theirs) >= 0.7 * (len(mine) + len(theirs))


@lru_cache(maxsize=8)
def library(pages: tuple[tuple[str, str], ...]) -> Library:
    """The library of some (title, Markdown) pages, remembered for the last few sets."""
    return Library(pages)
