"""How often one caller may come, and how many may be inside at once."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

import msgspec

from hermes.errors import RequestFault

_MOST_CALLERS = 1_000


class _Bucket(msgspec.Struct):
    left: float
    filled: float


class RateLimit:
    """A token bucket for every caller: so many requests at once, and so many again each minute."""

    def __init__(self, per_minute: int, clock: Callable[[], float]) -> None:
        self._most = float(per_minute)
        self._per_second = per_minute / 60
        self._clock = clock
        self._buckets: dict[str, _Bucket] = {}

    def take(self, caller: str) -> None:
        """Count a request; raises `RequestFault` that says when the next one may come."""
        now = self._clock()
        bucket = self._buckets.pop(caller, None) or _Bucket(self._most, now)
        bucket.left = min(self._most, bucket.left + (now - bucket.filled) * self._per_second)
        bucket.filled = now
        self._buckets[caller] = bucket
        if len(self._buckets) > _MOST_CALLERS:
            del self._buckets[next(iter(self._buckets))]
        if bucket.left < 1:
            raise RequestFault(
                "too many requests",
                status=429,
                code="rate_limit_exceeded",
                retry_after=(1 - bucket.left) / self._per_second,
                hint="come back later, or raise `server.requests_per_minute`",
            )
        bucket.left -= 1


class Room:
    """How many requests are answered at the same time."""

    def __init__(self, most: int) -> None:
        self._most = most
        self.inside = 0

    @contextmanager
    def enter(self) -> Iterator[None]:
        """Be inside; raises `RequestFault` where there is no room."""
        if self.inside >= self._most:
            raise RequestFault(
                "the server is busy",
                status=503,
                code="overloaded",
                retry_after=1,
                hint="come back in a moment, or raise `server.max_runs`",
            )
        self.inside += 1
        try:
            yield
        finally:
            self.inside -= 1
