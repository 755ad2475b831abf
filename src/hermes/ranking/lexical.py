"""Search results scored against a question by what they show: title, address, description and date.

Each kind of evidence lies in [0, 1] and has one weight. How rare a word is follows from the results
themselves, since nothing else is known of the collection they come from.
"""

import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise

import msgspec

from hermes.protocols import SearchRow
from hermes.ranking.dates import ages, half_life
from hermes.ranking.language import is_latin, language
from hermes.ranking.lexicon import QUESTION_WORDS, STOP
from hermes.ranking.words import fold, surface, term

WEIGHTS: Mapping[str, float] = {
    "match": 1.0,
    "cover": 1.0,
    "phrase": 1.0,
    "focus": 1.0,
    "site": 1.5,
    "fresh": 2.0,
    "stuffed": -4.0,
    "foreign": -3.0,
    "copy": -4.0,
    "prior": 1.0,
}
"""`python -m bench.ranking` shows what each of them is worth."""
FIELDS = (("title", 2.5, 0.5), ("url", 1.0, 0.3), ("text", 1.0, 0.6))
"""Where words stand: how much one counts there, and how much the length of the field takes from it."""
SATURATION = 1.2
LONGEST = 2_000
"""Characters of a description that are looked at."""
UNDATED = 0.25
SHORTEST_SPELLED = 4
MOST_PLACES = 20
"""Where a word stands is noted so often; who repeats it more only wants to be found, or to be slow."""
ALIKE = 0.75
NATURAL = 0.15
"""The share of a text that its repetitions of the question's words may well take."""
TELLING = 8
"""Words from which on a result can be called stuffed, or the copy of another."""

_NOT_A_WORD = re.compile(r"[\W_]+")


class Shown(msgspec.Struct, frozen=True):
    """A result as the ranking sees it: the terms of its fields in order."""

    title: tuple[str, ...]
    url: tuple[str, ...]
    text: tuple[str, ...]
    hosts: tuple[str, ...]
    """The labels of its host but the last, which says nothing of who it is."""
    language: str
    is_latin: bool


class Asked(msgspec.Struct, frozen=True):
    """A question laid over results. `rarity` knows only those of its terms that some result shows."""

    words: tuple[str, ...]
    content: tuple[str, ...]
    terms: tuple[str, ...]
    rarity: Mapping[str, float]
    total: float
    lengths: Mapping[str, float]
    """The mean length of each field."""


def scores(
    query: str,
    rows: Sequence[SearchRow],
    *,
    half_life_days: float | None = None,
    weights: Mapping[str, float] = WEIGHTS,
) -> list[float]:
    """How well each result meets the query, given in the order of whoever found them.

    `half_life_days` says that new results are wanted; else the words of the query do.
    """
    measured = evidence(query, rows, half_life_days=half_life_days)
    found = [sum(weights.get(name, 0.0) * value for name, value in each.items()) for each in measured]
    for at in _copies(rows, found):
        found[at] += weights.get("copy", 0.0)
    return found


def order(values: Sequence[float]) -> list[int]:
    """The places of the values, the highest first; equal ones stay in order."""
    return sorted(range(len(values)), key=lambda at: -values[at])


def evidence(
    query: str, rows: Sequence[SearchRow], *, half_life_days: float | None = None
) -> list[dict[str, float]]:
    """What speaks for and against each result, but for being a copy of a better one."""
    words = tuple(map(fold, surface(query)))
    content = [word for word in words if word not in STOP and word not in QUESTION_WORDS] or words
    shown = [_shown(row, content) for row in rows]
    asked = _laid(words, content, shown)
    wanted = language(asked.words) or _most_common(each.language for each in shown)
    latin = is_latin(query)
    fresh = _fresh(rows, half_life_days or half_life(asked.words))
    return [
        {
            "match": _match(asked, each),
            "cover": _share(asked, {*each.title, *each.url, *each.text}),
            "phrase": max(_phrase(asked, each.title), _phrase(asked, each.text)),
            "focus": _focus(asked, each),
            "site": _site(asked, each),
            "fresh": fresh[at],
            "stuffed": _stuffed(asked, each),
            "foreign": float(each.is_latin != latin or each.language not in ("", wanted or each.language)),
            "prior": 1 / math.log2(2 + at),
        }
        for at, each in enumerate(shown)
    ]


def _shown(row: SearchRow, content: Sequence[str]) -> Shown:
    text = row.description[:LONGEST]
    host, _, path = row.url.partition("://")[2].partition("/")
    labels = tuple(fold(label) for label in host.partition(":")[0].split(".")[:-1] if label != "www")
    words = [fold(word) for word in (*surface(row.title), *surface(text))]
    return Shown(
        title=_terms(row.title),
        url=_terms(_NOT_A_WORD.sub(" ", " ".join((*labels, *_spelled(content, labels), path)))),
        text=_terms(text),
        hosts=labels,
        language=language(words),
        is_latin=is_latin(f"{row.title} {text}"),
    )


def _terms(text: str) -> tuple[str, ...]:
    return tuple(map(term, surface(text)))


def _laid(words: Sequence[str], content: Sequence[str], shown: Sequence[Shown]) -> Asked:
    terms = tuple(dict.fromkeys(map(term, content)))
    sets = [{*each.title, *each.url, *each.text} for each in shown]
    counts = {stem: sum(stem in inside for inside in sets) for stem in terms}
    rarity = {
        stem: math.log(1 + (len(shown) - count + 0.5) / (count + 0.5))
        for stem, count in counts.items()
        if count
    }
    lengths = {
        field: sum(len(getattr(each, field)) for each in shown) / max(1, len(shown)) or 1.0
        for field, _, _ in FIELDS
    }
    return Asked(
        tuple(words), tuple(dict.fromkeys(content)), terms, rarity, sum(rarity.values()) or 1.0, lengths
    )


def _match(asked: Asked, shown: Shown) -> float:
    """BM25 over weighted fields, as a share of the most there could be."""
    weighed: dict[str, float] = {}
    for field, weight, by_length in FIELDS:
        words: tuple[str, ...] = getattr(shown, field)
        norm = 1 - by_length + by_length * len(words) / asked.lengths[field]
        for stem in words:
            if stem in asked.rarity:
                weighed[stem] = weighed.get(stem, 0.0) + weight / norm
    return sum(asked.rarity[stem] * tf / (SATURATION + tf) for stem, tf in weighed.items()) / asked.total


def _share(asked: Asked, said: set[str]) -> float:
    """The part of the question that is among some terms; rare ones count more."""
    return sum(rarity for stem, rarity in asked.rarity.items() if stem in said) / asked.total


def _phrase(asked: Asked, words: Sequence[str]) -> float:
    """The part of the question's neighbours that are neighbours here too."""
    where: dict[str, list[int]] = {}
    for at, stem in enumerate(words):
        if stem in asked.rarity and len(places := where.setdefault(stem, [])) < MOST_PLACES:
            places.append(at)
    kept = whole = 0.0
    for one, two in pairwise(asked.terms):
        weight = asked.rarity.get(one, 0.0) + asked.rarity.get(two, 0.0)
        whole += weight
        if any(-3 < x - y < 3 for x in where.get(two, ()) for y in where.get(one, ())):
            kept += weight
    return kept / whole if whole else 0.0


def _focus(asked: Asked, shown: Shown) -> float:
    """The part of the title that speaks of the question; a title of everything speaks of nothing."""
    telling = [stem for stem in shown.title if stem not in STOP]
    return sum(stem in asked.rarity for stem in telling) / max(1, len(telling))


def _site(asked: Asked, shown: Shown) -> float:
    """The part of the question that the host spells."""
    return len(_spelled(asked.content, shown.hosts)) / max(1, len(asked.content))


def _spelled(words: Sequence[str], hosts: Sequence[str]) -> list[str]:
    """The words that a label of a host begins or ends with, so that words written together count."""
    labels = tuple(label.replace("-", "") for label in hosts)
    return [
        word
        for word in words
        if len(word) >= SHORTEST_SPELLED
        and any(label.startswith(word) or label.endswith(word) for label in labels)
    ]


def _fresh(rows: Sequence[SearchRow], half_life_days: float | None) -> list[float]:
    if half_life_days is None:
        return [0.0] * len(rows)
    return [
        UNDATED if age is None else 2 ** (-age / half_life_days) for age in ages([row.date for row in rows])
    ]


def _stuffed(asked: Asked, shown: Shown) -> float:
    """How far the question's words are repeated beyond what a sentence needs."""
    size = len(shown.title) + len(shown.text)
    if size < TELLING:
        return 0.0
    hits = [[stem for stem in words if stem in asked.rarity] for words in (shown.title, shown.text)]
    repeated = sum(len(stems) - len(set(stems)) for stems in hits)
    return min(1.0, max(0.0, repeated / size - NATURAL) / NATURAL)


def _copies(rows: Sequence[SearchRow], values: Sequence[float]) -> list[int]:
    """The places of results that say what a better one says."""
    seen: list[set[str]] = []
    found: list[int] = []
    for at in order(values):
        words = set(_terms(f"{rows[at].title} {rows[at].description[:LONGEST]}"))
        if len(words) < TELLING:
            continue
        if any(len(words & other) >= ALIKE * len(words | other) for other in seen):
            found.append(at)
        seen.append(words)
    return found


def _most_common(codes: Iterable[str]) -> str:
    counts = Counter(code for code in codes if code)
    return counts.most_common(1)[0][0] if counts else ""
