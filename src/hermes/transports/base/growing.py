"""A conversation grows at its end: what was converted and encoded for the last call is used again."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Generic, Protocol, TypeVar

import msgspec

from hermes.messages import Message
from hermes.transports.base.repair import Repairer

_RECENT = 40
"""Items at the end that are compared one by one. A cache mark that moves on changes one of these."""


class Fold(Protocol):
    """A history in the form of a wire, made message by message."""

    def add(self, message: Message) -> None: ...


F = TypeVar("F", bound=Fold)


def folded(fold: F, messages: Iterable[Message]) -> F:
    """The fold, with these messages added to it."""
    for message in messages:
        fold.add(message)
    return fold


class Growing(Generic[F]):
    """A fold that is kept from call to call; a history that is not the last one, continued, starts anew.

    `messages` is the history as it was folded: repaired. `key` is whatever else the fold depends on.
    Comparing a history with its own beginning is cheap: the messages are the same objects.
    """

    def __init__(self) -> None:
        self._repairer = Repairer()
        self._key: object = None
        self._fold: F | None = None

    @property
    def messages(self) -> Sequence[Message]:
        return self._repairer.repaired

    def __call__(self, messages: tuple[Message, ...], key: object, begin: Callable[[], F]) -> F:
        size = len(self.messages)
        fold, self._fold = self._fold, None  # one that fails half-way is not used again
        kept = self._repairer.take(messages)
        if fold is None or key != self._key or kept < size:
            fold, size = begin(), 0
        self._fold, self._key = folded(fold, self.messages[size:]), key
        return fold


class GrowingJson:
    """JSON objects that end in a list which grows: items that are the same objects as before are copied."""

    def __init__(self) -> None:
        self._items: list[Any] = []
        self._ends: list[int] = []
        self._bytes = bytearray()

    def __call__(self, fields: Mapping[str, Any], name: str, items: Sequence[Any]) -> bytes:
        """An object of these fields, and then the list `items` under `name`."""
        self._take(items if isinstance(items, list) else list(items))
        head = msgspec.json.encode(fields)[:-1]
        return b"".join((head, b',"' if fields else b'"', name.encode(), b'":[', self._bytes, b"]}"))

    def _take(self, items: list[Any]) -> None:
        kept = self._forget_changed(items)
        for item in items[kept:]:
            encoded = msgspec.json.encode(item)
            self._bytes += b"," + encoded if self._ends else encoded
            self._ends.append(len(self._bytes))
            self._items.append(item)

    def _forget_changed(self, items: list[Any]) -> int:
        """Keep the items at the start that are still the same; says how many.

        Equal items are not enough to go by, since `1` equals `True`: one item near the end must be the
        very same object, which says that the list is the last one, continued.
        """
        known = self._items
        size = min(len(items), len(known))
        recent = range(max(0, size - _RECENT), size)
        size = next((at for at in recent if items[at] is not known[at]), size)
        if size and items[size - 1] is not known[size - 1]:
            size = 0
        del known[size:]
        while size and items[:size] != known:
            size //= 2
            del known[size:]
        del self._ends[size:]
        del self._bytes[self._ends[-1] if size else 0 :]
        return size
