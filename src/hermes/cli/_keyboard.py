"""What a person types, waited for in a way that an interrupt ends at once."""

import asyncio
from typing import TextIO


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
