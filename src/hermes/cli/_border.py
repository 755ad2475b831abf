"""What leaves the process as text: results on stdout, everything else on stderr, no secret in either."""

import os
import re
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TextIO

import click

from hermes.cli._letters import PLAINLY
from hermes.cli._terminal import has_attributes, is_able
from hermes.cli._unseen import spelt_out
from hermes.cli._width import cells, columns, fitting, folded, said_columns
from hermes.errors import HermesError

SHORTEST_CUT = 20
"""Columns that are left of a remark, however narrow the terminal is."""
_INERT = {code: f"\\u{code:04x}" for code in {*range(0x20), *range(0x7F, 0xA0)} - set(b"\n\t\r\f")}
_LONE_RETURN = re.compile(r"\r(?!\n)")


class Border:
    """Every word to a person goes through here; secrets are taken out once settings are read."""

    def __init__(self) -> None:
        self.redact: Callable[[str], str] = str
        self._row = ""
        self._is_in_line = False
        self._is_still = False
        self._kept: TextIO | None = None

    def keep_stdout(self) -> None:
        """Keep stdout for results: what plugins and their programs write there goes to stderr from now on."""
        if sys.stdout is None or sys.stderr is None:
            return
        sys.stdout.flush()
        kept = os.dup(sys.stdout.fileno())
        self._kept = os.fdopen(kept, "w", encoding=sys.stdout.encoding, errors=PLAINLY)
        os.dup2(sys.stderr.fileno(), sys.stdout.fileno())

    def close(self) -> None:
        """Give stdout back."""
        if self._kept is not None:
            kept, self._kept = self._kept, None
            sys.stdout.flush()
            os.dup2(kept.fileno(), sys.stdout.fileno())
            kept.close()

    @property
    def stdout(self) -> TextIO | None:
        """Where results go."""
        return self._kept or sys.stdout

    def show(self, text: str) -> None:
        """A result, on stdout, with nothing in it that a terminal would obey: a pipe may well end at one."""
        clean = self.redact(text)
        self.clear()
        text = visible(clean) if is_terminal(self.stdout) else inert(clean)
        click.echo(text, file=self.stdout, nl=False)

    def paint(self, text: str) -> None:
        """Write what was made for the terminal at stdout: nothing in it does harm."""
        self.clear()
        click.echo(self.redact(text), file=self.stdout, nl=False)
        self._is_in_line = not text.endswith("\n")

    def say(self, text: str) -> None:
        """A remark, on stderr, on lines of its own, which a terminal breaks between words."""
        self._write(f"{_folded(visible(self.redact(text)))}\n")

    def ask(self, prompt: str) -> None:
        """What stands before an answer that is typed, on stderr."""
        self._write(prompt)

    def aside(self, text: str, end: str = "") -> None:
        """A remark that matters less: dim, where that can be shown.

        Where it does not fit with its `end` into a line of the terminal, it is cut before that.
        """
        shown, last = visible(self.redact(text)), visible(self.redact(end))
        if last and is_terminal(sys.stderr):
            shown = fitting(shown, max(columns(sys.stderr) - cells(last), SHORTEST_CUT))
        self._write(f"{_dim(_folded(shown + last))}\n")

    @property
    def is_live(self) -> bool:
        """Whether what happens now can be shown: stderr is a terminal that takes rows away again."""
        return is_terminal(sys.stderr) and is_able(os.environ)

    def live(self, text: str) -> None:
        """What happens now, in a row on stderr that goes when anything else is said. Only to a terminal."""
        if self.is_live and not self._is_still:
            row = fitting(visible(self.redact(text)), columns(sys.stderr) - 1)
            left = " " * (cells(self._row) - cells(row))
            self._end_line()
            self._row = row
            self._tell(f"\r{_dim(row)}{left}")

    @contextmanager
    def still(self) -> Iterator[None]:
        """Within this nothing moves, because somebody is typing."""
        self.clear()
        self._is_still = True
        try:
            yield
        finally:
            self._is_still = False

    def clear(self) -> None:
        """Take the row of `live` away; blanks do that on every terminal."""
        if self._row:
            blanks = " " * min(cells(self._row), columns(sys.stderr) - 1)
            self._row = ""
            self._tell(f"\r{blanks}\r")

    def _write(self, text: str) -> None:
        self.clear()
        self._end_line()
        self._tell(text)

    def _end_line(self) -> None:
        """Leave a line that is still being written on the same screen."""
        if self._is_in_line and is_terminal(sys.stderr):
            self._tell("\n")
        self._is_in_line = False

    def _tell(self, text: str) -> None:
        """Words on stderr. Where nobody hears them, nothing fails for it."""
        try:
            click.echo(text, err=True, nl=False)
        except OSError:
            _let_go(sys.stderr)

    def let_stdout_go(self) -> None:
        """Give up on results: what goes to stdout from now on is lost."""
        _let_go(self.stdout)

    def complain(self, error: HermesError) -> None:
        """What is wrong and how to mend it."""
        hint = error.hint or error.mend
        self.say(f"error: {error}" + (f"\nhint: {hint}" if hint else ""))


def _let_go(stream: TextIO | None) -> None:
    """Send what a stream still holds nowhere, or the interpreter would fail with it at its end."""
    if stream is not None:
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, stream.fileno())
        os.close(nowhere)


def _folded(text: str) -> str:
    """Text for stderr; a terminal that does not say how wide it is folds for itself."""
    width = said_columns(sys.stderr) if is_terminal(sys.stderr) else 0
    return folded(text, width) if width else text


def _dim(text: str) -> str:
    return f"\x1b[2m{text}\x1b[0m" if is_terminal(sys.stderr) and has_attributes(os.environ) else text


def border() -> Border:
    """The border of the running command."""
    return click.get_current_context().ensure_object(Border)


def is_terminal(stream: TextIO | None) -> bool:
    """Whether a person is at this stream; a closed one (`>&-`) is nobody."""
    return stream is not None and stream.isatty()


def visible(text: str) -> str:
    """Text in which control characters are seen instead of obeyed, and hidden ones are not hidden."""
    return spelt_out(storable(text).replace("\r\n", "\n"))


def inert(text: str) -> str:
    """Text for a program: nothing that commands a terminal, and all that a file may hold."""
    return _LONE_RETURN.sub(r"\\u000d", storable(text).translate(_INERT))


def storable(text: str) -> str:
    """Text that every encoder takes: bytes that were no text (as in file names) are replaced."""
    return text.encode(errors="surrogateescape").decode(errors="replace")


def one_line(text: str, limit: int = 72) -> str:
    """Text in a single line, cut with an ellipsis."""
    line = " ".join(text.split())
    return line if len(line) <= limit else f"{line[: limit - 1]}…"
