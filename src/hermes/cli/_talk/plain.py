"""Questions typed on a terminal that can do nothing but print."""

from typing import TextIO

from hermes.cli._border import Border, storable
from hermes.cli._keyboard import next_line

PROMPT = "> "


class PlainReader:
    """Reads a question: a line, and the next one where it ends in a backslash."""

    def __init__(self, border: Border, stdin: TextIO) -> None:
        self._border = border
        self._stdin = stdin

    async def read(self) -> str:
        """The next question; raises `EOFError` when there is none."""
        lines: list[str] = []
        while not lines or lines[-1].endswith("\\"):
            self._border.ask(PROMPT if not lines else "… ")
            typed = await next_line(self._stdin)
            if not typed:
                raise EOFError
            lines.append(storable(typed.removesuffix("\n")))
        return "\n".join(line.removesuffix("\\") for line in lines)
