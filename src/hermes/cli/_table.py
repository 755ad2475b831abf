"""Lists for people and for programs: a table that fits the terminal, or lines with tabs in a pipe."""

from collections.abc import Iterator, Sequence
from itertools import zip_longest

import msgspec

from hermes.cli._border import border, is_terminal, visible
from hermes.cli._width import cells, columns, cut, padded, wrapped

GAP = 2


class Column(msgspec.Struct, frozen=True):
    """One column: its name, and the fewest cells that its texts may be cut to; 0 where they are not cut.

    Where it `wraps`, what does not fit goes on in the next line.
    """

    name: str
    least: int = 0
    right: bool = False
    wraps: bool = False


class Table(msgspec.Struct, frozen=True):
    """Rows under named columns. The first column that has a name tells the rows apart."""

    columns: tuple[Column, ...]
    rows: Sequence[Sequence[str]]

    def lines(self) -> str:
        """One line for each row with a tab between cells, whole and without a head: for programs."""
        return "".join("\t".join(map(_flat, row)) + "\n" for row in self.rows)

    def fitted(self, width: int) -> str:
        """The table in so many cells. Where not even cut texts have room, each row is a list of its own."""
        shown = [[visible(_flat(cell)) for cell in row] for row in self.rows]
        widths = self._widths(shown, width)
        if widths is None:
            return "\n".join("".join(self._listed(row, width)) for row in shown)
        heads = [column.name.upper() for column in self.columns]
        return "".join(self._line(row, widths) for row in (heads, *shown))

    def _widths(self, rows: Sequence[Sequence[str]], width: int) -> list[int] | None:
        """How wide each column is; the widest of those that may be cut gives way first."""
        widths = [
            max((cells(column.name), *(cells(row[place]) for row in rows)))
            for place, column in enumerate(self.columns)
        ]
        while sum(widths) + GAP * (len(widths) - 1) > width:
            able = [place for place, column in enumerate(self.columns) if 0 < column.least < widths[place]]
            if not able:
                return None
            widths[max(able, key=widths.__getitem__)] -= 1
        return widths

    def _line(self, row: Sequence[str], widths: Sequence[int]) -> str:
        stacks = [
            wrapped(cell, width) if column.wraps else [cut(cell, width)]
            for cell, width, column in zip(row, widths, self.columns, strict=True)
        ]
        lines = zip_longest(*stacks, fillvalue="")
        return "".join((" " * GAP).join(self._padded(line, widths)).rstrip() + "\n" for line in lines)

    def _padded(self, line: Sequence[str], widths: Sequence[int]) -> Iterator[str]:
        for text, width, column in zip(line, widths, self.columns, strict=True):
            yield padded(text, width, right=column.right)

    def _listed(self, row: Sequence[str], width: int) -> Iterator[str]:
        """A row as lines: what tells it apart, then each of the other cells behind its name."""
        named = [(column.name, cell) for column, cell in zip(self.columns, row, strict=True) if cell]
        marks = [cell for name, cell in named if not name]
        (_, title), *others = [(name, cell) for name, cell in named if name]
        yield from (f"{line}\n" for line in wrapped(" ".join([*marks, title]), width))
        indent = GAP + max((cells(name) for name, _ in others), default=0) + GAP
        for name, cell in others:
            first, *rest = wrapped(cell, max(width - indent, 1))
            yield f"{' ' * GAP}{padded(name, indent - GAP)}{first}\n"
            yield from (f"{' ' * indent}{line}\n" for line in rest)


def show_table(table: Table) -> None:
    """Print a table: fitted to a terminal, as plain lines to a program."""
    stream = border().stdout
    border().show(table.fitted(columns(stream)) if is_terminal(stream) else table.lines())


def _flat(cell: str) -> str:
    return " ".join(cell.split())
