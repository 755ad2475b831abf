"""Callbacks that wrap the doing: nested, each with one way on, and nothing done twice."""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Mapping, Sequence
from typing import Any

from hermes.hooks.callee import Callee
from hermes.hooks.copying import copier
from hermes.hooks.frame import NOT_DONE, Frame, Payload
from hermes.hooks.host import Spent
from hermes.hooks.names import MIDDLEWARE_SCHEMA, OBSERVER_SCHEMA, PAYLOADS
from hermes.hooks.threads import Left, Raised, Stay
from hermes.hooks.watch import Watch
from hermes.hooks.workers import Workers

Base = Callable[[Payload], Awaitable[Any]]


class Execution:
    """One call on its way through the callbacks of its kind."""

    def __init__(
        self,
        kind: str,
        callees: Sequence[Callee],
        base: Base,
        context: Mapping[str, Any],
        original: Payload,
        workers: Workers,
        clock: Callable[[], float],
        still_here: Callable[[], None],
    ) -> None:
        self.callees = callees
        self.workers = workers
        self.watch: Watch[_OnLoop | _InThread] = Watch(min(one.timeout for one in callees), self._expire)
        self._end = len(callees)
        self._loop = asyncio.get_running_loop()
        self._base = base
        self._copy_original = copier(original)
        self._payload_name = PAYLOADS[kind]
        self._original_name = f"original_{self._payload_name}"
        self.context = context
        self._common = {
            "telemetry_schema_version": OBSERVER_SCHEMA,
            "middleware_schema_version": MIDDLEWARE_SCHEMA,
            **context,
        }
        self.clock = clock
        self.still_here = still_here

    async def run(self, payload: Payload, spent: list[Spent] | None) -> Any:
        """Do it; what each callback took is added to `spent`."""
        began = self.clock()
        try:
            return await self.rest(0, payload)
        finally:
            if spent is not None:
                spent += [frame.spent(began) for frame in self.watch.timed]
            self.watch.close()

    def rest(self, index: int, payload: Payload) -> Coroutine[Any, Any, Any]:
        """The rest of the chain, from this place on, to be awaited on the loop."""
        return self.onward(_Outside(index - 1), payload)

    async def onward(self, above: "Frame | _Outside", payload: object = None) -> Any:
        """On from a frame, on the loop: what comes of the callback beneath it, or of what they all wrap."""
        incoming = above.enter(payload)
        try:
            index = self._next(above.index + 1)
            if index == self._end:
                result = await self._base(incoming)
            elif not self.callees[index].is_async:
                result = await _InThread(self, index, incoming).run()
            else:
                frame = _OnLoop(self, index, incoming)
                frame.task = asyncio.current_task(self._loop)
                self.watch.add(frame)
                try:
                    value = await frame.callee.callback(**self.arguments(frame, frame.next_call))
                    if hasattr(value, "__await__"):
                        value = await value
                except BaseException as error:  # noqa: BLE001 - every outcome of a callback has its rule
                    result = await self.settled(frame.failed(error), frame)
                else:
                    if frame.is_expired:
                        frame.outlived()
                    result = frame.returned(value)
        except BaseException as error:
            above.broke(error)
            raise
        return above.came_back(result)

    def _next(self, index: int) -> int:
        """The place of the next callback that takes part."""
        callees, end = self.callees, self._end
        while index < end:
            callee = callees[index]
            if callee.is_always_called or callee.takes_part(self.context):
                break
            index += 1
        return index

    async def settled(self, outcome: Any, frame: Frame) -> Any:
        """The outcome of a frame; where nothing was done, that of doing it without the frame."""
        return await self.rest(frame.index + 1, frame.incoming) if outcome is NOT_DONE else outcome

    def arguments(self, frame: Frame, next_call: Callable[..., Any]) -> dict[str, Any]:
        """What a callback is called with."""
        callee = frame.callee
        arguments = {**self._common, self._payload_name: frame.given, "next_call": next_call}
        if callee.takes_all or callee.takes(self._original_name):
            arguments[self._original_name] = self._copy_original()
        return arguments if callee.takes_all else callee.fitting(arguments)

    def _expire(self, frame: "_OnLoop | _InThread") -> None:
        if frame.stop():
            frame.callee.timed_out()


class _Outside:
    """Where there is no frame above: outside of all, or in the place of one that failed."""

    def __init__(self, index: int) -> None:
        self.index = index

    def enter(self, payload: Any) -> Payload:
        given: Payload = payload
        return given

    def came_back(self, result: Any) -> Any:
        return result

    def broke(self, _error: BaseException) -> None:
        return


class _OnLoop(Frame):
    """A frame on the loop, in the task of whoever awaits it."""

    chain: Execution
    task: asyncio.Task[Any] | None = None

    def next_call(self, payload: object = None) -> Coroutine[Any, Any, Any]:
        return self.chain.onward(self, payload)

    def failed(self, error: BaseException) -> Any:
        """What the end of a callback by an exception comes to, where its time may have been over."""
        self.close()
        return self.without_it() if self._is_stopped_by_us(error) else self.raised(error)

    def outlived(self) -> None:
        """It came to an end though its time was over: whoever awaits it is not cancelled by that."""
        if self.task is not None:
            self.task.uncancel()

    def stop(self) -> bool:
        """Its time is over: let it end. False when it has ended or called on meanwhile."""
        self.is_expired = bool(self.at_work)
        if self.is_expired and self.task is not None:
            self.task.cancel()
        return self.is_expired

    def _is_stopped_by_us(self, error: BaseException) -> bool:
        """Whether a cancellation is the one that ended its time, and no other came beside it."""
        if not self.is_expired or not isinstance(error, asyncio.CancelledError) or self.task is None:
            return False
        return self.task.uncancel() == 0


class _InThread(Frame):
    """A frame in a thread, where those beneath it are called too if they may."""

    chain: Execution
    _stay: Stay

    async def run(self) -> Any:
        """From the loop: in a thread that is entered for it."""
        stay = Stay(self.chain.workers)
        try:
            outcome = await stay.run(lambda: self.called(stay))
        except asyncio.CancelledError:
            self.close()
            raise
        if isinstance(outcome, Left):
            # The frames around the one that hangs are gone with its thread.
            self.close()
            hung: Frame = outcome.because
            return await self.chain.settled(hung.without_it(), hung)
        if isinstance(outcome, Raised):
            raise outcome.error
        return await self.chain.settled(outcome.value, self)

    def called(self, stay: Stay) -> Any:
        """In the thread: what comes of the callback."""
        self._stay = stay
        self.chain.watch.add(self)
        try:
            value = self.callee.callback(**self.chain.arguments(self, self.next_call))
            if hasattr(value, "__await__"):
                returned = value
                value = stay.on_loop(lambda: returned)
        except BaseException as error:  # noqa: BLE001 - every outcome of a callback has its rule
            return self.raised(error)
        return self.returned(value)

    def next_call(self, payload: object = None) -> Any:
        onward = self.enter(payload)
        try:
            return self.came_back(self._onward(onward))
        except BaseException as error:
            self.broke(error)
            raise

    def _onward(self, payload: Payload) -> Any:
        """The rest of the chain from within a thread: on in it where that can be, else on the loop."""
        chain, stay = self.chain, self._stay
        if stay.is_over:
            raise asyncio.CancelledError
        index = self.index + 1
        while self._shares_with(index):
            if chain.callees[index].takes_part(chain.context):
                beneath = _InThread(chain, index, payload)
                outcome = beneath.called(stay)
                return beneath._onward(payload) if outcome is NOT_DONE else outcome
            index += 1
        return stay.on_loop(lambda: chain.rest(index, payload))

    def _shares_with(self, index: int) -> bool:
        """Whether the callback at a place may run in this thread.

        Who has to agree is never left behind because of one beneath: that one has a thread of its own.
        """
        callees = self.chain.callees
        return not self.callee.is_closed and index < len(callees) and callees[index].shares_a_thread

    def stop(self) -> bool:
        """Its time is over: leave its thread behind. False when it has ended or called on meanwhile."""
        try:
            self.is_expired = self.at_work.pop()
        except IndexError:
            return False
        self.close()
        self.callee.left_behind()
        self._stay.leave(self, self.callee.came_back)
        return True
