"""When to try again, and how long to wait before: pure rules over an error, its headers and a clock."""

from collections.abc import Callable, Mapping
from email.utils import parsedate_to_datetime
from typing import Any

import msgspec

from hermes.errors import ConnectFailed, DeadlinePassed, Disconnected, HttpStatus, NetError

_RETRIED_STATUSES = frozenset({408, 409, 424, 425, 429})
_TOO_MANY_REQUESTS = 429
_SERVER_ERROR = 500
_JITTER = 0.25


class RetryPolicy(msgspec.Struct, frozen=True):
    """`attempts` in all; waits from `base` doubling to `cap`; a server may ask for up to `patience`."""

    attempts: int = 3
    base: float = 0.5
    cap: float = 8.0
    patience: float = 30.0

    def delay(self, error: NetError, attempt: int, random: Callable[[], float]) -> float | None:
        """Seconds to wait after the failed attempt (the first is 1); None when trying again is no use.

        What the server asked for wins over the back-off. A wait above `patience` is not waited for:
        the error carries it, so that the caller can say when to come back.
        """
        if attempt >= self.attempts or not is_transient(error):
            return None
        if isinstance(error, HttpStatus) and error.retry_after is not None:
            return error.retry_after if error.retry_after <= self.patience else None
        backoff = min(self.base * 2.0 ** (attempt - 1), self.cap)
        return backoff * (1 - _JITTER * random())


class RetryBudget:
    """A token bucket: a retry takes one, an answer gives one back, and a dead server empties it."""

    __slots__ = ("_capacity", "_tokens")

    def __init__(self, capacity: float = 10.0) -> None:
        self._capacity = capacity
        self._tokens = capacity

    def spend(self) -> bool:
        """Take the token of one retry; false when there is none left."""
        if self._tokens < 1:
            return False
        self._tokens -= 1
        return True

    def give_back(self) -> None:
        self._tokens = min(self._capacity, self._tokens + 1)


def is_transient(error: NetError) -> bool:
    """Whether the same request, sent again, may well be answered."""
    match error:
        case HttpStatus():
            return _is_transient_status(error)
        case DeadlinePassed():
            return error.phase == "connect"
        case ConnectFailed() | Disconnected():
            return error.retryable
        case _:
            return False


def _is_transient_status(error: HttpStatus) -> bool:
    match error.headers.get("x-should-retry"):
        case "true":
            return True
        case "false":
            return False
    if error.status == _TOO_MANY_REQUESTS and _is_out_of_quota(error.body):
        return False
    return error.status in _RETRIED_STATUSES or error.status >= _SERVER_ERROR


def _is_out_of_quota(body: bytes) -> bool:
    try:
        reply: Any = msgspec.json.decode(body)
    except msgspec.DecodeError:
        return False
    error = reply.get("error") if isinstance(reply, dict) else None
    return isinstance(error, dict) and "insufficient_quota" in (error.get("code"), error.get("type"))


def retry_after(headers: Mapping[str, str], now: float) -> float | None:
    """The seconds a server asks to wait, dates counted from `now`; None when it asks nothing sensible."""
    milliseconds = _seconds(headers.get("retry-after-ms"))
    if milliseconds is not None:
        return milliseconds / 1000
    text = headers.get("retry-after")
    seconds = _seconds(text)
    return seconds if seconds is not None or text is None else _until(text, now)


def _seconds(text: str | None) -> float | None:
    """A plain number, not negative and finite."""
    try:
        value = float(text or "")
    except ValueError:
        return None
    return value if 0 <= value < float("inf") else None


def _until(date: str, now: float) -> float | None:
    try:
        wait = parsedate_to_datetime(date).timestamp() - now
    except (ValueError, OverflowError):
        return None
    return wait if wait >= 0 else None
