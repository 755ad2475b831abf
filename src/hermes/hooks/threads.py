"""A stay in a worker thread: callbacks that are not async, and their way back to the loop and again."""

import asyncio
import contextvars
import queue
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Any

import msgspec

from hermes.hooks.workers import Workers

_LONGEST_FAREWELL = 0.05
"""Seconds that a thread gets to leave by itself after an interrupt."""
_LOOKS_UP = 1.0
"""Seconds after which a thread that waits for the loop sees whether there still is one."""


class Returned(msgspec.Struct, frozen=True):
    value: Any


class Raised(msgspec.Struct, frozen=True):
    error: BaseException


class Left(msgspec.Struct, frozen=True):
    """The thread was left behind, for this reason."""

    because: Any


Outcome = Returned | Raised | Left


class Stay:
    """One stay in a thread, begun from the loop. Only the loop's side may end it early."""

    def __init__(self, workers: Workers) -> None:
        self._loop = asyncio.get_running_loop()
        self._workers = workers
        self._outcome: asyncio.Future[Outcome] = self._loop.create_future()
        self._task: asyncio.Task[Outcome] | None = None
        self._when_back: Callable[[], None] | None = None
        self.is_over = False
        """Whether the loop went on without the thread, so that nothing more may be done in it."""

    async def run(self, work: Callable[[], Any]) -> Outcome:
        """Do the work in a thread, with a copy of the context. An interrupt does not wait for its end."""
        context = contextvars.copy_context()
        self._workers.start(lambda: self._work(context, work))
        try:
            return await self._outcome
        except asyncio.CancelledError:
            await self._interrupt()
            raise

    def leave(self, because: object, when_back: Callable[[], None]) -> None:
        """Leave the thread behind; `when_back` is called in it if it ever comes to an end."""
        self.is_over, self._when_back = True, when_back
        self._settle(Left(because))

    def on_loop(self, make: Callable[[], Awaitable[Any]]) -> Any:
        """From the thread: await what `make` gives, on the loop and with the thread's context."""
        answer: queue.SimpleQueue[Outcome] = queue.SimpleQueue()
        context = contextvars.copy_context()
        self._soon(self._begin, make, context, answer)
        outcome = self._awaited(answer)
        if isinstance(outcome, Raised):
            raise outcome.error
        return outcome.value if isinstance(outcome, Returned) else None

    def _awaited(self, answer: "queue.SimpleQueue[Outcome]") -> Outcome:
        """The answer of the loop; a loop that has ended gives none."""
        while True:
            try:
                return answer.get(timeout=_LOOKS_UP)
            except queue.Empty:
                if self._loop.is_closed():
                    return Raised(asyncio.CancelledError())

    def _soon(self, act: Callable[..., None], *arguments: Any) -> None:
        """Let the loop do something, unless it has ended, and with it who waited for this thread."""
        with suppress(RuntimeError):
            self._loop.call_soon_threadsafe(act, *arguments)

    def _begin(
        self,
        make: Callable[[], Awaitable[Any]],
        context: contextvars.Context,
        answer: "queue.SimpleQueue[Outcome]",
    ) -> None:
        if self.is_over:
            answer.put(Raised(asyncio.CancelledError()))
            return
        self._task = self._loop.create_task(_caught(make), context=context)
        self._task.add_done_callback(lambda task: answer.put(_outcome_of(task)))

    def _work(self, context: contextvars.Context, work: Callable[[], Any]) -> Callable[[], None]:
        outcome: Outcome
        try:
            outcome = Returned(context.run(work))
        except BaseException as error:  # noqa: BLE001 - carried over to the loop, where it is raised again
            outcome = Raised(error)
        return lambda: self._tell(outcome)

    def _tell(self, outcome: Outcome) -> None:
        if self._when_back is not None:
            self._when_back()
        else:
            self._soon(self._settle, outcome)

    def _settle(self, outcome: Outcome) -> None:
        if not self._outcome.done():
            self._outcome.set_result(outcome)

    async def _interrupt(self) -> None:
        """Stop what the thread waits for, and give it a moment to leave."""
        self.is_over = True
        if self._task is not None and not self._task.done():
            self._task.cancel()
            await asyncio.wait([self._task])
        self._outcome = self._loop.create_future()  # the first was cancelled with the wait for it
        await asyncio.wait([self._outcome], timeout=_LONGEST_FAREWELL)
        self._settle(Left(None))


async def _caught(make: Callable[[], Awaitable[Any]]) -> Outcome:
    """A task that never raises: the loop would stop at some exceptions."""
    try:
        return Returned(await make())
    except BaseException as error:  # noqa: BLE001 - carried over to the thread, where it is raised again
        return Raised(error)


def _outcome_of(task: "asyncio.Task[Outcome]") -> Outcome:
    return Raised(asyncio.CancelledError()) if task.cancelled() else task.result()
