"""A registered callback, ready to be called: what it takes, how it fares, whether it is left out."""

import inspect
import threading
from collections import deque
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import msgspec

from hermes.errors import Block
from hermes.hooks.names import PAYLOADS
from hermes.hooks.registration import Breaker, Options, Registration

Warn = Callable[[str], None]

Fence = Callable[[], Callable[[], None]]
"""Asked before callbacks; what it gives is called after each, and does not return in a process it forked."""


_KEPT_TIMES = 256
_UNCOUNTED = 256
_MOST_ABANDONED = 3
_BINDABLE = (
    inspect.Parameter.POSITIONAL_OR_KEYWORD,
    inspect.Parameter.KEYWORD_ONLY,
)


class Tally(msgspec.Struct, frozen=True):
    """What became of a callback so far; times are milliseconds that it took by itself."""

    plugin: str
    name: str
    kind: str
    calls: int
    errors: int
    timeouts: int
    skips: int
    ignored: int
    """Returns that were not what the contract asks for, or that an observer may not give."""
    abandoned: int
    breaker: str
    p50: float
    p95: float
    longest: float


class Callee:
    """One callback with its accounts, which are kept from the loop's thread and from those of callbacks."""

    def __init__(
        self,
        registration: Registration,
        *,
        timeout: float,
        clock: Callable[[], float],
        warn: Warn,
    ) -> None:
        self.plugin = registration.plugin
        self.kind = registration.kind
        self.options: Options = registration.options
        self.observes = registration.observes
        self.callback = registration.callback
        self.name = registration.options.name or _name_of(registration.callback)
        self.timeout = registration.options.timeout or timeout
        self.is_async = _is_async(registration.callback)
        self.is_closed = self.options.policy or self.options.on_error == "closed"
        self.shares_a_thread = not self.is_async and not self.is_closed and self.options.timeout is None
        """Whether it may run beneath another one's frame: not where its own end must be certain."""
        self.abandoned = 0
        self._takes = _parameters(registration.callback)
        self.takes_all = self._takes is None
        self._clock = clock
        self._warn = warn
        self._warned: set[str] = set()
        self._lock = threading.RLock()
        self._circuit = Circuit(self.options.breaker, clock)
        self.is_always_called = self.options.when is None
        """Whether there is nothing to ask before a call; read without a lock."""
        self._counts = {"calls": 0, "errors": 0, "timeouts": 0, "skips": 0, "ignored": 0}
        self._times: deque[float] = deque(maxlen=_KEPT_TIMES)
        # One step puts a time in here, so that no call waits for a lock.
        self._uncounted: list[float] = []
        self._check_signature()

    @property
    def title(self) -> str:
        return f"{self.plugin}:{self.name}"

    def takes_part(self, context: Mapping[str, Any]) -> bool:
        """Whether it is called now: it wants to, and is not left out. One that says yes is to be called."""
        if self.is_always_called:
            return True
        if not self.wants(context) or self.is_left_out():
            return False
        with self._lock:
            self._circuit.begin()
        return True

    def wants(self, context: Mapping[str, Any]) -> bool:
        """Whether it is called this time; one that says so by raising is not, or closes the way."""
        when = self.options.when
        if when is None:
            return True
        if isinstance(when, Mapping):
            return all(context.get(key) == value for key, value in when.items())
        try:
            return bool(when(context))
        except Exception as error:
            self.failed(error)
            if self.is_closed:
                raise self.block("its condition failed") from error
            return False

    def is_left_out(self) -> bool:
        """Whether it failed too often lately; one that must not be passed over raises `Block` instead."""
        if self._circuit.is_closed:
            return False
        with self._lock:
            if self._circuit.allows():
                return False
            self._counts["skips"] += 1
        if self.is_closed:
            raise self.block("it failed too often and is left out")
        return True

    def takes(self, name: str) -> bool:
        return self._takes is None or name in self._takes

    def fitting(self, arguments: dict[str, Any]) -> dict[str, Any]:
        """Of the arguments on offer, those that it takes."""
        if self._takes is None:
            return arguments
        return {name: value for name, value in arguments.items() if name in self._takes}

    def ended(self, seconds: float) -> None:
        """Count a call that came to its own end."""
        self._uncounted.append(seconds)
        if len(self._uncounted) >= _UNCOUNTED:
            self._count_calls()

    def _count_calls(self) -> None:
        with self._lock:
            times = self._uncounted[:]
            del self._uncounted[: len(times)]
            self._counts["calls"] += len(times)
            self._times.extend(times)

    def succeeded(self) -> None:
        if not self._circuit.is_closed:
            with self._lock:
                self._circuit.succeeded()
                self.is_always_called = self.options.when is None

    def failed(self, error: BaseException) -> None:
        """Count a failure of its own, and say it once."""
        self._count_failure("errors")
        self.warn(f"{type(error).__name__}: {error}" if str(error) else type(error).__name__)

    def timed_out(self) -> None:
        self._count_failure("timeouts")
        self.warn(f"it took longer than {self.timeout:g} seconds, and was left behind")

    def left_behind(self) -> None:
        """A thread hangs in it: after a few of those it is not called any more."""
        with self._lock:
            self.abandoned += 1
            if self.abandoned >= _MOST_ABANDONED:
                self._circuit.open()
                self.is_always_called = False

    def came_back(self) -> None:
        """A thread that was left behind has come to its end."""
        with self._lock:
            self.abandoned -= 1

    def ignored(self, cause: str) -> None:
        """Count a return that has no effect, and say why once."""
        with self._lock:
            self._counts["ignored"] += 1
        self.warn(cause)

    def warn(self, cause: str) -> None:
        """Tell the user, once for each cause."""
        if cause not in self._warned:
            self._warned.add(cause)
            self._warn(f"the plugin `{self.plugin}` ({self.kind} `{self.name}`): {cause}")

    def block(self, cause: str) -> Block:
        """The refusal in its name, for when its failure is a no."""
        words = f"the plugin `{self.plugin}` has to agree, and cannot: {cause}"
        return Block(words, code="plugin_failed").by(self.plugin, self.name)

    def tally(self) -> Tally:
        self._count_calls()
        times = sorted(self._times) or [0.0]
        return Tally(
            plugin=self.plugin,
            name=self.name,
            kind=self.kind,
            **self._counts,
            abandoned=self.abandoned,
            breaker=self._circuit.state,
            p50=1000 * times[len(times) // 2],
            p95=1000 * times[len(times) * 95 // 100],
            longest=1000 * times[-1],
        )

    def _count_failure(self, sort: str) -> None:
        with self._lock:
            self._counts[sort] += 1
            is_left_out = self._circuit.failed()
            self.is_always_called = self.is_always_called and self._circuit.is_closed
        if is_left_out:
            breaker = self.options.breaker or Breaker()
            self.warn(f"it failed {breaker.failures} times and is left out for {breaker.cooldown:g} seconds")

    def _check_signature(self) -> None:
        """A callback of ours that asks for what it will never get is told so at once."""
        if self._takes is None or self.kind not in PAYLOADS:
            return
        if self.kind.endswith("_execution") and "next_call" not in self._takes:
            self.warn("it takes no `next_call`, so it always stands in the place of what it wraps")


class Circuit:
    """Opens after so many failures within a window; after a while one call may show that all is well."""

    __slots__ = ("_breaker", "_clock", "_failures", "_opened_at", "_probing")

    def __init__(self, breaker: Breaker | None, clock: Callable[[], float]) -> None:
        self._breaker = breaker
        self._clock = clock
        self._failures: deque[float] = deque(maxlen=breaker.failures if breaker else 1)
        self._opened_at: float | None = None
        self._probing = False

    @property
    def is_closed(self) -> bool:
        """Whether all is well; asked without a lock."""
        return self._opened_at is None

    @property
    def state(self) -> str:
        if self.is_closed:
            return "closed"
        return "half-open" if self._probing else "open"

    def allows(self) -> bool:
        if self._opened_at is None:
            return True
        breaker = self._breaker or Breaker()
        return not self._probing and self._clock() - self._opened_at >= breaker.cooldown

    def begin(self) -> None:
        """A call is made: after a while of none, it is the one that shows how it is."""
        self._probing = self._opened_at is not None

    def succeeded(self) -> None:
        if self._opened_at is not None:
            self._opened_at, self._probing = None, False
            self._failures.clear()

    def failed(self) -> bool:
        """Count a failure; true when it is the one that opens the circuit."""
        if self._breaker is None:
            return False
        now = self._clock()
        self._failures.append(now)
        is_full = len(self._failures) == self._breaker.failures
        if self._probing or (is_full and now - self._failures[0] <= self._breaker.window):
            was_closed = self._opened_at is None
            self.open()
            return was_closed
        return False

    def open(self) -> None:
        self._opened_at, self._probing = self._clock(), False


def _name_of(callback: Callable[..., Any]) -> str:
    while isinstance(callback, partial):
        callback = callback.func
    return getattr(callback, "__name__", None) or type(callback).__name__


def _is_async(callback: Callable[..., Any]) -> bool:
    while isinstance(callback, partial):
        callback = callback.func
    call = getattr(callback, "__call__", None)  # noqa: B004 - an object whose call is a coroutine function
    return inspect.iscoroutinefunction(callback) or inspect.iscoroutinefunction(call)


def _parameters(callback: Callable[..., Any]) -> frozenset[str] | None:
    """The names that a callback can be given; None where it takes any, or does not say."""
    try:
        parameters = inspect.signature(callback).parameters.values()
    except (TypeError, ValueError):
        return None
    if any(parameter.kind is inspect.Parameter.VAR_KEYWORD for parameter in parameters):
        return None
    return frozenset(parameter.name for parameter in parameters if parameter.kind in _BINDABLE)
