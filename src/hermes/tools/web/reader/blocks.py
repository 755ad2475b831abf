"""The blocks of a Markdown text in the making: each takes text and inner blocks, and ends as text."""

import re
from collections.abc import Callable
from typing import ClassVar

Wrap = Callable[[str], str]

MAX_COLUMNS = 100
MAX_CELL = 1_000

_LINE_END = re.compile(r" *\n *")
_SPACES = re.compile(r" {2,}")
_SPACE = re.compile(r"\s+")
_HUGE = 100_000
_BLANK_LINES = re.compile(r"\n{3,}")
_BACKTICKS = re.compile(r"`+")


def one_line(text: str) -> str:
    """Text with single spaces; a huge one is not split into words, which would take many times its room."""
    if len(text) < _HUGE:
        return " ".join(text.split())
    pieces = (text[at : at + _HUGE] for at in range(0, len(text), _HUGE))
    return "".join(_SPACE.sub(" ", piece) for piece in pieces).strip()


def code_span(text: str) -> str:
    """Inline code, in as many backticks as its own ones need."""
    ticks = "`" * (_longest_ticks(text) + 1)
    pad = " " if text.startswith("`") or text.endswith("`") else ""
    return f"{ticks}{pad}{text}{pad}{ticks}"


def emphasis(mark: str) -> Wrap:
    """Text between marks, unless the same marks are there already."""
    return lambda text: text if text.startswith(mark) and text.endswith(mark) else f"{mark}{text}{mark}"


class Block:
    """A run of paragraphs; the page itself is one."""

    is_verbatim: ClassVar[bool] = False

    def __init__(self) -> None:
        self.parts: list[str] = []
        self.inline: list[str] = []
        self.spans: list[tuple[int, Wrap]] = []
        self.heading = 0

    def text(self, text: str) -> None:
        self.inline.append(text)

    def open(self, wrap: Wrap) -> None:
        """Begin a span of text that will be wrapped when it closes."""
        self.spans.append((len(self.inline), wrap))

    def close(self) -> None:
        start, wrap = self.spans.pop()
        inner = "".join(self.inline[start:])
        core = inner.strip()
        if core:
            before, after = inner[: len(inner) - len(inner.lstrip())], inner[len(inner.rstrip()) :]
            self.inline[start:] = [before, wrap(core), after]

    def flush(self) -> None:
        """End the paragraph, and the spans that are still open in it."""
        while self.spans:
            self.close()
        paragraph = _tidy("".join(self.inline)) if self.inline else ""
        self.inline.clear()
        if paragraph:
            self.add(f"{'#' * self.heading} {one_line(paragraph)}" if self.heading else paragraph)
        self.heading = 0

    def add(self, part: str) -> None:
        self.parts.append(part)

    def take(self, child: "Block") -> None:
        """Receive a finished inner block."""
        text = child.finish()
        if text:
            self.add(text)

    def finish(self) -> str:
        self.flush()
        return "\n\n".join(self.parts)


class Quote(Block):
    def finish(self) -> str:
        return _prefixed(super().finish(), "> ", "> ")


class Code(Block):
    is_verbatim = True

    def __init__(self, language: str) -> None:
        super().__init__()
        self.language = language

    def open(self, wrap: Wrap) -> None:
        """Code has no spans."""

    def close(self) -> None:
        """Code has no spans."""

    def flush(self) -> None:
        """Code has no paragraphs."""

    def finish(self) -> str:
        code = "".join(self.inline).replace("\xa0", " ").strip("\n").rstrip()
        fence = "`" * max(3, _longest_ticks(code) + 1)
        return f"{fence}{self.language}\n{code}\n{fence}" if code else ""


class Item(Block):
    def take(self, child: Block) -> None:
        """A list inside an item stands directly under the text before it."""
        if isinstance(child, Listing) and self.parts:
            self.parts[-1] += f"\n{child.finish()}"
        else:
            super().take(child)

    def marked(self, mark: str) -> str:
        return _prefixed(super().finish(), mark, " " * len(mark))

    def finish(self) -> str:
        return self.marked("- ")


class Listing(Block):
    """A list; `number` is its first number, or None for bullets."""

    def __init__(self, number: int | None = None) -> None:
        super().__init__()
        self.number = number

    def take(self, child: Block) -> None:
        if not isinstance(child, Item):
            text = _prefixed(child.finish(), "  ", "  ")
        elif self.number is None:
            text = child.marked("- ")
        else:
            text = child.marked(f"{self.number}. ")
            self.number += bool(text)
        if text:
            self.add(text)

    def finish(self) -> str:
        self.flush()
        return "\n".join(self.parts)


class Cell(Block):
    """One cell of a table, at its column."""

    def __init__(self, column: int) -> None:
        super().__init__()
        self.column = min(column, MAX_COLUMNS)


class Row(Block):
    def __init__(self) -> None:
        super().__init__()
        self.cells: list[str] = []

    def take(self, child: Block) -> None:
        if isinstance(child, Cell):
            self.cells += [""] * (child.column - len(self.cells))
            self.cells.append(child.finish())
        else:
            super().take(child)


class Table(Block):
    """A pipe table, or plain blocks when the table only served to place things on a page."""

    def __init__(self) -> None:
        super().__init__()
        self.rows: list[list[str]] = []
        self.holds_table = False

    def take(self, child: Block) -> None:
        if isinstance(child, Row):
            self.holds_table |= any("\n| " in cell for cell in child.cells)
            self.rows.append(child.cells)
            child.cells = []
        super().take(child)

    def finish(self) -> str:
        self.flush()
        rows = [row for row in self.rows if any(row)]
        self.parts += (
            [_pipes(rows)] if self._is_data(rows) else [cell for row in rows for cell in row if cell]
        )
        return "\n\n".join(part for part in self.parts if part)

    def _is_data(self, rows: list[list[str]]) -> bool:
        cells = [cell for row in rows for cell in row]
        is_wide = any(len(row) > 1 for row in rows)
        is_plain = not any(len(cell) > MAX_CELL or "```" in cell for cell in cells)
        return is_wide and is_plain and not self.holds_table


def _pipes(rows: list[list[str]]) -> str:
    width = max(map(len, rows))
    head, *body = [[one_line(cell).replace("|", "\\|") for cell in row] for row in rows]
    head += [""] * (width - len(head))
    lines = [head, ["---"] * width, *body]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _prefixed(text: str, first: str, rest: str) -> str:
    if not text:
        return ""
    head, *lines = text.split("\n")
    return "\n".join((first + head, *((rest + line).rstrip() for line in lines)))


def _tidy(text: str) -> str:
    if "  " in text:
        text = _SPACES.sub(" ", text)
    if "\n" in text:
        text = _BLANK_LINES.sub("\n\n", _LINE_END.sub("\n", text))
    return text.strip()


def _longest_ticks(text: str) -> int:
    return max(map(len, _BACKTICKS.findall(text)), default=0)
