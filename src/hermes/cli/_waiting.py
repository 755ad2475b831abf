"""A silence that is long enough to wonder about is said."""

import asyncio

from hermes.cli._border import Border
from hermes.cli._render import Renderer
from hermes.events import Compacted, Event, Notice, RetryWaiting, Started, Switched, ToolFinished, ToolStarted

SAID_AFTER = (3.0, 30.0, 300.0)
"""Seconds of silence, each said once."""


class Patient:
    """Shows events through another renderer, and says when a model takes long to begin its answer.

    For where no row on a terminal counts the seconds.
    """

    def __init__(self, renderer: Renderer, border: Border) -> None:
        self._renderer = renderer
        self._border = border
        self._who = ""
        self._tools = 0
        self._alarm: asyncio.TimerHandle | None = None

    def show(self, event: Event) -> None:
        if self._alarm is not None and not isinstance(event, Notice | Compacted):
            self._alarm.cancel()
            self._alarm = None
        match event:
            case Started(_, provider, model):
                self._who, self._tools = f"{provider}/{model}", 0
                self._wait()
            case Switched(_, to_model):
                self._who = to_model
                self._wait()
            case RetryWaiting(_, seconds):
                self._wait(seconds)
            case ToolStarted():
                self._tools += 1
            case ToolFinished():
                self._tools = max(self._tools - 1, 0)
                self._wait()
            case _:
                pass
        self._renderer.show(event)

    def _wait(self, pause: float = 0.0, said: int = 0) -> None:
        """Listen from now on for the next silence, which begins after a pause."""
        if self._tools == 0 and said < len(SAID_AFTER):
            before = SAID_AFTER[said - 1] if said else 0.0
            delay = pause + SAID_AFTER[said] - before
            self._alarm = asyncio.get_running_loop().call_later(delay, self._say, said)

    def _say(self, said: int) -> None:
        self._border.say(f"no word from `{self._who}` for {SAID_AFTER[said]:.0f} s, still waiting")
        self._wait(said=said + 1)
