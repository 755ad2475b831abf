"""Callbacks that wrap the doing: nested, each with one way on, and nothing done twice."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any

from hermes.errors import Block, NextCallMisused
from hermes.hooks.callee import Callee
from hermes.hooks.copying import copied, copier
from hermes.hooks.names import MIDDLEWARE_SCHEMA, OBSERVER_SCHEMA, PAYLOADS
from hermes.hooks.threads import Left, Raised, Stay
from hermes.hooks.watch import Watch
from hermes.hooks.workers import Workers

Payload = dict[str, Any]
Base = Callable[[Payload], Awaitable[Any]]

_NOT_DONE = object()
"""The outcome of a callback that failed before it called on: what it wraps is still to be done."""


_TOO_LATE = "`next_call` was called after its callback had ended; nothing was done"
_AGAIN = "`next_call` was called again; nothing was done a second time"
_HOW_OFTEN = "register with `max_calls=` to try again"


class Frame:
    """One callback around one call: its way on, its time, and what came of both."""

    stay: Stay | None = None
    task: asyncio.Task[Any] | None = None
    is_expired = False
    _is_open = True
    _uses = 0
    _result: Any = _NOT_DONE
    _error: BaseException | None = None
    _own = 0.0

    def __init__(self, callee: Callee, index: int, incoming: Payload, clock: Callable[[], float]) -> None:
        self.callee = callee
        self.index = index
        self.incoming = incoming
        self.given = copied(incoming)
        # Held while the callback is at work; taking it is one step, so that of two threads one has it.
        self._at_work = [True]
        self._clock = clock
        self._since = clock()

    def enter(self, payload: object) -> Payload:
        """The way on: what to do it with. Refused when it was used up, or after the callback's end."""
        callee = self.callee
        if not self._take():
            raise NextCallMisused(_AGAIN if self._is_open else _TOO_LATE, hint=_HOW_OFTEN)
        if self._uses >= callee.options.max_calls:
            self._at_work.append(True)
            raise NextCallMisused(_AGAIN, hint=_HOW_OFTEN)
        self._uses += 1
        self._own += self._clock() - self._since
        if callee.observes:
            if payload is not None and payload != self.incoming:
                callee.ignored("it may only observe, and its change had no effect")
            return self.incoming
        if payload is None:
            return self.given
        if not isinstance(payload, dict):
            callee.ignored("it passed on something that is no dict, and it was not used")
            return self.incoming
        return payload

    def _take(self) -> bool:
        try:
            return self._at_work.pop()
        except IndexError:
            return False

    def came_back(self, result: Any) -> Any:
        self._result, self._error = result, None
        self._since = self._clock()
        self._at_work.append(True)
        return result

    def broke(self, error: BaseException) -> None:
        if not _is_final(self._error):
            self._error = error
        self._since = self._clock()
        self._at_work.append(True)

    def left(self) -> float | None:
        if not self._is_open or not self._at_work:
            return None
        return self.callee.timeout - self._own - (self._clock() - self._since)

    def close(self) -> None:
        self._is_open = False
        self._at_work.clear()

    def expire(self) -> bool:
        """Its time is over; false when it has ended or called on meanwhile."""
        self.is_expired = self._take()
        if self.is_expired and self.stay is None:
            self._at_work.append(True)
        elif self.is_expired:
            self._is_open = False
        return self.is_expired

    def returned(self, value: Any) -> Any:
        """What a callback's return comes to."""
        self._end()
        if self._error is not None and _is_final(self._error):
            raise self._error
        callee = self.callee
        callee.succeeded()
        if callee.observes:
            return self._observed(value)
        if value is None and not self._uses:
            callee.warn("it gave nothing and did not call on; is a `return` missing?")
        return value

    def raised(self, error: BaseException) -> Any:
        """What a callback's failure comes to: the result it hid, an error, or that all is still to do."""
        self._end()
        if isinstance(error, Block):
            raise error.by(self.callee.plugin, self.callee.name)
        if not isinstance(error, Exception):
            raise error
        if self._error is not None and _is_final(self._error):
            raise self._error
        if error is self._error:
            raise error
        self.callee.failed(error)
        if self._error is not None:
            if isinstance(error, NextCallMisused):
                raise self._error
            raise error from (error.__cause__ or self._error)
        return self.without_it(error)

    def without_it(self, error: BaseException | None = None) -> Any:
        """What holds when the callback is not to be had: its downstream result, or its policy."""
        if self._error is not None:
            raise self._error
        if self._result is not _NOT_DONE:
            return self._result
        if self.callee.is_closed:
            raise self.callee.block("it failed") from error
        return _NOT_DONE

    def _observed(self, value: Any) -> Any:
        if self._error is not None:
            raise self._error
        if self._result is not _NOT_DONE and value is not self._result and value is not None:
            self.callee.ignored("it may only observe, and what it returned had no effect")
        return self._result

    def _end(self) -> None:
        self.close()
        self.callee.ended(self._own + self._clock() - self._since)


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
        self._callees = callees
        self._base = base
        self._copy_original = copier(original)
        self._payload_name = PAYLOADS[kind]
        self._original_name = f"original_{self._payload_name}"
        self._context = context
        self._common = {
            "telemetry_schema_version": OBSERVER_SCHEMA,
            "middleware_schema_version": MIDDLEWARE_SCHEMA,
            **context,
        }
        self._workers = workers
        self._clock = clock
        self._still_here = still_here
        self._loop = asyncio.get_running_loop()
        self._watch: Watch[Frame] = Watch(min(callee.timeout for callee in callees), self._expire)

    async def run(self, payload: Payload) -> Any:
        try:
            return await self._rest(0, payload)
        finally:
            self._watch.close()

    def _rest(self, index: int, payload: Payload) -> Awaitable[Any]:
        """The rest of the chain, from this place on, to be awaited on the loop."""
        return self._at(self._next(index), payload)

    def _at(self, index: int, payload: Payload) -> Awaitable[Any]:
        """The chain at the place of one who takes part, or at its end."""
        if index == len(self._callees):
            return self._base(payload)
        frame = Frame(self._callees[index], index, payload, self._clock)
        return self._awaited(frame) if frame.callee.is_async else self._in_a_thread(frame)

    async def _settled(self, outcome: Any, frame: Frame) -> Any:
        """The outcome of a frame; where nothing was done, that of doing it without the frame."""
        return await self._rest(frame.index + 1, frame.incoming) if outcome is _NOT_DONE else outcome

    def _next(self, index: int) -> int:
        """The place of the next callback that takes part."""
        callees, end = self._callees, len(self._callees)
        while index < end and not callees[index].takes_part(self._context):
            index += 1
        return index

    async def _awaited(self, frame: Frame) -> Any:
        async def next_call(payload: object = None) -> Any:
            self._still_here()
            onward = frame.enter(payload)
            try:
                return frame.came_back(await self._rest(frame.index + 1, onward))
            except BaseException as error:
                frame.broke(error)
                raise

        frame.task = asyncio.current_task(self._loop)
        self._watch.add(frame)
        try:
            value = await frame.callee.callback(**self._arguments(frame, next_call))
            if hasattr(value, "__await__"):
                value = await value
        except BaseException as error:  # noqa: BLE001 - every outcome of a callback has its rule
            self._still_here()
            frame.close()
            is_ours = frame.is_expired and _is_ours_to_stop(frame, error)
            return await self._settled(frame.without_it() if is_ours else frame.raised(error), frame)
        self._still_here()
        if frame.is_expired and frame.task is not None:
            frame.task.uncancel()
        return frame.returned(value)

    async def _in_a_thread(self, frame: Frame) -> Any:
        stay = Stay(self._workers)
        try:
            outcome = await stay.run(lambda: self._called(frame, stay))
        except asyncio.CancelledError:
            frame.close()
            raise
        if isinstance(outcome, Left):
            # The frames around the one that hangs are gone with its thread.
            frame.close()
            hung: Frame = outcome.because
            return await self._settled(hung.without_it(), hung)
        if isinstance(outcome, Raised):
            raise outcome.error
        return await self._settled(outcome.value, frame)

    def _called(self, frame: Frame, stay: Stay) -> Any:
        """A callback that is not async, in its thread."""

        def next_call(payload: object = None) -> Any:
            self._still_here()
            onward = frame.enter(payload)
            try:
                return frame.came_back(self._onward(frame, onward, stay))
            except BaseException as error:
                frame.broke(error)
                raise

        frame.stay = stay
        self._watch.add(frame)
        try:
            value = frame.callee.callback(**self._arguments(frame, next_call))
            if hasattr(value, "__await__"):
                returned = value
                value = stay.on_loop(lambda: returned)
        except BaseException as error:  # noqa: BLE001 - every outcome of a callback has its rule
            self._still_here()
            return frame.raised(error)
        self._still_here()
        return frame.returned(value)

    def _onward(self, above: Frame, payload: Payload, stay: Stay) -> Any:
        """The rest of the chain from within a thread: on in it where that can be, else on the loop.

        Who has to agree is never left behind because of one beneath: that one has a thread of its own.
        """
        if stay.is_over:
            raise asyncio.CancelledError
        index = self._next(above.index + 1)
        is_end = index == len(self._callees)
        if is_end or above.callee.is_closed or not self._callees[index].shares_a_thread:
            return stay.on_loop(lambda: self._at(index, payload))
        frame = Frame(self._callees[index], index, payload, self._clock)
        outcome = self._called(frame, stay)
        return self._onward(frame, payload, stay) if outcome is _NOT_DONE else outcome

    def _arguments(self, frame: Frame, next_call: Callable[..., Any]) -> dict[str, Any]:
        arguments = {**self._common, self._payload_name: frame.given, "next_call": next_call}
        if frame.callee.takes(self._original_name):
            arguments[self._original_name] = self._copy_original()
        return frame.callee.fitting(arguments)

    def _expire(self, frame: Frame) -> None:
        if not frame.expire():
            self._watch.add(frame)
            return
        frame.callee.timed_out()
        if frame.stay is not None:
            frame.callee.left_behind()
            frame.stay.leave(frame, frame.callee.came_back)
        elif frame.task is not None:
            frame.task.cancel()


def _is_final(error: BaseException | None) -> bool:
    """Whether an error goes through every callback, whatever they make of it."""
    return isinstance(error, Block) or not isinstance(error, Exception | None)


def _is_ours_to_stop(frame: Frame, error: BaseException) -> bool:
    """Whether a cancellation is the one that ended the callback's time, and no other came beside it."""
    if not isinstance(error, asyncio.CancelledError) or frame.task is None:
        return False
    return frame.task.uncancel() == 0
