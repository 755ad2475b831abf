"""What a question asks: its terms, what kind of answer it expects, and the noun it asks about."""

import re
from collections.abc import Callable, Sequence
from functools import lru_cache
from itertools import pairwise, takewhile
from typing import Literal

import msgspec

from hermes.providers.scout.lexicon import (
    ASKS_NAME,
    ASKS_NUMBER,
    ASKS_WHEN,
    ASKS_WHERE,
    ASKS_WHO,
    AUXILIARY,
    DEGREE,
    GENERIC,
    NAMING,
    NUMBERS,
    OPENERS,
    TIMES,
)
from hermes.ranking.lexicon import QUESTION_WORDS, STOP
from hermes.ranking.words import surface, term

Kind = Literal["who", "when", "where", "number", "why", "how", "name", "define", "what", "other"]


class Question(msgspec.Struct, frozen=True):
    """A question taken apart. `terms` are in order and without repeats; `pairs` are neighbours among them."""

    kind: Kind
    terms: tuple[str, ...]
    names: frozenset[str]
    pairs: tuple[tuple[int, int], ...]
    phrases: tuple[str, ...]
    said: frozenset[str]


_GENERIC_STEMS = frozenset(map(term, GENERIC))

_QUOTED = re.compile(r"[\"“]([^\"“”]{2,80})[\"”]")


def is_generic(stem: str) -> bool:
    """Whether a term says what is asked for rather than what it is about."""
    return stem in _GENERIC_STEMS


@lru_cache(maxsize=256)
def analyse(text: str) -> Question:
    words = surface(text)
    folded = [word.casefold() for word in words]
    content = [
        (word, term(word)) for word, low in zip(words, folded, strict=True)
        if low not in STOP and low not in QUESTION_WORDS
    ] or [(word, term(word)) for word in words]  # fmt: skip
    stems = tuple(dict.fromkeys(stem for _, stem in content))
    return Question(
        kind=_kind(folded),
        terms=stems,
        names=frozenset(term(word) for word in _names(words)),
        pairs=tuple(
            (one, two) for one, two in pairwise(stems.index(stem) for _, stem in content) if one != two
        ),
        phrases=tuple(phrase.casefold() for phrase in _QUOTED.findall(text)),
        said=frozenset(map(term, words)),
    )


def _names(words: list[str]) -> list[str]:
    """Words written like names: capitals that do not merely open the sentence, and codes with digits."""
    return [
        word
        for index, word in enumerate(words)
        if word.casefold() not in STOP
        and word.casefold() not in QUESTION_WORDS
        and (
            (word[:1].isupper() and (index > 0 or word.isupper()))
            or (any(c.isdigit() for c in word) and not word.isdigit())
        )
    ]


def _kind(folded: list[str]) -> Kind:
    at = next((index for index, word in enumerate(folded) if word in QUESTION_WORDS), None)
    if at is None:
        return "other"
    asked, rest = folded[at], folded[at + 1 :]
    match asked:
        case "who" | "whom" | "whose" | "whos":
            return "who"
        case "when" | "where" | "why":
            return asked
        case "how":
            return "number" if rest and rest[0] in DEGREE else "how"
    return _kind_of_what(rest)


_KINDS_BY_NOUN: tuple[tuple[frozenset[str], Kind], ...] = (
    (ASKS_WHEN, "when"),
    (ASKS_NUMBER, "number"),
    (ASKS_NAME, "name"),
    (ASKS_WHERE, "where"),
    (ASKS_WHO, "who"),
)


def _kind_of_what(rest: list[str]) -> Kind:
    """The kind behind `what` and `which`, told by the noun that follows: `what year`, `which king`."""
    nouns = list(takewhile(lambda word: word not in AUXILIARY and word not in STOP, rest[:4]))[:3] or rest[:4]
    for known, kind in _KINDS_BY_NOUN:
        if not known.isdisjoint(nouns):
            return kind
    if "why" in rest or "reason" in rest[:4]:
        return "why"
    if not NAMING.isdisjoint(rest[1:]):
        return "name"
    means = rest[-1:] in (["mean"], ["do"]) or rest[:1] in (["is"], ["are"], ["was"], ["were"])
    return "define" if means and sum(word not in STOP for word in rest) <= 3 else "what"


def could_answer(question: Question, words: Sequence[str], stems: Sequence[str]) -> list[int]:
    """The places of words that by their looks could answer the question, and are not part of it."""
    looks = _LOOKS.get(question.kind)
    if looks is None:
        return []
    return [
        at for at, (word, stem) in enumerate(zip(words, stems, strict=True))
        if stem not in question.said and looks(word, at)
    ]  # fmt: skip


def _like_a_name(word: str, at: int) -> bool:
    low = word.casefold()
    return word[0].isupper() and low not in STOP and (at > 0 or low not in OPENERS)


def _like_a_time(word: str, _: int) -> bool:
    return word[0].isdigit() or word.casefold() in TIMES


def _like_a_number(word: str, _: int) -> bool:
    return word[0].isdigit() or word.casefold() in NUMBERS


_LOOKS: dict[Kind, Callable[[str, int], bool]] = {
    "who": _like_a_name, "where": _like_a_name, "when": _like_a_time, "number": _like_a_number,
}  # fmt: skip
