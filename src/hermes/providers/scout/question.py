"""What a question asks: its terms, what kind of answer it expects, and the noun it asks about."""

import re
from collections.abc import Callable, Sequence
from functools import lru_cache
from itertools import pairwise
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
    QUESTION_WORDS,
    STOP,
    TIMES,
)
from hermes.providers.scout.words import surface, term

Kind = Literal["who", "when", "where", "number", "why", "how", "name", "define", "what", "other"]


class Question(msgspec.Struct, frozen=True):
    """A question taken apart. `terms` are in order and without repeats; `pairs` are neighbours among them."""

    text: str
    kind: Kind
    terms: tuple[str, ...]
    names: frozenset[str]
    numbers: frozenset[str]
    focus: tuple[str, ...]
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
    at = next((index for index, low in enumerate(folded) if low in QUESTION_WORDS), -1)
    focus = _focus(folded, at)
    return Question(
        text=text,
        kind=_kind(folded, at, focus),
        terms=stems,
        names=frozenset(term(word) for word in _names(words)),
        numbers=frozenset(stem for word, stem in content if any(char.isdigit() for char in word)),
        focus=tuple(term(word) for word in focus),
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


def _focus(folded: list[str], at: int) -> list[str]:
    """The noun after `what` or `which`: `what branch of biology studies …` asks for a branch."""
    if at < 0 or folded[at] not in ("what", "which"):
        return []
    found: list[str] = []
    for word in folded[at + 1 : at + 5]:
        if word in AUXILIARY or word in STOP:
            break
        found.append(word)
    return found[:3]


def _kind(folded: list[str], at: int, focus: list[str]) -> Kind:
    if at < 0:
        return "other"
    asked, after = folded[at], folded[at + 1 : at + 2]
    if asked in ("who", "whom", "whose"):
        return "who"
    if asked in ("when", "where", "why"):
        return asked  # type: ignore[return-value]
    if asked == "how":
        return "number" if after and after[0] in DEGREE else "how"
    return _kind_of_what(folded[at + 1 :], focus)


def _kind_of_what(rest: list[str], focus: list[str]) -> Kind:
    nouns = {word for word in rest[:4] if word not in STOP} if not focus else set(focus)
    kinds: tuple[tuple[frozenset[str], Kind], ...] = (
        (ASKS_WHEN, "when"), (ASKS_NUMBER, "number"), (ASKS_NAME, "name"),
        (ASKS_WHERE, "where"), (ASKS_WHO, "who"),
    )  # fmt: skip
    for known, kind in kinds:
        if nouns & known:
            return kind
    if "why" in rest or "reason" in rest[:4]:
        return "why"
    if NAMING & set(rest[1:]):
        return "name"
    content = [word for word in rest if word not in STOP]
    if rest[:1] and rest[0] in ("is", "are", "was", "were") and len(content) <= 3:
        return "define"
    return "what"


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
