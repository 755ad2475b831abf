"""The event loop of a command: every command that waits for something runs in one made here."""

import asyncio
import signal
from collections.abc import Coroutine, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

T = TypeVar("T")


@contextmanager
def event_loop() -> Iterator[asyncio.Runner]:
    """A loop to run things in, one after the other. Ctrl-C stops what runs in it."""
    runner = asyncio.Runner()
    try:
        with ctrl_c_waits():  # half a loop can neither run nor be closed
            runner.get_loop()
        yield runner
    finally:
        runner.close()


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
