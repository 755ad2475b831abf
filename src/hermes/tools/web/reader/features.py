"""What is known about each run of text, as numbers: column after column, each over the whole page.

A column holds whole numbers alone or fractions alone, never a truth: trees compare these several times
faster.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from functools import reduce
from itertools import accumulate
from operator import or_

from hermes.tools.web.reader.cut import (
    ARTICLE,
    ASIDE,
    BUTTON,
    FIGURE,
    FOOTER,
    FORM,
    HEADER,
    HEADINGS,
    LONG,
    MAIN,
    NAV,
    NOSCRIPT,
    PRE,
    Cut,
    Element,
)
from hermes.tools.web.reader.signs import SIGNS

Column = Sequence[float]
Guess = Callable[[Sequence[float]], Sequence[float]]
"""The probability of each kind of page, from what is known of the whole page."""

_FLAGS = (NAV, FOOTER, HEADER, ASIDE, MAIN, ARTICLE, FIGURE, BUTTON, NOSCRIPT, PRE)


def _listed(names: str) -> tuple[str, ...]:
    return tuple(names.split())


_TAGS = {
    tag: rank
    for rank, tag in enumerate(
        _listed("p h1 h2 h3 h4 h5 h6 pre blockquote li dd dt td th figcaption div section article"), start=1
    )
}
_ENDS = frozenset('.!?\u2026\u3002\uff01\uff1f"\u201d)')
LEVELS = 4
FAR = 100
"""Runs beyond which a distance says no more."""


class Sums:
    """Running totals, so that any stretch of runs is summed by one subtraction."""

    def __init__(self, cut: Cut) -> None:
        letters = [len(text) or 1 for text in cut.texts]
        self.share = [
            linked / count if linked < count else 1.0
            for linked, count in zip(cut.linked, letters, strict=True)
        ]
        self.long = [
            count if count >= LONG and share < 0.4 else 0
            for count, share in zip(cut.words, self.share, strict=True)
        ]
        linked_words = [count * share for count, share in zip(cut.words, self.share, strict=True)]
        self.words: list[int] = [0, *accumulate(cut.words)]
        self.longs: list[int] = [0, *accumulate(self.long)]
        self.linked: list[float] = [0.0, *accumulate(linked_words)]
        self.all_words = self.words[-1] or 1
        self.all_long = self.longs[-1] or 1


def columns(cut: Cut, signs: Sequence[float], guess: Guess) -> tuple[list[Column], list[float]]:
    """A column for each feature of runs, and what all runs of the page share, in the order of `NAMES`."""
    sums = Sums(cut)
    groups = Groups(cut, sums)
    page = [*signs, *whole(cut, sums, groups)]
    own_columns = [
        *own(cut, sums),
        *around(cut, sums),
        *inside(cut, sums, groups),
    ]
    return own_columns, [*page[len(SIGNS) - 1 :], *guess(page)]


def own(cut: Cut, sums: Sums) -> list[Column]:
    """The run itself."""
    texts = cut.texts
    seen = Counter(texts)
    return [
        cut.words,
        sums.share,
        [1 if text[-1:] in _ENDS else 0 for text in texts],
        [seen[text] for text in texts],
    ]


OWN = _listed("words share ends repeats")


def around(cut: Cut, sums: Sums) -> list[Column]:
    """The runs before and after, and the place on the page."""
    counts, count = cut.words, len(cut.texts)
    longs, linked, total = sums.longs, sums.linked, sums.words
    found: list[Column] = [
        [0, *counts[:-1]],
        [*counts[1:], 0],
    ]
    ends = range(count)
    for reach in (3, 10):
        long, link, held = (windows(running, reach) for running in (longs, linked, total))
        found.append(long)
        found.append([part / (whole or 1) for part, whole in zip(link, held, strict=True)])
    found.append([at / count for at in ends])
    found.append([before / sums.all_words for before in total[:-1]])
    found.append([before / sums.all_long for before in longs[:-1]])
    found.append(list(ends))
    found.append([count - at for at in ends])
    found += distances(cut, sums)
    return found


AROUND = _listed(
    "words-1 words+1 near-long near-share wide-long wide-share place before long-before"
    " index left since-h1 since-heading since-long until-long heading-level"
)


def windows(running: Sequence[float], reach: int) -> list[float]:
    """What lies within so many runs before and after each run, from a running total."""
    padded = [running[0]] * reach + [*running] + [running[-1]] * reach
    return [high - low for low, high in zip(padded, padded[2 * reach + 1 :], strict=False)]


def distances(cut: Cut, sums: Sums) -> list[Column]:
    """How many runs ago the first heading, any heading and a long run were, and how soon a long one comes."""
    since_h1, since_heading, since_long, levels = [], [], [], []
    h1, heading, long, level = -1, -FAR, -FAR, 7
    for at, (element, length) in enumerate(zip(cut.elements, sums.long, strict=True)):
        if length:
            long = at
        found = HEADINGS.get(element.tag)
        if found is not None:
            heading, level = at, found
            if level == 1 and h1 < 0:
                h1 = at
        since_h1.append(at - h1 if h1 >= 0 else -1)
        since_heading.append(at - heading if at - heading < FAR else FAR)
        since_long.append(at - long if at - long < FAR else FAR)
        levels.append(level)
    return [since_h1, since_heading, since_long, until(sums.long), levels]


def until(long: Sequence[float]) -> list[int]:
    """How many runs later the next long one comes."""
    found, ahead = [], FAR
    for length in reversed(long):
        ahead = 0 if length else ahead + 1 if ahead < FAR else FAR
        found.append(ahead)
    found.reverse()
    return found


def inside(cut: Cut, sums: Sums, groups: "Groups") -> list[Column]:
    """The elements around each run: what they are, and how much of the page they hold."""
    elements, above = cut.elements, Above(sums)
    half, most = heaviest(cut, sums, (0.5, 0.7))
    return [
        *marked([element.flags for element in elements]),
        [_TAGS.get(element.tag, 0) for element in elements],
        [element.depth for element in elements],
        *zip(*map(named, elements), strict=True),
        *zip(*map(above.of, elements), strict=True),
        *zip(*map(groups.of, elements), strict=True),
        places(elements, half),
        places(elements, most),
    ]


INSIDE = (
    *_listed("nav footer header aside main article figure button noscript pre"),
    *_listed("tag depth near far"),
    "held0",
    *[f"{name}{level}" for level in range(1, LEVELS) for name in ("runs", "held", "linked", "long")],
    *_listed("same-count same-words same-share same-mean"),
    *_listed("card-count card-mean card-share card-linked in50 in70"),
)


def marked(flags: Sequence[int]) -> list[Column]:
    """For each of `_FLAGS` the runs that stand in such an element."""
    there, none = reduce(or_, flags, 0), [0] * len(flags)
    return [[1 if flag & wanted else 0 for flag in flags] if there & wanted else none for wanted in _FLAGS]


def named(element: Element) -> tuple[float, float]:
    """What the class names say: of the three nearest elements, and of those above."""
    first = element.parent
    if first is None:
        return element.near, 0.0
    second = first.parent
    if second is None:
        return element.near + first.near, 0.0
    third = second.parent
    return element.near + first.near + second.near, third.far if third is not None else 0.0


class Above:
    """For each element the next ones above that hold more."""

    def __init__(self, sums: Sums) -> None:
        self.sums = sums
        self.known: dict[Element, tuple[float, ...]] = {}

    def of(self, element: Element) -> tuple[float, ...]:
        """The words of an element; then runs, words, links and long text of those around it."""
        sums = self.sums
        own = sums.words[element.last] - sums.words[element.first]
        around = larger(element)
        found = self.known.get(around)
        if found is None:
            found = ()
            here = around
            for _ in range(LEVELS - 1):
                found += self._held(here)
                here = larger(here)
            self.known[around] = found
        return (own, *found)

    def _held(self, element: Element) -> tuple[float, ...]:
        sums, first, last = self.sums, element.first, element.last
        count = sums.words[last] - sums.words[first]
        return (
            last - first,
            count,
            (sums.linked[last] - sums.linked[first]) / (count or 1),
            (sums.longs[last] - sums.longs[first]) / sums.all_long,
        )


def larger(element: Element) -> Element:
    """The next element above that holds more; the outermost one if none does."""
    size = element.last - element.first
    while element.parent is not None:
        element = element.parent
        if element.last - element.first > size:
            break
    return element


class Groups:
    """Elements of the same path: rows, cards and posts that repeat."""

    def __init__(self, cut: Cut, sums: Sums) -> None:
        self.sums = sums
        size = max([element.path for element in cut.containers], default=0) + 1
        self.counts, self.words, self.linked = [0] * size, [0] * size, [0.0] * size
        self.cards = [-1] * size
        self.known: dict[int, tuple[float, ...]] = {}
        words, linked = sums.words, sums.linked
        for element in cut.containers:
            path, first, last = element.path, element.first, element.last
            if first < last:
                self.counts[path] += 1
                self.words[path] += words[last] - words[first]
                self.linked[path] += linked[last] - linked[first]
        self._find_cards(cut)

    def _find_cards(self, cut: Cut) -> None:
        """For each path the outermost one around it that repeats."""
        cards, counts = self.cards, self.counts
        cards[0] = 0
        for element in cut.containers:
            path = element.path
            if cards[path] < 0 and element.parent is not None:
                cards[path] = cards[element.parent.path] or (path if counts[path] > 2 else 0)

    def of(self, element: Element) -> tuple[float, ...]:
        found = self.known.get(element.path)
        if found is None:
            found = self.known[element.path] = self._of(element.path)
        return found

    def _of(self, path: int) -> tuple[float, ...]:
        same, same_words = self.counts[path] or 1, self.words[path]
        card = self.cards[path] or path
        count, words = self.counts[card] or 1, self.words[card]
        return (
            same,
            same_words,
            same_words / self.sums.all_words,
            same_words / same,
            count,
            words / count,
            words / self.sums.all_words,
            self.linked[card] / (words or 1),
        )


def heaviest(cut: Cut, sums: Sums, shares: Sequence[float]) -> list[Element | None]:
    """For each share of the long text the smallest element that holds it."""
    longs = sums.longs
    held = [longs[element.last] - longs[element.first] for element in cut.containers]
    found: list[Element | None] = []
    for share in shares:
        enough = share * sums.all_long
        at = max((at for at, count in enumerate(held) if count >= enough), default=None)
        found.append(None if at is None else cut.containers[at])
    return found


def places(elements: Sequence[Element], main: Element | None) -> list[int]:
    """Where elements stand to another: before it, inside, around or after it."""
    if main is None:
        return [3] * len(elements)
    first, last = main.first, main.last
    return [
        0
        if element.last <= first
        else 4
        if element.first >= last
        else 2
        if element.first >= first and element.last <= last
        else 3
        for element in elements
    ]


def whole(cut: Cut, sums: Sums, groups: Groups) -> tuple[float, ...]:
    """The page as a whole."""
    count = len(cut.texts) or 1
    tags = Counter([element.tag for element in cut.elements])
    headings = sum(tags[heading] for heading in HEADINGS)
    longs = [length for length in sums.long if length]
    flags = [element.flags for element in cut.elements]
    cards = max(
        (path for path, often in enumerate(groups.counts) if often > 3),
        key=groups.words.__getitem__,
        default=None,
    )
    return (
        count,
        sums.all_words,
        sums.all_long / sums.all_words,
        sums.linked[-1] / sums.all_words,
        len(longs),
        sum(longs) / (len(longs) or 1),
        max(longs, default=0),
        headings / count,
        tags["h1"],
        tags["li"] / count,
        (tags["td"] + tags["th"]) / count,
        tags["p"] / count,
        tags["pre"] / count,
        sum([1 for flag in flags if flag & ARTICLE]) / count,
        sum([1 for flag in flags if flag & MAIN]) / count,
        sum([1 for element in cut.containers if element.tag == "article"]),
        sum([1 for text in cut.texts if "$" in text or "€" in text or "£" in text]) / count,
        groups.counts[cards] if cards else 0,
        groups.words[cards] / sums.all_words if cards else 0.0,
        groups.linked[cards] / (groups.words[cards] or 1) if cards else 0.0,
        sum([1 for flag in flags if flag & FORM]) / count,
        sum([1 for text in cut.texts if text[-1:] == "?"]) / count,
    )


WHOLE = _listed(
    "all-runs all-words all-long all-linked long-runs long-mean long-most headings h1s items cells paragraphs"
    " codes articled mained articles prices cards cards-share cards-linked formed asked"
)
KINDS = _listed("article documentation service forum listing product collection")
PAGE = (*SIGNS, *WHOLE)
SHARED = (SIGNS[-1], *WHOLE, *[f"kind-{kind}" for kind in KINDS])
NAMES = (*OWN, *AROUND, *INSIDE, *SHARED)
