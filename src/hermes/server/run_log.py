"""What happened in a run, kept in order, for readers that come and go."""

import asyncio
from collections.abc import AsyncIterator, Callable

import msgspec

from hermes.errors import HermesError
from hermes.events import Done, Event, Failed, Reasoning, Text, ToolFinished, ToolProgress
from hermes.server.holding import Holding
from hermes.server.model_calls import ModelEvent

MOST_CHARACTERS = 2_000_000
"""What is kept of one run; of a longer one the beginning is forgotten."""
LONGEST_RESULT = 20_000
"""Characters of a tool's result that a reader is told; `characters` says how long it really is."""
_COST_OF_A_PIECE = 64

Words = Text | Reasoning | ToolProgress


class Told(msgspec.Struct, frozen=True):
    """One event for a reader. `place` is where to go on after it; without data it is a sign of life."""

    place: str = ""
    data: bytes = b""


class _Entry:
    """One event as JSON; or the words of several of a kind, one after the other, told as one event."""

    __slots__ = ("at", "first", "pieces", "words")

    def __init__(self, at: float, words: Words | None, pieces: list[str]) -> None:
        self.at = at
        self.words = words
        self.pieces = pieces
        self.first = 0
        """How many pieces before those that are kept are forgotten."""

    @property
    def end(self) -> int:
        return self.first + len(self.pieces)

    @property
    def size(self) -> int:
        return sum(map(_cost, self.pieces))

    def since(self, seen: int) -> bytes:
        """What a reader of so many pieces has not seen, as one event."""
        new = "".join(self.pieces[max(0, seen - self.first) :])
        if self.words is not None:
            new = event_json(_with_words(self.words, new))
        return f'{{"at":{self.at:.3f},{new[1:]}'.encode()


class RunLog:
    """The log of one run: written by one, read by many, each from where it left off.

    A reader has no queue of its own. One that is slow gets the words of the meantime in one event, and
    one that is too slow for what is kept is told of the gap. What is written goes through `holding`.
    """

    def __init__(self, clock: Callable[[], float], holding: Holding, most: int = MOST_CHARACTERS) -> None:
        self._clock = clock
        self._holding = holding
        self._most = most
        self._entries: list[_Entry] = []
        self._forgotten = 0
        self._waiting: list[asyncio.Future[None]] = []
        self.size = 0
        self.is_closed = False

    def add(self, event: Event | ModelEvent) -> None:
        """Write down what happens. Words that a key might begin in wait for those that follow."""
        if isinstance(event, Words):
            self._add_words(event)
        else:
            self._let_go()
            self._append(_Entry(self._clock(), None, [self._holding.clean(event_json(event))]))
        self._wake()

    def close(self) -> None:
        """The run is over: readers come to their end."""
        self._let_go()
        self.is_closed = True
        self._wake()

    async def follow(self, place: str = "", patience: float = 15.0) -> AsyncIterator[Told]:
        """What happened after a place, and then what happens, until the run is over.

        Where nothing happens for so many seconds, a sign of life is given.
        """
        number, seen = _read_place(place)
        while True:
            while (found := self._next(number, seen)) is not None:
                number, seen, data = found
                yield Told(f"{number}.{seen}", data)
            if self.is_closed:
                return
            if not await self._news(patience):
                yield Told()

    def _next(self, number: int, seen: int) -> tuple[int, int, bytes] | None:
        """The next event after a place, and the place that it leads to."""
        if number < self._forgotten:
            return self._forgotten, 0, b'{"type":"gap"}'
        for entry in self._entries[number - self._forgotten :]:
            if seen < entry.end:
                return number, entry.end, entry.since(seen)
            number, seen = number + 1, 0
        return None

    def _add_words(self, event: Words) -> None:
        if not self._entries or not _is_more(self._entries[-1].words, event):
            self._let_go()
            self._append(_Entry(self._clock(), _with_words(event, ""), []))
        self._grow(self._holding.add(_words(event)))

    def _let_go(self) -> None:
        self._grow(self._holding.rest())

    def _grow(self, words: str) -> None:
        if words:
            self._entries[-1].pieces.append(words)
            self.size += _cost(words)
            self._forget()

    def _append(self, entry: _Entry) -> None:
        self._entries.append(entry)
        self.size += entry.size
        self._forget()

    def _forget(self) -> None:
        while self.size > self._most and len(self._entries) > 1:
            self.size -= self._entries.pop(0).size
            self._forgotten += 1
        last = self._entries[-1]
        if self.size > self._most and len(last.pieces) > 1:
            gone = len(last.pieces) // 2
            last.first += gone
            del last.pieces[:gone]
            self.size = last.size

    def _wake(self) -> None:
        waiting, self._waiting = self._waiting, []
        for reader in waiting:
            if not reader.done():
                reader.set_result(None)

    async def _news(self, patience: float) -> bool:
        """Wait for something to happen; false when nothing does."""
        news: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.append(news)
        try:
            done, _ = await asyncio.wait([news], timeout=patience)
        finally:
            if news in self._waiting:
                self._waiting.remove(news)
        return bool(done)


def event_json(event: Event | ModelEvent) -> str:
    """An event as `--json-lines` writes it, but without what a reader of the page does not need:

    all messages of the conversation, and the rest of a very long result.
    """
    match event:
        case Done(answer):
            event = Done(msgspec.structs.replace(answer, messages=()))
        case Failed(error, partial):
            event = Failed(error, msgspec.structs.replace(partial, messages=()))
        case ToolFinished(_, _, result):
            shown = msgspec.structs.replace(event, result=result[:LONGEST_RESULT])
            fields = msgspec.to_builtins(shown)
            return msgspec.json.encode({**fields, "characters": len(result)}).decode()
    return msgspec.json.encode(event, enc_hook=_error).decode()


def _error(error: object) -> dict[str, str | None]:
    if not isinstance(error, HermesError):
        raise NotImplementedError(f"cannot encode {type(error).__name__}")
    return {"type": type(error).__name__, "message": str(error), "hint": error.hint}


def _words(event: Words) -> str:
    return event.text if isinstance(event, ToolProgress) else event.delta


def _with_words(event: Words, words: str) -> Words:
    if isinstance(event, ToolProgress):
        return msgspec.structs.replace(event, text=words)
    return msgspec.structs.replace(event, delta=words)


def _is_more(words: Words | None, event: Words) -> bool:
    return words is not None and _with_words(event, "") == words


def _cost(piece: str) -> int:
    return len(piece) + _COST_OF_A_PIECE


def _read_place(place: str) -> tuple[int, int]:
    """A place as a reader gives it back; what is none is the beginning."""
    number, _, seen = place.partition(".")
    if not (number.isdecimal() and seen.isdecimal()) or len(place) > 40:
        return 0, 0
    return int(number), int(seen)
