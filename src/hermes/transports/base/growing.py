"""A conversation grows at its end: what was converted and encoded for the last call is used again."""

from collections.abc import Callable, Sequence
from typing import Any, Generic, Protocol, TypeVar

import msgspec

from hermes.messages import Message


class Fold(Protocol):
    """A history in the form of a wire, made message by message."""

    def add(self, message: Message) -> None: ...


F = TypeVar("F", bound=Fold)


class Growing(Generic[F]):
    """A fold that is kept from call to call; a history that is not the last one, continued, starts anew.

    `key` is whatever else the fold depends on. Comparing a history with its own beginning is cheap: the
    messages are the same objects.
    """

    def __init__(self) -> None:
        self._key: object = None
        self._seen: tuple[Message, ...] = ()
        self._fold: F | None = None

    def __call__(self, messages: tuple[Message, ...], key: object, begin: Callable[[], F]) -> F:
        size = len(self._seen)
        if self._fold is None or key != self._key or messages[:size] != self._seen:
            self._fold, self._key, size = begin(), key, 0
        for message in messages[size:]:
            self._fold.add(message)
        self._seen = messages
        return self._fold


class GrowingJson:
    """The items of a list as JSON; those at the start that are the same objects as before are copied."""

    def __init__(self) -> None:
        self._items: list[Any] = []
        self._ends: list[int] = []
        self._bytes = bytearray()

    def __call__(self, items: Sequence[Any]) -> bytes:
        kept = self._unchanged(items)
        del self._ends[kept:]
        del self._bytes[self._ends[-1] if kept else 0 :]
        for item in items[kept:]:
            if self._ends:
                self._bytes += b","
            self._bytes += msgspec.json.encode(item)
            self._ends.append(len(self._bytes))
        self._items = list(items)
        return bytes(self._bytes)

    def _unchanged(self, items: Sequence[Any]) -> int:
        """How many items at the start are still the same; only the last few ever change."""
        size = min(len(items), len(self._items))
        while size and items[size - 1] is not self._items[size - 1]:
            size -= 1
        return size if items[:size] == self._items[:size] else 0
