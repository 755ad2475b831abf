"""Words laid into lines of the terminal's width."""

from collections.abc import Callable, Iterable, Iterator, Sequence

from hermes.cli._markdown.style import Run, Style
from hermes.cli._width import cells, letter_cells

NARROWEST = 8
"""Columns that are there for words, however deep they are set in."""


class Lines:
    """Lays words out. What it gave is written: a word goes on the line, or on the next one.

    The width is asked for with every word, because a terminal may be resized at any time.
    """

    def __init__(self, style: Style, width: Callable[[], int]) -> None:
        self.style = style
        self._first = self._others = ""
        self._set_in = 0
        self._is_fresh = True
        self._width = width
        self._column = 0
        self._is_apart = False
        self._out: list[str] = []

    def take(self) -> str:
        """What is to be written now."""
        taken, self._out = "".join(self._out), []
        return taken

    def set_in(self, before: str, columns: int) -> None:
        """Put this before every line from the next one on; it is so many columns wide."""
        self._first = self._others = before
        self._set_in = columns

    def set_in_more(self, first: str, others: str, columns: int) -> None:
        """Put this after what stands before the next line, and that before all that follow it."""
        self._first += first
        self._others += others
        self._set_in += columns

    @property
    def room(self) -> int:
        """The columns that are there for words."""
        return max(self._width() - self._set_in, NARROWEST)

    @property
    def _end(self) -> int:
        return self._set_in + self.room

    def space(self) -> None:
        """A blank before the next word, where that stands on the same line."""
        self._is_apart = not self._is_fresh

    def word(self, runs: Sequence[Run]) -> None:
        """A word that holds no blank."""
        shown = "".join(map(self.style.paint, runs))
        taken = sum(cells(run.text) for run in runs)
        apart = 1 if self._is_apart else 0
        if not self._is_fresh and self._column + apart + taken > self._end:
            self.end_line()
            apart = 0
        self.begin_line()
        self._out += (" " * apart, shown)
        self._column = self._after(self._column + apart, taken)
        self._is_apart = False

    def text(self, runs: Iterable[Run]) -> None:
        """Texts with blanks and line breaks in them."""
        for word in words(runs):
            if word is None:
                self.end_line()
            elif not word:
                self.space()
            else:
                self.word(word)

    def raw(self, text: str) -> None:
        """A line that is not wrapped."""
        self.begin_line()
        self._out.append(text)
        self.end_line()

    def begin_line(self) -> None:
        if self._is_fresh:
            self._out.append(self._first)
            self._column, self._is_fresh = self._set_in, False
            self._first = self._others

    def end_line(self) -> None:
        """End the line, if there is anything on it."""
        if not self._is_fresh:
            self._out.append("\n")
            self._column, self._is_fresh, self._is_apart = 0, True, False

    def blank(self) -> None:
        """An empty line."""
        self.end_line()
        self._out.append(f"{self._others.rstrip()}\n")

    def _after(self, column: int, taken: int) -> int:
        """The column after a word; one that is wider than the line goes on in the next by itself."""
        end = column + taken
        return end if end <= self._end else end % self._end or self._end


def words(runs: Iterable[Run]) -> Iterator[list[Run] | None]:
    """The words of texts, each as runs with no blank between; empty for a blank, None for a line break."""
    word: list[Run] = []
    for run in runs:
        start = 0
        for at, letter in enumerate(run.text):
            if letter in " \t\n":
                yield from _closed(word, run, run.text[start:at])
                yield None if letter == "\n" else []
                word, start = [], at + 1
        if start < len(run.text):
            word.append(Run(run.text[start:], run.marks, run.address))
    if word:
        yield word


def _closed(word: list[Run], run: Run, rest: str) -> Iterator[list[Run]]:
    if rest:
        word = [*word, Run(rest, run.marks, run.address)]
    if word:
        yield word


def cut(word: Sequence[Run], width: int) -> Iterator[list[Run]]:
    """A word in parts that are at most so wide."""
    part: list[Run] = []
    left = width
    for run in word:
        text = ""
        for letter in run.text:
            taken = letter_cells(letter)
            if taken > left and (text or part):
                yield [*part, Run(text, run.marks, run.address)] if text else part
                part, text, left = [], "", width
            text += letter
            left -= taken
        if text:
            part.append(Run(text, run.marks, run.address))
    if part:
        yield part
