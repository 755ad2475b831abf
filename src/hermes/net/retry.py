"""When to try again, and how long to wait before: pure rules over an error, its headers and a clock."""

import re
from collections.abc import Callable, Mapping
from email.utils import parsedate_to_datetime
from typing import Any

import msgspec

from hermes.errors import ConnectFailed, DeadlinePassed, Disconnected, HttpStatus, NetError
from hermes.messages import NOT_JSON

_RETRIED_STATUSES = frozenset({408, 409, 424, 425, 429})
_TOO_MANY_REQUESTS = 429
_SERVER_ERROR = 500
_JITTER = 0.25
_WAITS = ("retry_after", "retryDelay", "retry_after_seconds")
_RESETS = ("ratelimit-reset", "x-ratelimit-reset-requests", "x-ratelimit-reset-tokens", "x-ratelimit-reset")
_UNITS = re.compile(
    r"(?:(\d{1,9})h)?(?:(\d{1,9})m(?!s))?(?:(\d{1,9}(?:\.\d{1,9})?)s)?(?:(\d{1,9}(?:\.\d{1,9})?)ms)?",
    re.ASCII,
)
_SINCE_1970 = 1e9


class RetryPolicy(msgspec.Struct, frozen=True):
    """`attempts` in all; waits from `base` doubling to `cap`; a server may ask for up to `patience`.

    With `whole` an attempt ends with the last byte of the answer, so that one which is late or breaks
    off is asked for again: for answers that nobody sees before they are complete.
    """

    attempts: int = 3
    base: float = 0.5
    cap: float = 8.0
    patience: float = 30.0
    whole: bool = False

    def delay(self, error: NetError, attempt: int, random: Callable[[], float]) -> float | None:
        """Seconds to wait after the failed attempt (the first is 1); None when trying again is no use.

        What the server asked for wins over the back-off. A wait above `patience` is not waited for:
        the error carries it, so that the caller can say when to come back.
        """
        if attempt >= self.attempts or not (is_transient(error) or self._is_late(error)):
            return None
        if isinstance(error, HttpStatus) and error.retry_after is not None:
            return error.retry_after if error.retry_after <= self.patience else None
        backoff = min(self.base * 2.0 ** (attempt - 1), self.cap)
        return backoff * (1 - _JITTER * random())

    def _is_late(self, error: NetError) -> bool:
        return self.whole and isinstance(error, DeadlinePassed) and error.phase != "total"


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
    return error.status in _RETRIED_STATUSES or error.status >= _SERVER_ERROR


def retry_after(status: int, headers: Mapping[str, str], body: bytes, now: float) -> float | None:
    """The seconds a server asks to wait, dates counted from `now`; None when it asks nothing sensible.

    The headers made for it count most, then the body. When a rate limit ends counts only where neither
    speaks: with many limits, the one that was hit need not be the one that is told.
    """
    asked = _asked(headers, now)
    if asked is None and body:
        asked = _in_body(body)
    if asked is None and status == _TOO_MANY_REQUESTS:
        asked = _reset(headers, now)
    return asked


def _asked(headers: Mapping[str, str], now: float) -> float | None:
    milliseconds = _seconds(headers.get("retry-after-ms"))
    if milliseconds is not None:
        return milliseconds / 1000
    text = headers.get("retry-after")
    seconds = _seconds(text)
    return seconds if seconds is not None or text is None else _until(text, now)


def _in_body(body: bytes) -> float | None:
    """`retry_after` or `retryDelay` in an error object or its details."""
    try:
        reply: Any = msgspec.json.decode(body)
    except NOT_JSON:
        return None
    outer = reply[0] if isinstance(reply, list) and reply else reply
    error = outer.get("error") if isinstance(outer, dict) else None
    details = error.get("details") if isinstance(error, dict) else None
    places = [outer, error, *(details if isinstance(details, list) else ())]
    found = (_duration(place.get(name)) for place in places if isinstance(place, dict) for name in _WAITS)
    return next((wait for wait in found if wait is not None), None)


def _reset(headers: Mapping[str, str], now: float) -> float | None:
    """When a limit ends: the longest of those that may have been hit."""
    hit = (name for name in _RESETS if headers.get(name.replace("reset", "remaining"), "0") == "0")
    waits = (_from_now(_duration(headers.get(name)), now) for name in hit)
    return max((wait for wait in waits if wait is not None), default=None)


def _from_now(told: float | None, now: float) -> float | None:
    """A wait that may be told as a time since 1970, in seconds or in thousandths."""
    if told is None or told < _SINCE_1970:
        return told
    wait = (told / 1000 if told > 1000 * _SINCE_1970 else told) - now
    return wait if wait >= 0 else None


def _duration(value: object) -> float | None:
    """Seconds, as a number or as `7s`, `1.5s`, `350ms`, `6m0s`, `1h2m3s`."""
    if isinstance(value, int | float) and not isinstance(value, bool):
        return _seconds(str(value))
    if not isinstance(value, str):
        return None
    parts = _UNITS.fullmatch(value.strip())
    if parts is None or not parts[0]:
        return _seconds(value)
    hours, minutes, seconds, thousandths = (float(number or 0) for number in parts.groups())
    return hours * 3600 + minutes * 60 + seconds + thousandths / 1000


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
