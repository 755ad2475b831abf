"""What a person types, waited for in a way that an interrupt ends at once."""

import asyncio
import termios
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TextIO

_LOCAL = 3
"""Where `termios` keeps the flags of how a terminal deals with what is typed."""


@contextmanager
def echo(stdin: TextIO, *, on: bool) -> Iterator[None]:
    """Within this, keys are shown as they are pressed, or not: within an answer they would garble it.

    What is typed unseen is there at the next prompt.
    """
    try:
        before = termios.tcgetattr(stdin.fileno())
    except termios.error:  # it is no terminal
        yield
        return
    changed = [*before]
    changed[_LOCAL] = before[_LOCAL] | termios.ECHO if on else before[_LOCAL] & ~termios.ECHO
    try:
        termios.tcsetattr(stdin.fileno(), termios.TCSANOW, changed)
        yield
    finally:
        termios.tcsetattr(stdin.fileno(), termios.TCSANOW, before)


async def next_line(stdin: TextIO) -> str:
    """The next line with its end; empty when there are no more."""
    loop = asyncio.get_running_loop()
    ready = asyncio.Event()
    loop.add_reader(stdin.fileno(), ready.set)
    try:
        await ready.wait()
    finally:
        loop.remove_reader(stdin.fileno())
    return stdin.readline()
