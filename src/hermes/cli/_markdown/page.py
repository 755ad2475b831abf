"""Lines of Markdown sorted into blocks, and shown as they arrive.

A block is known by how its first line begins, and waits no longer than for that. So headings that are
underlined, links that are defined elsewhere and tables without a bar in front are shown as they are
written: to wait for what may follow would hold back every paragraph. A line break stays a line break.
"""

from collections.abc import Callable, Sequence

from hermes.cli._markdown.blocks import (
    CODE_INDENT,
    DEEPEST,
    FENCE,
    HEADING,
    ITEM,
    QUOTE,
    UNDERLINE,
    WHOLE,
    Container,
    Fence,
    begins_block,
    is_rule,
    is_short,
    is_undecided,
    set_in,
    squeezed,
    without,
)
from hermes.cli._markdown.inline import runs
from hermes.cli._markdown.lines import Lines
from hermes.cli._markdown.pieces import Pieces
from hermes.cli._markdown.style import Run, Style, strong
from hermes.cli._markdown.table import is_delimiter, split, table
from hermes.cli._unseen import spelt_out

_RULE_WIDTH = 40


class Page:
    """Markdown as it arrives, shown as far as it is certain. What was given back is never taken back."""

    def __init__(self, style: Style, width: Callable[[], int]) -> None:
        self._style = style
        self._lines = Lines(style, width)
        self._came: list[str] = []
        self._needs_line = False
        self._containers: list[Container] = []
        self._paragraph: Pieces | None = None
        self._in_line = False
        self._fence: Fence | None = None
        self._rows: list[str] = []
        self._is_begun = False
        self._blank_before = False

    def feed(self, text: str) -> str:
        """Take more of the Markdown; gives what is to be written now."""
        self._came.append(text)
        if text and (not self._needs_line or "\n" in text):
            self._take_in(final=False)
        return self._lines.take()

    def end(self) -> str:
        """No more comes: gives all that was held back, up to the end of its line."""
        self._take_in(final=True)
        self._end_table()
        self._end_paragraph()
        self._fence = None
        self._close(0)
        return self._lines.take()

    def _take_in(self, *, final: bool) -> None:
        """Deal with what came: whole lines, and as much of the last as is certain."""
        came = squeezed("".join(self._came).replace("\r\n", "\n"))
        held = "\r" if came.endswith("\r") and not final else ""
        *lines, last = came.removesuffix(held).split("\n")
        for line in lines:
            self._take(line, "\n")
        waits = bool(last) and not (self._in_line or final) and self._waits(last)
        self._needs_line = waits and self._needs_line
        if last and not waits:
            self._take(last, "")
            last = ""
        self._came = [last + held]

    def _take(self, line: str, end: str) -> None:
        """Deal with a line, or with a part of one that says what it is."""
        words = line if self._in_line else self._place(line)
        self._in_line = words is not None and not end
        if words is not None:
            self._say(words + end)

    def _waits(self, line: str) -> bool:
        """Whether the beginning of a line does not say yet what it is, or it is shown only as a whole."""
        self._needs_line = self._fence is not None or bool(self._rows) or self._is_code(line)
        for _ in range(DEEPEST):
            found = QUOTE.match(line) or ITEM.match(line)
            if self._needs_line or not found or is_undecided(line):
                break
            line = line[found.end() :]
        self._needs_line = self._needs_line or bool(WHOLE.fullmatch(line))
        return self._needs_line or is_undecided(line)

    def _say(self, text: str) -> None:
        """Words of a paragraph."""
        if self._paragraph is None:
            self._paragraph = Pieces()
        for piece in self._paragraph.add(text):
            self._show(piece)

    def _show(self, piece: str) -> None:
        match piece:
            case "\n":
                self._lines.end_line()
            case " ":
                self._lines.space()
            case _:
                self._lines.text(self._read(piece))

    def _read(self, text: str) -> Sequence[Run]:
        return self._style.shown(runs(text, brief=self._style.links))

    def _end_paragraph(self) -> None:
        if self._paragraph is not None:
            for piece in self._paragraph.rest():
                self._show(piece)
            self._paragraph = None
            self._lines.end_line()

    def _place(self, line: str) -> str | None:
        """Find out what a line is. Gives the words of a paragraph that it holds; None when all is done."""
        kept, rest = self._continued(line)
        if self._fence is not None and self._in_code(self._fence, kept, rest):
            return None
        if self._rows and self._in_table(kept, rest):
            return None
        if not rest.strip(" \t"):
            self._end_paragraph()
            self._close(kept, quotes_only=True)
            self._blank_before = True
            return None
        inside = self._paragraph is not None and kept == len(self._containers)
        opened, rest = self._opened(rest, inside=inside)
        is_more = self._paragraph is not None and not opened
        if is_more and kept < len(self._containers):
            is_more = not begins_block(rest)
            kept = len(self._containers) if is_more else kept
        if not is_more:
            self._end_paragraph()
            self._close(kept)
        for container in opened:
            self._enter(container)
        return self._leaf(rest, is_more=is_more)

    def _continued(self, line: str) -> tuple[int, str]:
        """How many of the open quotes and items a line belongs to, and what stands in them."""
        for number, container in enumerate(self._containers):
            if container.kind == "quote":
                found = QUOTE.match(line)
                if not found:
                    return number, line
                line = line[found.end() :]
            elif line.strip(" \t") and set_in(line) < container.indent:
                return number, line
            else:
                line = without(line, container.indent)
        return len(self._containers), line

    def _opened(self, line: str, *, inside: bool) -> tuple[list[Container], str]:
        """The quotes and items that begin on a line, and what stands in them.

        An empty item begins none `inside` of a paragraph.
        """
        opened: list[Container] = []
        while len(opened) < DEEPEST and not self._is_code(line) and not is_rule(line):
            quote, item = QUOTE.match(line), ITEM.match(line)
            if quote:
                opened.append(Container("quote"))
                line = line[quote.end() :]
            elif item and (item[3] or not inside):
                gap = 1 if len(item[3] or "") > CODE_INDENT else len(item[3] or " ")
                opened.append(Container("item", set_in(line) + len(item[2]) + gap, item[2]))
                line = line[item.end(2) + gap :]
            else:
                break
        return opened, line

    def _enter(self, container: Container) -> None:
        self._separate()
        self._containers.append(container)
        if container.kind == "quote":
            bar = f"{self._style.bar} "
            self._lines.set_in_more(bar, bar, 2)
        else:
            mark = self._style.bullet if container.mark in "-+*" else container.mark
            self._lines.set_in_more(f"{mark} ", " " * (len(mark) + 1), len(mark) + 1)

    def _close(self, kept: int, *, quotes_only: bool = False) -> None:
        """Leave the quotes and items after so many; a blank line does not end an item."""
        if kept < len(self._containers) and (not quotes_only or self._containers[kept].kind == "quote"):
            del self._containers[kept:]
        before, taken = "", 0
        for container in self._containers:
            wide = 2 if container.kind == "quote" or container.mark in "-+*" else len(container.mark) + 1
            before += f"{self._style.bar} " if container.kind == "quote" else " " * wide
            taken += wide
        self._lines.set_in(before, taken)

    def _separate(self, *, always: bool = False) -> None:
        """An empty line before a block, where the Markdown has one or the block always wants one."""
        if self._is_begun and (self._blank_before or always):
            self._lines.blank()
        self._is_begun, self._blank_before = True, False

    def _leaf(self, line: str, *, is_more: bool) -> str | None:
        """What stands in the quotes and items: words to be said, or a block that is shown here."""
        if fence := FENCE.fullmatch(line):
            self._end_paragraph()
            self._separate()
            self._fence = Fence(fence[1], set_in(line))
            self._show_fence(line)
        elif heading := HEADING.match(line):
            self._end_paragraph()
            self._show_heading(heading[1], heading[2] or "")
        elif not line:
            self._lines.raw("")
        elif is_rule(line) or (is_more and is_short(line) and UNDERLINE.match(line)):
            self._end_paragraph()
            self._separate()
            self._lines.raw(self._style.dim(self._style.dash * min(_RULE_WIDTH, self._lines.room)))
        elif line.lstrip(" \t").startswith("|"):
            self._rows = [line]
        elif self._is_code(line):
            self._separate()
            self._show_code(without(line, CODE_INDENT))
        else:
            if not is_more:
                self._separate()
            return line.lstrip(" \t")
        return None

    def _is_code(self, line: str) -> bool:
        """Whether a line is code because it is set in; in a list, more likely somebody only likes room."""
        return self._paragraph is None and not self._containers and set_in(line) >= CODE_INDENT

    def _show_heading(self, marks: str, text: str) -> None:
        self._separate(always=True)
        if not self._style.attributes:
            self._lines.text([Run(f"{marks} ")])
        self._lines.text(map(strong, self._read(text)))
        self._lines.begin_line()
        self._lines.end_line()

    def _in_code(self, fence: Fence, kept: int, line: str) -> bool:
        """Show a line of code, or end it; false when the line is no longer in it."""
        if kept < len(self._containers) and line.strip(" \t"):
            self._fence = None
            return False
        end = FENCE.fullmatch(line)
        if end and end[1].startswith(fence.mark) and not end[2].strip(" \t"):
            self._fence = None
            self._show_fence(line)
        else:
            self._show_code(without(line, min(fence.indent, set_in(line))))
        return True

    def _show_fence(self, line: str) -> None:
        """The fence itself, where nothing else tells code from words."""
        if not self._style.attributes:
            self._lines.raw(spelt_out(line.strip(" \t")))

    def _show_code(self, text: str) -> None:
        if text:
            self._lines.raw(self._style.paint(Run(spelt_out(text), ("code",))))
        else:
            self._lines.blank()

    def _in_table(self, kept: int, line: str) -> bool:
        """Take a line into the table that may begin here; false when it is not of it."""
        is_row = kept == len(self._containers) and line.lstrip(" \t").startswith("|")
        if is_row and (len(self._rows) > 1 or is_delimiter(line, len(split(self._rows[0])))):
            self._rows.append(line)
            return True
        self._end_table()
        return False

    def _end_table(self) -> None:
        rows, self._rows = self._rows, []
        if len(rows) > 1:
            self._end_paragraph()
            self._separate()
            for line in table(rows, self._style, self._lines.room):
                self._lines.raw(line)
        elif rows:
            if self._paragraph is None:
                self._separate()
            self._say(rows[0].lstrip(" \t") + "\n")
