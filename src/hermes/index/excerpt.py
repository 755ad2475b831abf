"""The part of a passage that shows why it was found."""

import re
from collections.abc import Sequence

LENGTH = 500

_START = re.compile(r"(?:^|(?<=[.!?…。！？])\s*|\n+)(?=\S)")  # noqa: RUF001 - full stops of Chinese
_WORD = re.compile(r"\w+")


def excerpt(text: str, words: Sequence[str]) -> str:
    """At most `LENGTH` characters, from the sentence after which most of the words occur."""
    if len(text) <= LENGTH:
        return text
    hits = _hits(text, words)
    starts = [found.end() for found in _START.finditer(text)]
    best = max(starts or [0], key=lambda start: (_told(hits, start), -start))
    return _clipped(text[best:])


def _hits(text: str, words: Sequence[str]) -> list[tuple[int, str]]:
    """Where the words stand in the text; letter pairs of scripts without spaces are found anywhere."""
    stems = {_stem(word) for word in words}
    hits = [(found.start(), stem) for found in _WORD.finditer(text) if (stem := _stem(found[0])) in stems]
    pairs = {word for word in words if len(word) == 2 and not word.isascii()}
    places = range(len(text) - 1) if pairs else ()
    return hits + [(at, text[at : at + 2]) for at in places if text[at : at + 2] in pairs]


def _told(hits: Sequence[tuple[int, str]], start: int) -> int:
    """How many different words stand in the excerpt that begins here."""
    return len({stem for place, stem in hits if start <= place < start + LENGTH})


def _stem(word: str) -> str:
    """A crude stem, good enough to compare a question's words with a text's."""
    word = word.lower()
    return word[: max(4, len(word) - 3)]


def _clipped(text: str) -> str:
    """The head of a text, cut at a word."""
    if len(text) <= LENGTH:
        return text
    head, space, _ = text[: LENGTH + 1].rpartition(" ")
    return (head if space and len(head) > LENGTH // 2 else text[:LENGTH]).rstrip()
