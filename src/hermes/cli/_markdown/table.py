"""A whole table, made to fit the width: columns shrink, and where they cannot, each row becomes a list."""

import re
from collections.abc import Sequence
from typing import Literal

import msgspec

from hermes.cli._markdown.inline import runs
from hermes.cli._markdown.lines import cut
from hermes.cli._markdown.lines import words as words_of
from hermes.cli._markdown.style import Run, Style, strong
from hermes.cli._width import cells

Side = Literal["left", "right", "middle"]
Line = list[Run]

LONGEST_UNCUT = 14
"""Columns of a word that is not cut to make a table fit."""
_GAP = "  "
_DELIMITER = re.compile(r" {0,3}\|?(?: *:?-+:? *\|)* *:?-+:? *\|? *")


class Cell(msgspec.Struct, frozen=True):
    """The words of a cell; `natural` is how wide they would like to be, `least` how wide they have to be."""

    words: tuple[tuple[Run, ...], ...]
    natural: int
    least: int


def is_delimiter(line: str, columns: int) -> bool:
    """Whether a line is the second of a table with so many columns."""
    return "-" in line and bool(_DELIMITER.fullmatch(line)) and len(split(line)) == columns


def split(line: str) -> list[str]:
    """The cells of a row."""
    inner = re.sub(r"(?<!\\)\|$", "", line.strip().removeprefix("|"))
    parts = re.split(r"(?<!\\)\|", inner)
    return [part.replace("\\|", "|").strip() for part in parts]


def table(rows: Sequence[str], style: Style, width: int) -> list[str]:
    """The lines of a table, from its lines in Markdown."""
    header, sides, *body = (split(row) for row in rows)
    count = len(header)
    padded = [[*row, *[""] * count][:count] for row in body]
    head = [_cell(text, style, is_name=True) for text in header]
    cells_of = [[_cell(text, style) for text in row] for row in padded]
    columns = list(zip(head, *cells_of, strict=True))
    widths = _widths(columns, width)
    if widths is None:
        names = [_cell(f"{text}:" if text else "", style, is_name=True) for text in header]
        return _records(names, cells_of, style, width)
    places = [_side(mark) for mark in sides]
    rule = _GAP.join(style.dash * wide for wide in widths)
    lines = [*_row(head, widths, places, style), style.dim(rule)]
    for row in cells_of:
        lines += _row(row, widths, places, style)
    return lines


def _cell(text: str, style: Style, *, is_name: bool = False) -> Cell:
    plain = re.sub(r"<br */?>", " ", text)
    made = style.shown(runs(plain, brief=style.links))
    if is_name:
        made = [strong(run) for run in made]
    found = tuple(tuple(word) for word in words_of(made) if word)
    wide = [_cells(word) for word in found]
    longest = min(max(wide, default=1), LONGEST_UNCUT)
    return Cell(found, sum(wide) + max(len(wide) - 1, 0), longest)


def _cells(word: Sequence[Run]) -> int:
    return sum(cells(run.text) for run in word)


def _widths(columns: Sequence[Sequence[Cell]], width: int) -> list[int] | None:
    """How wide each column is; the widest give way first. None when the table cannot be made to fit."""
    free = width - len(_GAP) * (len(columns) - 1)
    least = [max(cell.least for cell in column) for column in columns]
    if sum(least) > free:
        return None
    natural = (max(cell.natural for cell in column) for column in columns)
    widths = [max(low, min(wanted, free)) for low, wanted in zip(least, natural, strict=True)]
    while sum(widths) > free:
        _, at = max((wide, at) for at, wide in enumerate(widths) if wide > least[at])
        widths[at] -= 1
    return widths


def _row(row: Sequence[Cell], widths: Sequence[int], sides: Sequence[Side], style: Style) -> list[str]:
    laid = [_laid(cell.words, width) for cell, width in zip(row, widths, strict=True)]
    lines = []
    for at in range(max(map(len, laid), default=0)):
        parts = [
            _placed(column[at] if at < len(column) else [], width, side, style)
            for column, width, side in zip(laid, widths, sides, strict=True)
        ]
        lines.append(_GAP.join(parts).rstrip())
    return lines


def _laid(words: Sequence[Sequence[Run]], width: int) -> list[Line]:
    """Words in lines that are at most so wide."""
    lines: list[Line] = [[]]
    room = width
    for word in words:
        for part in cut(word, width):
            taken = _cells(part)
            apart = 1 if lines[-1] else 0
            if apart + taken > room and lines[-1]:
                lines.append([])
                room, apart = width, 0
            lines[-1] += [Run(" ")] * apart + part
            room -= apart + taken
    return lines


def _placed(line: Line, width: int, side: Side, style: Style) -> str:
    left = max(width - _cells(line), 0)
    before = {"left": 0, "right": left, "middle": left // 2}[side]
    return " " * before + "".join(map(style.paint, line)) + " " * (left - before)


def _side(mark: str) -> Side:
    match mark.startswith(":"), mark.endswith(":"):
        case True, True:
            return "middle"
        case False, True:
            return "right"
        case _:
            return "left"


def _records(head: Sequence[Cell], rows: Sequence[Sequence[Cell]], style: Style, width: int) -> list[str]:
    """Each row as lines of `name: value`, with an empty line between rows."""
    lines: list[str] = []
    for row in rows:
        lines += [""] if lines else []
        for name, value in zip(head, row, strict=True):
            laid = _laid((*name.words, *value.words), max(width - len(_GAP), 1))
            shown = ["".join(map(style.paint, line)) for line in laid]
            lines += [shown[0], *(f"{_GAP}{line}" for line in shown[1:])]
    return lines
