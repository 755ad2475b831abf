"""What leaves the process as text: results on stdout, everything else on stderr, no secret in either."""

import os
import re
import sys
from collections.abc import Callable
from typing import TextIO

import click

from hermes.errors import HermesError

_BIDI = (0x061C, 0x200E, 0x200F, *range(0x202A, 0x202F), *range(0x2066, 0x206A))
_CONTROLS = {*range(0x20), *range(0x7F, 0xA0), *_BIDI} - {ord("\n"), ord("\t")}
_INERT = {code: f"\\u{code:04x}" for code in {*range(0x20), *range(0x7F, 0xA0)} - set(b"\n\t\r\f")}
_LONE_RETURN = re.compile(r"\r(?!\n)")
_VISIBLE = {code: f"\\u{code:04x}" for code in _CONTROLS}


class Border:
    """Every word to a person goes through here; secrets are taken out once settings are read."""

    def __init__(self) -> None:
        self.redact: Callable[[str], str] = str
        self._open: str | None = None
        self._kept: TextIO | None = None

    def keep_stdout(self) -> None:
        """Keep stdout for results: what plugins and their programs write there goes to stderr from now on."""
        if sys.stdout is None or sys.stderr is None:
            return
        sys.stdout.flush()
        kept = os.dup(sys.stdout.fileno())
        self._kept = os.fdopen(kept, "w", encoding=sys.stdout.encoding, errors="replace")
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
        self._end_line()
        text = visible(clean) if is_terminal(self.stdout) else inert(clean)
        click.echo(text, file=self.stdout, nl=False)

    def say(self, text: str) -> None:
        """A remark, on stderr, on lines of its own."""
        self._end_line()
        self._tell(text)

    def begin(self, text: str) -> None:
        """The beginning of a remark, dim: what happens now. `finish` ends it, or whatever is said next."""
        self._end_line()
        self._open = text
        self._tell(text, dim=True, nl=False)

    def finish(self, text: str, end: str) -> None:
        """The end of a remark; its beginning is said again when something came between."""
        beginning = "" if self._open == text else text
        if beginning:
            self._end_line()
        self._open = None
        self._tell(f"{beginning}{end}", dim=True)

    def _end_line(self) -> None:
        if self._open is not None:
            self._open = None
            self._tell("")

    def _tell(self, text: str, *, dim: bool | None = None, nl: bool = True) -> None:
        """Words on stderr. Where nobody hears them, nothing fails for it."""
        try:
            click.secho(visible(self.redact(text)), err=True, dim=dim, nl=nl)
        except OSError:
            _let_go(sys.stderr)

    def let_stdout_go(self) -> None:
        """Give up on results: what goes to stdout from now on is lost."""
        _let_go(self.stdout)

    def complain(self, error: HermesError) -> None:
        """What is wrong and how to mend it."""
        self.say(f"error: {error}" + (f"\nhint: {error.hint}" if error.hint else ""))


def _let_go(stream: TextIO | None) -> None:
    """Send what a stream still holds nowhere, or the interpreter would fail with it at its end."""
    if stream is not None:
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, stream.fileno())
        os.close(nowhere)


def border() -> Border:
    """The border of the running command."""
    return click.get_current_context().ensure_object(Border)


def is_terminal(stream: TextIO | None) -> bool:
    """Whether a person is at this stream; a closed one (`>&-`) is nobody."""
    return stream is not None and stream.isatty()


def visible(text: str) -> str:
    """Text in which control characters are seen instead of obeyed."""
    return storable(text).replace("\r\n", "\n").translate(_VISIBLE)


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
