"""How many cells of a terminal a text takes, and texts made to fit."""

import os
import re
import unicodedata
from collections.abc import Iterator
from functools import lru_cache
from typing import TextIO

USUAL = 80
NARROWEST = 20
_WORDS = re.compile(r"(\s*)((?:[^\s`]|`[^`]*`|`)+)")
_WITHOUT_WIDTH = ("Mn", "Me", "Cf")


def cells(text: str) -> int:
    """The cells a text takes: two for a wide character, none for one that joins the one before."""
    return len(text) if text.isascii() else sum(map(letter_cells, text))


@lru_cache(4096)
def letter_cells(character: str) -> int:
    """The cells of one character."""
    if unicodedata.category(character) in _WITHOUT_WIDTH:
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1


def cut(text: str, width: int) -> str:
    """The text in at most so many cells; what is missing at the end is shown as an ellipsis."""
    if cells(text) <= width:
        return text
    kept, left = "", width - 1
    for character in text:
        left -= letter_cells(character)
        if left < 0:
            break
        kept += character
    return f"{kept.rstrip()}…"


def fitting(text: str, width: int) -> str:
    """The text as a single line of at most so many cells."""
    return cut(" ".join(text.split()), width)


def padded(text: str, width: int, *, right: bool = False) -> str:
    """The text with spaces up to a width, behind it or before it."""
    room = " " * (width - cells(text))
    return room + text if right else text + room


def wrapped(text: str, width: int) -> list[str]:
    """The words of a text in lines of at most so many cells; a longer word is divided."""
    lines = [""]
    for word in text.split():
        for part in _parts(word, width):
            if lines[-1] and cells(lines[-1]) + 1 + cells(part) > width:
                lines.append("")
            lines[-1] += f" {part}" if lines[-1] else part
    return lines


def folded(text: str, width: int) -> str:
    """The text with its lines broken between words where they are wider than so many cells.

    What stands in backticks is one word, and no word is divided: both are there to be copied.
    """
    return "\n".join(line if cells(line) <= width else _fold(line, width) for line in text.split("\n"))


def _fold(line: str, width: int) -> str:
    whole, room = "", width
    for gap, word in _WORDS.findall(line):
        if whole and cells(gap + word) > room:
            whole, room = f"{whole}\n{word}", width - cells(word)
        else:
            whole, room = f"{whole}{gap}{word}", room - cells(gap + word)
    return whole


def _parts(word: str, width: int) -> Iterator[str]:
    part = ""
    for character in word:
        if part and cells(part + character) > width:
            yield part
            part = ""
        part += character
    yield part


def columns(stream: TextIO | None) -> int:
    """How wide the terminal at a stream is: as it is said, or as most are."""
    return said_columns(stream) or USUAL


def said_columns(stream: TextIO | None) -> int:
    """How wide the terminal at a stream is: as `COLUMNS` says, or as it says itself; 0 where nothing does."""
    said = os.environ.get("COLUMNS", "")
    if said.isdecimal() and int(said):
        return max(int(said), NARROWEST)
    try:
        width = os.get_terminal_size(stream.fileno()).columns if stream is not None else 0
    except (OSError, ValueError):
        width = 0
    return max(width, NARROWEST) if width else 0
