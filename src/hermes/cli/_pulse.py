"""A beat every second while something is waited for, so that a person sees that it is."""

import asyncio
from collections.abc import Callable

SILENCE = 3
"""Seconds of waiting before the first beat."""


class Pulse:
    """Calls `beat` with the seconds that have passed, from the third on. Without a loop it never is."""

    def __init__(self, beat: Callable[[int], None]) -> None:
        self._beat = beat
        self._timer: asyncio.TimerHandle | None = None

    def start(self) -> None:
        self.stop()
        try:
            loop = asyncio.get_running_loop()
        except RuntimeError:
            return
        self._timer = loop.call_later(SILENCE, self._tick, loop, SILENCE)

    def stop(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _tick(self, loop: asyncio.AbstractEventLoop, seconds: int) -> None:
        self._timer = loop.call_later(1, self._tick, loop, seconds + 1)
        self._beat(seconds)
