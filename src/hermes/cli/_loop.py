"""The event loop of a command: every command that waits for something runs in one made here."""

import asyncio
import signal
from collections.abc import Coroutine, Iterator
from contextlib import contextmanager
from contextvars import Context
from typing import Any, TypeVar

from hermes.cli._terminated import Terminated

T = TypeVar("T")

_ENDINGS = tuple(getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name))


class _Runner(asyncio.Runner):  # type: ignore[misc]  # final to type checkers alone
    """A runner that tells the signals that end a process from Ctrl-C."""

    ended_by: int | None = None

    def run(self, coro: Coroutine[Any, Any, T], *, context: Context | None = None) -> T:
        try:
            return super().run(coro, context=context)
        except KeyboardInterrupt:
            if self.ended_by is None:
                raise
            raise Terminated(self.ended_by) from None

    def end(self, number: int, _frame: object) -> None:
        self.ended_by = number
        try:
            asyncio.get_running_loop()
        except RuntimeError:
            raise Terminated(number) from None
        signal.raise_signal(signal.SIGINT)


@contextmanager
def event_loop() -> Iterator[asyncio.Runner]:
    """A loop to run things in, one after the other. Ctrl-C stops what runs in it, and so does SIGTERM."""
    runner = _Runner()
    try:
        with ctrl_c_waits():  # half a loop can neither run nor be closed
            runner.get_loop()
        with _endings(runner):
            yield runner
    finally:
        runner.close()


@contextmanager
def _endings(runner: _Runner) -> Iterator[None]:
    """Let the runner hear the signals that end a process; who started it may have had them ignored."""
    heard = [number for number in _ENDINGS if signal.getsignal(number) is signal.SIG_DFL]
    for number in heard:
        signal.signal(number, runner.end)
    try:
        yield
    finally:
        for number in heard:
            signal.signal(number, signal.SIG_DFL)


def run_in_loop(work: Coroutine[Any, Any, T]) -> T:
    """Run one thing in a loop of its own."""
    try:
        with event_loop() as runner:
            return runner.run(work)
    finally:
        work.close()


@contextmanager
def ctrl_c_waits() -> Iterator[None]:
    """A Ctrl-C in here is heard at the end of it."""
    heard = False

    def hear(*_: object) -> None:
        nonlocal heard
        heard = True

    before = signal.signal(signal.SIGINT, hear)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
    if heard:
        raise KeyboardInterrupt
