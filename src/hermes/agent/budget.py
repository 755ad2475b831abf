"""What one answer may take: calls, tokens, money and time, each counted in one place."""

import time
from collections.abc import Callable

import msgspec

from hermes.messages import Usage


class Limits(msgspec.Struct, frozen=True):
    """The most that one answer may take; None is no limit."""

    calls: int = 50
    tokens: int | None = None
    dollars: float | None = None
    seconds: float | None = None


class Budget:
    """What an answer has taken so far. A call whose price nobody knows leaves the cost unknown."""

    def __init__(self, limits: Limits, clock: Callable[[], float] = time.monotonic) -> None:
        self._limits = limits
        self._clock = clock
        self._began = clock()
        self._calls = 0
        self._latest = -1
        self._costs: list[float | None] = []
        self.usage = Usage()

    def begin_call(self) -> None:
        """Count a call before it is made: one that breaks off may be charged for all the same."""
        self._calls += 1
        self._latest = len(self._costs)
        self._costs.append(None)

    def end_call(self, usage: Usage | None, cost: float | None) -> None:
        if usage is not None:
            self.usage += usage
            self._costs[self._latest] = cost

    def spend(self, usage: Usage | None, cost: float | None) -> None:
        """Count what a call beside the conversation took, at any time: tokens and money, not the call."""
        self.usage += usage or Usage()
        self._costs.append(cost)

    @property
    def last_cost(self) -> float | None:
        """US dollars of the model call that was made last; None when its price is unknown."""
        return self._costs[self._latest] if self._costs else None

    @property
    def cost(self) -> float | None:
        """US dollars so far; None as soon as the price of any call is unknown."""
        known = [cost for cost in self._costs if cost is not None]
        return sum(known) if known and len(known) == len(self._costs) else None

    def exceeded(self) -> str | None:
        """Which limit is reached, in words; None while there is something left of all."""
        limits = self._limits
        if self._calls >= limits.calls:
            return f"{limits.calls} model {'call' if limits.calls == 1 else 'calls'}"
        if limits.tokens is not None and self.usage.total_tokens >= limits.tokens:
            return f"{limits.tokens:,} tokens"
        spent = sum(cost for cost in self._costs if cost is not None)
        if limits.dollars is not None and spent >= limits.dollars:
            return f"{limits.dollars:g} US dollars"
        left = self.seconds_left()
        return self.time if left is not None and left <= 0 else None

    @property
    def time(self) -> str:
        """The limit of time, in words."""
        return f"{self._limits.seconds:g} seconds"

    def seconds_left(self) -> float | None:
        """Seconds until the time is over; None when it has no limit."""
        limit = self._limits.seconds
        return None if limit is None else limit - (self._clock() - self._began)
