"""What a question asks: its terms, what kind of answer it expects, and the noun it asks about."""

import re
from collections.abc import Callable, Sequence
from functools import lru_cache
from itertools import pairwise
from typing import Literal

import msgspec

from hermes.providers.scout.words import NUMBER_WORDS, QUESTION_WORDS, STOP, surface, term

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


_WHEN_NOUNS = frozenset("year years date day month century decade era time period season".split())
_WHERE_NOUNS = frozenset(
    "country city town state place location region continent river street area nation village county province "
    "island district neighborhood neighbourhood ocean sea".split()
)
_WHO_NOUNS = frozenset(
    "person people man woman king queen emperor president leader scientist author writer artist actor actress "
    "director team company group organization king pope ruler philosopher inventor player singer composer".split()
)
_NUMBER_NOUNS = frozenset(
    "percent percentage number amount population proportion fraction rate price cost distance height length size "
    "temperature age speed weight area volume".split()
)
ASKING = frozenset(
    "many much long far old tall high big large often deep wide fast heavy few hot cold thick late early soon".split()
)
_NAME_NOUNS = frozenset("name term word nickname title".split())
_AUXILIARY = frozenset(
    "is are was were did does do can could has have had would will should may might must be been".split()
)
_NAMING = frozenset("called named known termed referred considered".split())
_GENERIC = frozenset(
    map(term, "name term type kind sort form year date number amount percentage percent person people thing way "
    "word example many much called known people city country group part place one time reason".split())
)  # fmt: skip

_QUOTED = re.compile(r"[\"“]([^\"“”]{2,80})[\"”]|(?<!\w)['‘]([^'‘’]{2,80})['’](?!\w)")


def is_generic(stem: str) -> bool:
    """Whether a term says what is asked for rather than what it is about."""
    return stem in _GENERIC


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
        pairs=tuple((one, two) for one, two in pairwise(stems.index(stem) for _, stem in content) if one != two),
        phrases=tuple((a or b).casefold() for a, b in _QUOTED.findall(text)),
        said=frozenset(map(term, words)),
    )


def _names(words: list[str]) -> list[str]:
    """Words written like names: capitals that do not merely open the sentence, and codes with digits."""
    return [
        word
        for index, word in enumerate(words)
        if word.casefold() not in STOP and word.casefold() not in QUESTION_WORDS
        and ((word[:1].isupper() and (index > 0 or word.isupper())) or (any(c.isdigit() for c in word) and not word.isdigit()))
    ]


def _focus(folded: list[str], at: int) -> list[str]:
    """The noun after `what` or `which`: `what branch of biology studies …` asks for a branch."""
    if at < 0 or folded[at] not in ("what", "which"):
        return []
    found: list[str] = []
    for word in folded[at + 1 : at + 5]:
        if word in _AUXILIARY or word in STOP:
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
        return "number" if after and after[0] in ASKING else "how"
    return _kind_of_what(folded[at + 1 :], focus)


def _kind_of_what(rest: list[str], focus: list[str]) -> Kind:
    nouns = {word for word in rest[:4] if word not in STOP} if not focus else set(focus)
    kinds: tuple[tuple[frozenset[str], Kind], ...] = (
        (_WHEN_NOUNS, "when"), (_NUMBER_NOUNS, "number"), (_NAME_NOUNS, "name"),
        (_WHERE_NOUNS, "where"), (_WHO_NOUNS, "who"),
    )  # fmt: skip
    for known, kind in kinds:
        if nouns & known:
            return kind
    if "why" in rest or "reason" in rest[:4]:
        return "why"
    if _NAMING & set(rest[1:]):
        return "name"
    content = [word for word in rest if word not in STOP]
    if rest[:1] and rest[0] in ("is", "are", "was", "were") and len(content) <= 3:
        return "define"
    return "what"


_TIMES = frozenset(
    "january february march april may june july august september october november december spring summer autumn "
    "winter century centuries decade monday tuesday wednesday thursday friday saturday sunday bc ad bce".split()
)
_OPENERS = frozenset(
    "however although other another many several later today early unlike according despite following modern new".split()
)


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
    return word[0].isupper() and low not in STOP and (at > 0 or low not in _OPENERS)


def _like_a_time(word: str, _: int) -> bool:
    return word[0].isdigit() or word.casefold() in _TIMES


def _like_a_number(word: str, _: int) -> bool:
    return word[0].isdigit() or word.casefold() in NUMBER_WORDS


_LOOKS: dict[Kind, Callable[[str, int], bool]] = {
    "who": _like_a_name, "where": _like_a_name, "when": _like_a_time, "number": _like_a_number,
}  # fmt: skip
