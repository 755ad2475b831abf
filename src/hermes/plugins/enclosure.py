"""Around the loading of a stranger's code: nothing it prints reaches stdout, and it comes to an end."""

import os
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout, suppress

_OUT, _ERR = 1, 2


class TookTooLong(BaseException):
    """The time to load a plugin is over. Not an `Exception`: it would be caught by what it has to end."""


@contextmanager
def enclosed(seconds: float) -> Iterator[None]:
    """What runs in here writes to stderr instead of stdout, and is ended after so many seconds.

    A process that it forked ends here, because two of us would both go on.
    """
    process = os.getpid()
    with _stdout_to_stderr(), _ended_after(seconds):
        try:
            yield
        finally:
            if os.getpid() != process:
                os._exit(0)


@contextmanager
def _stdout_to_stderr() -> Iterator[None]:
    """For Python's own writes, and for those of programs and libraries."""
    if sys.stdout is not None:
        sys.stdout.flush()
    try:
        kept = os.dup(_OUT)
    except OSError:  # it is closed
        kept = None
    try:
        if kept is not None:
            with suppress(OSError):
                os.dup2(_ERR, _OUT)
        with redirect_stdout(sys.stderr):
            yield
    finally:
        if kept is not None:
            os.dup2(kept, _OUT)
            os.close(kept)


@contextmanager
def _ended_after(seconds: float) -> Iterator[None]:
    """Only the main thread can be interrupted; in another one there is no end."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def end(*_: object) -> None:
        raise TookTooLong(f"it took longer than {seconds:g} seconds")

    before = signal.signal(signal.SIGALRM, end)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
