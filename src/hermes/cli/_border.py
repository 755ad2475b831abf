"""What leaves the process as text: results on stdout, everything else on stderr, no secret in either."""

import os
import sys
from collections.abc import Callable
from typing import TextIO

import click

from hermes.cli._unseen import spelt_out
from hermes.errors import HermesError


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
        """A result, on stdout: as it is to a program, with nothing a terminal would obey to a terminal."""
        clean = self.redact(text)
        self._end_line()
        text = visible(clean) if is_terminal(self.stdout) else storable(clean)
        click.echo(text, file=self.stdout, nl=False)

    def say(self, text: str) -> None:
        """A remark, on stderr, on lines of its own."""
        self._end_line()
        click.echo(visible(self.redact(text)), err=True)

    def begin(self, text: str) -> None:
        """The beginning of a remark, dim: what happens now. `finish` ends it, or whatever is said next."""
        self._end_line()
        self._open = text
        click.secho(visible(self.redact(text)), err=True, dim=True, nl=False)

    def finish(self, text: str, end: str) -> None:
        """The end of a remark; its beginning is said again when something came between."""
        beginning = "" if self._open == text else text
        if beginning:
            self._end_line()
        self._open = None
        click.secho(visible(self.redact(f"{beginning}{end}")), err=True, dim=True)

    def _end_line(self) -> None:
        if self._open is not None:
            self._open = None
            click.echo("", err=True)

    def complain(self, error: HermesError) -> None:
        """What is wrong and how to mend it."""
        self.say(f"error: {error}" + (f"\nhint: {error.hint}" if error.hint else ""))


def border() -> Border:
    """The border of the running command."""
    return click.get_current_context().ensure_object(Border)


def is_terminal(stream: TextIO | None) -> bool:
    """Whether a person is at this stream; a closed one (`>&-`) is nobody."""
    return stream is not None and stream.isatty()


def visible(text: str) -> str:
    """Text in which control characters are seen instead of obeyed, and hidden ones are not hidden."""
    return spelt_out(storable(text).replace("\r\n", "\n"))


def storable(text: str) -> str:
    """Text that every encoder takes: bytes that were no text (as in file names) are replaced."""
    return text.encode(errors="surrogateescape").decode(errors="replace")


def one_line(text: str, limit: int = 72) -> str:
    """Text in a single line, cut with an ellipsis."""
    line = " ".join(text.split())
    return line if len(line) <= limit else f"{line[: limit - 1]}…"
