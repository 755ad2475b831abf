"""The time that callbacks take by themselves, and what happens when it is over."""

import asyncio
from collections.abc import Callable
from typing import Generic, Protocol, TypeVar


class Timed(Protocol):
    """A callback at work: its time passes only while it does not wait for what it wraps."""

    def left(self) -> float | None:
        """Seconds that it may still take by itself; None when it has ended, waits, or was stopped."""
        ...


T = TypeVar("T", bound=Timed)


class Watch(Generic[T]):
    """One timer for all callbacks of a run. `expire` is told, on the loop, of one whose time is over.

    `shortest` is the least time that any of them has.
    """

    def __init__(self, shortest: float, expire: Callable[[T], None]) -> None:
        self._loop = asyncio.get_running_loop()
        self._shortest = shortest
        self._expire = expire
        self.timed: list[T] = []
        self.add = self.timed.append
        """Watch one more; may be called from any thread."""
        self._timer = self._loop.call_later(shortest, self._look)

    def close(self) -> None:
        self._timer.cancel()
        self.timed.clear()

    def _look(self) -> None:
        lefts = [(timed.left(), timed) for timed in tuple(self.timed)]
        for left, timed in lefts:
            if left is not None and left <= 0:
                self._expire(timed)
        soonest = min((left for left, _ in lefts if left is not None and left > 0), default=self._shortest)
        self._timer = self._loop.call_later(min(soonest, self._shortest), self._look)
