"""What the terminal can do, and how wide text is on it."""

import os
import unicodedata
from collections.abc import Mapping
from functools import lru_cache
from typing import TextIO

USUAL_WIDTH = 80
"""Columns of a terminal that does not tell how many it has."""

_LINKING_PROGRAMS = ("iTerm.app", "WezTerm", "vscode", "ghostty", "Hyper", "Tabby", "rio", "WarpTerminal")
_LINKING_TERMINALS = ("xterm-kitty", "xterm-ghostty", "alacritty", "foot", "wezterm", "contour")
_LINKING_VARIABLES = ("KITTY_WINDOW_ID", "WT_SESSION", "KONSOLE_VERSION", "DOMTERM")
_OLDEST_LINKING_VTE = 5000


def is_able(environment: Mapping[str, str]) -> bool:
    """Whether the terminal that these variables describe is more than a printer."""
    return environment.get("TERM", "") not in ("", "dumb", "unknown")


def has_attributes(environment: Mapping[str, str]) -> bool:
    """Whether text may be dim, bold or in colour."""
    return is_able(environment) and not environment.get("NO_COLOR")


def takes_links(environment: Mapping[str, str]) -> bool:
    """Whether it is one of those known to take links behind words (OSC 8).

    A terminal inside of another may lose them.
    """
    name = environment.get("TERM", "")
    if not has_attributes(environment) or name.startswith(("screen", "tmux")) or environment.get("TMUX"):
        return False
    version = environment.get("VTE_VERSION", "")
    return (
        environment.get("TERM_PROGRAM") in _LINKING_PROGRAMS
        or name.startswith(_LINKING_TERMINALS)
        or any(environment.get(variable) for variable in _LINKING_VARIABLES)
        or (version.isdecimal() and int(version) >= _OLDEST_LINKING_VTE)
    )


def columns(stream: TextIO | None) -> int:
    """How wide the terminal at this stream is now."""
    try:
        return (stream and os.get_terminal_size(stream.fileno()).columns) or USUAL_WIDTH
    except (OSError, ValueError):
        return USUAL_WIDTH


def cells(text: str) -> int:
    """How many columns the text takes."""
    return len(text) if text.isascii() else sum(map(letter_cells, text))


@lru_cache(4096)
def letter_cells(letter: str) -> int:
    if unicodedata.category(letter) in ("Mn", "Me", "Cf"):
        return 0
    return 2 if unicodedata.east_asian_width(letter) in "WF" else 1


def fitting(text: str, width: int) -> str:
    """The text in a single line of at most so many columns, cut with an ellipsis."""
    line = " ".join(text.split())
    if cells(line) <= width:
        return line
    while line and cells(line) > width - 1:
        line = line[:width][:-1]
    return f"{line}…"
