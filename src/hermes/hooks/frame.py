"""The rules of one frame: a way on that is used once, a time of one's own, and what an outcome comes to."""

from collections.abc import Callable, Sequence
from typing import Any, Protocol

from hermes.errors import Block, NextCallMisused
from hermes.hooks.callee import Callee
from hermes.hooks.copying import copied
from hermes.hooks.host import Spent

Payload = dict[str, Any]

NOT_DONE = object()
"""The outcome of a callback that failed before it called on: what it wraps is still to be done."""

_TOO_LATE = "`next_call` was called after its callback had ended; nothing was done"
_AGAIN = "`next_call` was called again; nothing was done a second time"
_HOW_OFTEN = "register with `max_calls=` to try again"


class Chain(Protocol):
    """What a frame knows of the call that it is part of."""

    callees: Sequence[Callee]
    clock: Callable[[], float]
    still_here: Callable[[], None]


class Frame:
    """One callback around one call: its way on, its time, and what came of both."""

    is_expired = False
    _is_open = True
    _uses = 0
    _result: Any = NOT_DONE
    _error: BaseException | None = None
    _own = 0.0

    def __init__(self, chain: Chain, index: int, incoming: Payload) -> None:
        self.chain = chain
        self.callee = chain.callees[index]
        self.index = index
        self.incoming = incoming
        self.given = copied(incoming)
        # Held while the callback is at work; taking it is one step, so that of two threads one has it.
        self.at_work = [True]
        self._clock = chain.clock
        self._began = self._since = chain.clock()

    def enter(self, payload: object) -> Payload:
        """The way on: what to do it with. Refused when it was used up, or after the callback's end."""
        callee = self.callee
        self.chain.still_here()
        try:
            self.at_work.pop()
        except IndexError:
            raise NextCallMisused(_AGAIN if self._is_open else _TOO_LATE, hint=_HOW_OFTEN) from None
        if self._uses >= callee.options.max_calls:
            self.at_work.append(True)
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

    def spent(self, origin: float) -> Spent:
        """What it took, for when the call is over; `origin` is when the call began."""
        return Spent(
            plugin=self.callee.plugin,
            callback=self.callee.name,
            after_ms=1000 * (self._began - origin),
            duration_ms=1000 * (self._since - self._began),
            own_ms=1000 * self._own,
        )

    def came_back(self, result: Any) -> Any:
        self._result, self._error = result, None
        self._since = self._clock()
        self.at_work.append(True)
        return result

    def broke(self, error: BaseException) -> None:
        if not _is_final(self._error):
            self._error = error
        self._since = self._clock()
        self.at_work.append(True)

    def left(self) -> float | None:
        if self.is_expired or not self.at_work:
            return None
        return self.callee.timeout - self._own - (self._clock() - self._since)

    def close(self) -> None:
        self._is_open = False
        self.at_work.clear()

    def returned(self, value: Any) -> Any:
        """What a callback's return comes to."""
        self._end()
        if self._error is not None and _is_final(self._error):
            raise self._error
        callee = self.callee
        if not callee.is_always_called:
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
        if self._result is not NOT_DONE:
            return self._result
        if self.callee.is_closed:
            raise self.callee.block("it failed") from error
        return NOT_DONE

    def _observed(self, value: Any) -> Any:
        if self._error is not None:
            raise self._error
        if self._result is not NOT_DONE and value is not self._result and value is not None:
            self.callee.ignored("it may only observe, and what it returned had no effect")
        return self._result

    def _end(self) -> None:
        self.chain.still_here()
        self.close()
        now = self._clock()
        self._own += now - self._since
        self._since = now
        self.callee.ended(self._own)


def _is_final(error: BaseException | None) -> bool:
    """Whether an error goes through every callback, whatever they make of it."""
    return isinstance(error, Block) or not isinstance(error, Exception | None)
