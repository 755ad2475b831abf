"""Runs: a question on its way to an answer, apart from whoever reads it."""

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine
from typing import Any, TypeVar

from hermes.agent.send import Emit
from hermes.errors import HermesError, Interrupted, ModelError
from hermes.events import Answer, Delta, Event, Reasoning, Text, ToolFinished, ToolStarted
from hermes.server.sources import Seen

QUIET_SECONDS = 15.0
"""After so long without news a reader is told that there is none."""
BEGIN_SECONDS = 5.0
"""How long a stream waits for its first word, because until then an error can still have a status."""
JOIN_AFTER = 64
"""Pieces that may wait before they are joined."""
LARGE = 32_000
"""Characters from which on a piece is not joined with more: it would be copied over and over."""
MOST_WAITING = 8_000_000
"""Characters that wait for a slow reader; beyond, the run is ended."""

_END_SECONDS = 5.0
"""How long a run that was stopped may take to close what it has open."""

T = TypeVar("T")
News = Delta | ToolStarted
Ask = Callable[[Emit], Coroutine[Any, Any, Answer]]


class Run:
    """One run. What it says is kept until it is read: pieces that wait are joined, so a slow reader costs
    no more than the words themselves, and the model never waits for one.
    """

    def __init__(self, ask: Ask, seen: Seen) -> None:
        self.seen = seen
        self._waiting: list[News] = []
        self._size = 0
        self._unjoined = 0
        self._news = asyncio.Event()
        self._stopped_by: HermesError | None = None
        self._task = asyncio.ensure_future(ask(self._hear))
        self._task.add_done_callback(self._over)

    async def begin(self) -> None:
        """Wait for the first news. A run that fails before it said anything raises its error."""
        await _either(self._news.wait(), BEGIN_SECONDS)
        if self._task.done() and not self._waiting:
            await self.answer()

    async def batches(self) -> AsyncIterator[list[News]]:
        """What is new, whenever something is; nothing, when nothing was for a while. Ends with the run."""
        while True:
            if not self._waiting and not self._task.done():
                await _either(self._news.wait(), QUIET_SECONDS)
            self._news.clear()
            batch, self._waiting, self._size, self._unjoined = self._waiting, [], 0, 0
            if not batch and self._task.done():
                return
            yield batch

    async def answer(self) -> Answer:
        """The answer; raises what the run failed with, or was stopped for."""
        try:
            return await asyncio.shield(self._task)
        except asyncio.CancelledError:
            if not self._task.cancelled():
                raise
            raise self._stopped_by or Interrupted("the run was stopped") from None

    def stop(self, error: HermesError) -> None:
        """End the run, if it is still going: its sockets are closed, and whoever waits gets the error."""
        if not self._task.done():
            self._stopped_by = self._stopped_by or error
            self._task.cancel()

    def when_done(self, tell: "Callable[[Run], object]") -> None:
        """Tell somebody when the run has come to its end."""
        self._task.add_done_callback(lambda _task: tell(self))

    async def ended(self) -> None:
        """Wait until the run has come to its end, whichever."""
        await asyncio.wait([self._task])

    def _over(self, task: asyncio.Task[Answer]) -> None:
        self._news.set()
        if not task.cancelled():
            task.exception()  # who wants to know waits for the answer, and maybe nobody does

    def _hear(self, event: Event) -> None:
        match event:
            case Text() | Reasoning():
                self._size += len(event.delta)
                self._put(event)
            case ToolStarted():
                self.seen.begin(event)
                self._put(event)
            case ToolFinished():
                self.seen.take(event)
            case _:
                pass

    def _put(self, news: News) -> None:
        self._waiting.append(news)
        self._unjoined += 1
        if self._unjoined > JOIN_AFTER:
            self._waiting, self._unjoined = joined(self._waiting), 0
        if self._size > MOST_WAITING:
            self.stop(ModelError("the answer is longer than a reader may leave unread"))
        self._news.set()


def joined(news: list[News]) -> list[News]:
    """The same news with neighbouring words of one kind in one piece, unless that is large already."""
    groups: list[list[News]] = []
    size = 0
    for each in news:
        length = LARGE if isinstance(each, ToolStarted) else len(each.delta)
        if groups and type(groups[-1][0]) is type(each) and size < LARGE:
            groups[-1].append(each)
            size += length
        else:
            groups.append([each])
            size = length
    return [_joined(group) if len(group) > 1 else group[0] for group in groups]


def _joined(pieces: list[News]) -> News:
    words = "".join(piece.delta for piece in pieces if not isinstance(piece, ToolStarted))
    return Text(words) if isinstance(pieces[0], Text) else Reasoning(words)


async def _either(work: Coroutine[Any, Any, Any], seconds: float) -> None:
    """Wait for something, but not longer than this."""
    try:
        async with asyncio.timeout(seconds):
            await work
    except TimeoutError:
        return


class Runs:
    """The runs that are going on, and other work that callers wait for."""

    def __init__(self) -> None:
        self._running: set[Run] = set()
        self._working: set[asyncio.Task[Any]] = set()
        self._draining = False

    def __len__(self) -> int:
        return len(self._running)

    def start(self, ask: Ask, seen: Seen) -> Run:
        """Begin a run; raises `Interrupted` where the server is about to stop."""
        if self._draining:
            raise leaving()
        run = Run(ask, seen)
        self._running.add(run)
        run.when_done(self._running.discard)
        return run

    def work(self, work: Coroutine[Any, Any, T]) -> asyncio.Task[T]:
        """Begin other work, cancelled where a run would be stopped; raises `Interrupted` likewise."""
        if self._draining:
            work.close()
            raise leaving()
        task = asyncio.ensure_future(work)
        self._working.add(task)
        task.add_done_callback(self._working.discard)
        return task

    async def drain(self, seconds: float) -> None:
        """Begin no more, let those that run come to their end, and after so long stop the rest."""
        self._draining = True
        ending = [*(asyncio.ensure_future(run.ended()) for run in self._running), *self._working]
        if not ending:
            return
        await asyncio.wait(ending, timeout=seconds)
        for run in tuple(self._running):
            run.stop(leaving())
        for work in tuple(self._working):
            work.cancel()
        await asyncio.wait(ending, timeout=_END_SECONDS)


def leaving() -> Interrupted:
    """Why nothing is begun any more, and what runs is ended."""
    return Interrupted("the server is shutting down", hint="ask again in a moment")
