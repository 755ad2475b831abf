"""The thoughts of a model on a terminal while they come."""

from collections.abc import Callable

from hermes.cli._border import Border
from hermes.cli._held import Held

_IN_VIEW = 60
"""Letters of the newest thoughts that the row shows."""


class Thinking:
    """A row that moves, and then a line that says how long it took; or, `in_full`, all of it."""

    def __init__(self, border: Border, clock: Callable[[], float], *, in_full: bool) -> None:
        self._border = border
        self._clock = clock
        self._began = clock()
        self._in_full = in_full
        self._held = Held(border.redact)
        self._seen = ""

    def add(self, delta: str) -> None:
        self._seen += self._held.add(delta)
        if self._in_full:
            self._show_lines()
            return
        self._seen = " ".join(self._seen[-2 * _IN_VIEW :].split())[-_IN_VIEW:] + " "
        self._border.live(f"· thinking … {self._seen}")

    def end(self) -> None:
        if self._in_full:
            self._seen += self._held.rest() + "\n"
            self._show_lines()
        self._border.aside(f"· thought for {self._clock() - self._began:.0f} s")

    def _show_lines(self) -> None:
        *lines, self._seen = self._seen.split("\n")
        for line in lines:
            self._border.aside(line)
