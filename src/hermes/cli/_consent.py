"""Consent from whoever is at the terminal."""

import asyncio
from typing import TextIO

from hermes.cli._border import Border, one_line
from hermes.protocols import Approval

_SHOWN_ACTION = 400


class Consent:
    """Asks the person at `stdin`; without one (None) the answer is no, unless it was given beforehand."""

    def __init__(self, border: Border, stdin: TextIO | None, *, given: bool) -> None:
        self._border = border
        self._stdin = stdin
        self._given = given
        self._turn = asyncio.Lock()

    async def __call__(self, wanted: Approval) -> bool:
        action = one_line(self._border.redact(wanted.action), _SHOWN_ACTION)
        if self._given:
            self._border.say(f"allowed by `--yes`: {action}")
            return True
        if self._stdin is None:
            self._border.say(f"not done, nobody is here to ask: {action}\nhint: `--yes` allows it beforehand")
            return False
        async with self._turn:  # calls that run side by side ask one after the other
            self._border.say(f"{action}\nmay this be done? {wanted.reason} [y/N]")
            answer = await _line(self._stdin)
        return answer.strip().lower() in ("y", "yes")


async def _line(stdin: TextIO) -> str:
    """The next line, waited for in a way that an interrupt ends at once."""
    loop = asyncio.get_running_loop()
    ready = asyncio.Event()
    loop.add_reader(stdin.fileno(), ready.set)
    try:
        await ready.wait()
    finally:
        loop.remove_reader(stdin.fileno())
    return stdin.readline()
