"""The sentences of a few pages, ready to be asked: where each term stands, and which terms are akin."""

import math
from collections import defaultdict
from collections.abc import Iterable
from functools import lru_cache

from hermes.providers.scout.kin import root, synonyms
from hermes.providers.scout.passages import Sentence, read
from hermes.ranking.words import terms

EXACT = 1.0
_ROOT, _SPELLING, _OPENING, _SYNONYM = 0.7, 0.6, 0.6, 0.5


class Library:
    """An inverted index over sentences, built once for a set of pages and then only read."""

    def __init__(self, pages: tuple[tuple[str, str], ...]) -> None:
        self.sentences: list[Sentence] = []
        self.page_of: list[int] = []
        self.blocks: list[range] = []
        """For each sentence, the numbers of the sentences of its paragraph."""
        self.titles = [frozenset(terms(title)) for title, _ in pages]
        for number, (_, markdown) in enumerate(pages):
            self._add(number, read(markdown))
        self.postings = self._postings()
        self._families: dict[str, list[str]] = defaultdict(list)
        self._openings: dict[str, list[str]] = defaultdict(list)
        for stem in self.postings:
            self._families[root(stem)].append(stem)
            self._openings[stem[:4]].append(stem)

    def _add(self, page: int, found: tuple[Sentence, ...]) -> None:
        start = first = len(self.sentences)
        self.sentences.extend(found)
        self.page_of.extend([page] * len(found))
        for number in range(start + 1, len(self.sentences) + 1):
            if number == len(self.sentences) or self.sentences[number].block != self.sentences[first].block:
                self.blocks.extend([range(first, number)] * (number - first))
                first = number

    def _postings(self) -> dict[str, list[int]]:
        found: dict[str, list[int]] = defaultdict(list)
        for number, sentence in enumerate(self.sentences):
            for stem in dict.fromkeys(sentence.terms):
                found[stem].append(number)
        return dict(found)

    def neighbour(self, number: int, step: int) -> int | None:
        """The sentence `step` further on the same page."""
        other = number + step
        inside = 0 <= other < len(self.sentences) and self.page_of[other] == self.page_of[number]
        return other if inside else None

    def headings(self, number: int) -> frozenset[str]:
        """The terms of the page's title and of the headings above a sentence."""
        return self.titles[self.page_of[number]] | _heading_terms(self.sentences[number].heading)

    def akin(self, stem: str) -> dict[str, float]:
        """The terms in these pages that may stand for `stem`, with how surely."""
        found = {other: _SYNONYM for other in synonyms(stem) if other in self.postings}
        found |= {other: _OPENING for other in self._openings.get(stem[:4], ()) if _same_opening(stem, other)}
        found |= dict.fromkeys(self._families.get(root(stem), ()), _ROOT)
        if stem in self.postings:
            found[stem] = EXACT
        return found or {other: _SPELLING for other in self.postings if _near(stem, other)}

    def rarity(self, akin: Iterable[tuple[str, float]]) -> float:
        """Inverse document frequency of a term together with its inflections."""
        total = len(self.sentences)
        seen = min(total, sum(len(self.postings[stem]) for stem, strength in akin if strength >= _ROOT))
        return math.log(1 + (total - seen + 0.5) / (seen + 0.5))


@lru_cache(maxsize=4096)
def _heading_terms(heading: str) -> frozenset[str]:
    return frozenset(terms(heading))


def _same_opening(one: str, other: str) -> bool:
    shorter, longer = sorted((len(one), len(other)))
    need = max(5, math.ceil(0.65 * longer))
    return shorter >= need and one[:need] == other[:need] and not one[0].isdigit()


def _near(one: str, other: str) -> bool:
    """Whether two words differ by as little as a slip of spelling."""
    if len(one) < 5 or abs(len(one) - len(other)) > 2 or one[0] != other[0] or one[0].isdigit():
        return False
    mine = {one[at : at + 2] for at in range(len(one) - 1)}
    theirs = {other[at : at + 2] for at in range(len(other) - 1)}
    return 2 * len(mine & theirs) >= 0.7 * (len(mine) + len(theirs))


@lru_cache(maxsize=16)
def library(pages: tuple[tuple[str, str], ...]) -> Library:
    """The library of some (title, Markdown) pages, remembered for the last few sets."""
    return Library(pages)
