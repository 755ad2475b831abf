"""Questions until somebody leaves."""

import asyncio
import sys
from collections import deque
from collections.abc import Sequence
from typing import Protocol

from hermes.cli._keyboard import echo
from hermes.cli._talk.talk import Talk
from hermes.errors import HermesError
from hermes.messages import Image


class Reader(Protocol):
    async def read(self) -> str:
        """The next question; raises `EOFError` when there is none, `Interrupted` when somebody leaves."""
        ...


def hold(runner: asyncio.Runner, talk: Talk, reader: Reader, pictures: Sequence[Image]) -> None:
    """Answer until the end of input, the first question with the pictures.

    Ctrl-C stops an answer, and a second one leaves, as it does where nothing is typed.
    """
    inbox = talk.runtime.plugins.inbox = deque()
    while not talk.is_over:
        is_person = not inbox
        try:
            typed = runner.run(reader.read()).strip() if is_person else inbox.popleft()
        except EOFError:
            talk.border.say("")
            break
        if not typed:
            continue
        shown, pictures = pictures, ()
        turn = _Turn(talk, typed, shown, is_person=is_person)
        try:
            with echo(sys.stdin, on=False):
                runner.run(turn.run())
        except KeyboardInterrupt:
            if not turn.has_ended:
                raise
            talk.border.say("stopped; what was said is kept")
        except HermesError as error:
            talk.border.complain(error)
    runner.run(talk.dialogue.end(talk.show))


class _Turn:
    """One answer. It has not ended when a second Ctrl-C came before the first was dealt with."""

    def __init__(self, talk: Talk, typed: str, images: Sequence[Image], *, is_person: bool) -> None:
        self.has_ended = False
        self._work = talk.hear(typed, images, is_person=is_person)

    async def run(self) -> None:
        try:
            await self._work
        finally:
            self.has_ended = True
