"""Callbacks called one after the other: those that are not async share a stay in one thread."""

import asyncio
import threading
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from hermes.errors import Block
from hermes.hooks.callee import Callee
from hermes.hooks.threads import Left, Raised, Stay
from hermes.hooks.watch import Watch
from hermes.hooks.workers import Workers


class _Call:
    """One callback at work."""

    __slots__ = (
        "_clock", "_is_over", "_lock", "_since", "_still_here",
        "callee", "index", "is_expired", "stay", "task",
    )  # fmt: skip

    def __init__(
        self,
        callee: Callee,
        index: int,
        clock: Callable[[], float],
        still_here: Callable[[], None],
        stay: Stay | None,
    ) -> None:
        self.callee = callee
        self.index = index
        self.stay = stay
        self.task = None if stay is not None else asyncio.current_task()
        self.is_expired = False
        self._is_over = False
        self._lock = threading.Lock()
        self._clock = clock
        self._still_here = still_here
        self._since = clock()

    def left(self) -> float | None:
        if self._is_over or self.is_expired:
            return None
        return self.callee.timeout - (self._clock() - self._since)

    def end(self) -> bool:
        """It has come to its end; false when its time was over before."""
        with self._lock:
            self._is_over = True
        self._still_here()
        self.callee.ended(self._clock() - self._since)
        return not self.is_expired

    def expire(self) -> bool:
        """Its time is over; false when it has ended meanwhile."""
        with self._lock:
            self.is_expired = not self._is_over
        return self.is_expired


class Round:
    """One round through the callbacks of a kind.

    `arguments` are made for each when its turn has come, and `take` gets what it returned. One that fails
    is passed over; where its failure is a no, the round ends with `Block` after `goes_on` or at once.
    """

    def __init__(
        self,
        callees: Sequence[Callee],
        context: Mapping[str, Any],
        arguments: Callable[[Callee], dict[str, Any]],
        take: Callable[[Callee, Any], None],
        workers: Workers,
        clock: Callable[[], float],
        still_here: Callable[[], None],
        *,
        goes_on: bool,
    ) -> None:
        self._callees = callees
        self._context = context
        self._arguments = arguments
        self._take = take
        self._workers = workers
        self._clock = clock
        self._still_here = still_here
        self._goes_on = goes_on
        self._block: Block | None = None
        self._watch: Watch[_Call] = Watch(min(callee.timeout for callee in callees), self._expire)

    async def run(self) -> None:
        try:
            index = 0
            while index < len(self._callees):
                index = await self._from(index)
        finally:
            self._watch.close()
        if self._block is not None:
            raise self._block

    async def _from(self, index: int) -> int:
        """Go on with the callback at this place; gives the place that comes next."""
        callee = self._callees[index]
        if not self._takes_part(callee):
            return index + 1
        if not callee.is_async:
            return await self._in_a_thread(index)
        call = self._begin(index, None)
        try:
            value = await callee.callback(**callee.fitting(self._arguments(callee)))
            if hasattr(value, "__await__"):
                value = await value
        except asyncio.CancelledError as error:
            if not call.end():
                if call.task is None or call.task.uncancel() > 0:
                    raise
            elif call.task is None or call.task.cancelling():
                raise
            else:
                self._failed(callee, error)
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # noqa: BLE001 - a plugin's own code, and it may raise anything
            call.end()
            self._failed(callee, error)
        else:
            call.end()
            self._succeeded(callee, value)
        return index + 1

    async def _in_a_thread(self, index: int) -> int:
        stay = Stay(self._workers)
        outcome = await stay.run(lambda: self._called_from(index, stay))
        if isinstance(outcome, Raised):
            raise outcome.error
        if isinstance(outcome, Left):
            following: int = outcome.because.index + 1
            return following
        return int(outcome.value)

    def _called_from(self, first: int, stay: Stay) -> int:
        """In the thread: every callback from here on that is not async, until the loop goes on without it.

        The first has said that it takes part.
        """
        index = first
        while index < len(self._callees) and not self._callees[index].is_async and not stay.is_over:
            callee = self._callees[index]
            if index == first or self._takes_part(callee):
                self._called(callee, self._begin(index, stay), stay)
            index += 1
        return index

    def _called(self, callee: Callee, call: _Call, stay: Stay) -> None:
        try:
            value = callee.callback(**callee.fitting(self._arguments(callee)))
            if hasattr(value, "__await__"):
                returned = value
                value = stay.on_loop(lambda: returned)
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # noqa: BLE001 - a plugin's own code, and it may raise anything
            if call.end() and not stay.is_over:
                self._failed(callee, error)
        else:
            if call.end() and not stay.is_over:
                self._succeeded(callee, value)

    def _takes_part(self, callee: Callee) -> bool:
        try:
            return callee.takes_part(self._context)
        except Block as block:
            self._refuse(block)
            return False

    def _begin(self, index: int, stay: Stay | None) -> _Call:
        call = _Call(self._callees[index], index, self._clock, self._still_here, stay)
        self._watch.add(call)
        return call

    def _succeeded(self, callee: Callee, value: Any) -> None:
        callee.succeeded()
        self._take(callee, value)

    def _failed(self, callee: Callee, error: BaseException) -> None:
        if isinstance(error, Block):
            self._refuse(error.by(callee.plugin, callee.name))
            return
        callee.failed(error)
        if callee.is_closed:
            self._refuse(callee.block("it failed"))

    def _refuse(self, block: Block) -> None:
        if not self._goes_on:
            raise block
        self._block = self._block or block

    def _expire(self, call: _Call) -> None:
        if not call.expire():
            return
        call.callee.timed_out()
        if call.callee.is_closed:
            self._block = self._block or call.callee.block("it did not answer in time")
        if call.stay is not None:
            call.callee.left_behind()
            call.stay.leave(call, call.callee.came_back)
        elif call.task is not None:
            call.task.cancel()
