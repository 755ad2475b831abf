"""The tool `read_file`."""

import asyncio
import time
from collections.abc import Callable, Iterator
from typing import Annotated, TextIO

from hermes.errors import ToolError
from hermes.protocols import ToolResult
from hermes.tools.base import Param, tool
from hermes.tools.files import access, text

MOST_CHARACTERS = 100_000
MOST_LINES = 2_000
LONGEST_LINE = 5_000
TIME_LIMIT = 10.0

_ROOM_FOR_NOTE = 300
_PIECE = 1 << 16


async def read_file(
    services: access.Services,
    path: Annotated[str, Param("The file, relative to the working folder or absolute.")],
    offset: Annotated[int, Param("The first line to read, counted from 1.", minimum=1)] = 1,
    limit: Annotated[int, Param("How many lines, at most 2000.", minimum=1, maximum=MOST_LINES)] = MOST_LINES,
) -> ToolResult:
    """Read a text file as numbered lines. A long file is read in parts; the end says how to go on."""
    real = access.resolve(services, path)
    access.plain_file(real, path)
    first, count = max(offset, 1), min(max(limit, 1), MOST_LINES)
    try:
        content = await asyncio.to_thread(_read, real, path, first, count, time.monotonic)
    except OSError as error:
        raise access.unusable(path, error) from error
    return ToolResult(text=content, trusted=not services.places.is_strangers(real))


def _read(real: str, shown: str, first: int, count: int, clock: Callable[[], float]) -> str:
    with open(real, "rb", opener=access.open_at_once) as raw:
        form = text.form_of(raw.read(text.SAMPLE), shown)
    until = clock() + TIME_LIMIT
    with open(real, encoding=form.encoding, errors="replace", opener=access.open_at_once) as file:
        file.read(1 if form.mark else 0)
        kept: list[str] = []
        room, number = MOST_CHARACTERS - _ROOM_FOR_NOTE, 0
        for number, line in enumerate(_lines(file), 1):
            if clock() > until:
                raise ToolError(f"`{shown}` is too large: line {first} was not reached in {TIME_LIMIT:.0f} s")
            if number < first:
                continue
            numbered = f"{number}\t{line}"
            room -= len(numbered) + 1
            if room < 0 or len(kept) == count:
                kept.append(f"[there is more; go on with offset={number}]")
                return "\n".join(kept)
            kept.append(numbered)
    if number == 0:
        return "[the file is empty]"
    if not kept:
        raise ToolError(f"`{shown}` has {number} lines; there is no line {first}")
    return "\n".join((*kept, f"[the file ends here, with line {number}]"))


def _lines(file: TextIO) -> Iterator[str]:
    """Lines without their end; of a very long one, its beginning and how much is left out."""
    while True:
        line = file.readline(LONGEST_LINE)
        if not line:
            return
        left_out = 0
        while not line.endswith("\n"):
            rest = file.readline(_PIECE)
            left_out += len(rest.rstrip("\n"))
            if not rest or rest.endswith("\n"):
                break
        end = f" [… {left_out} characters left out …]" if left_out else ""
        yield line.rstrip("\n") + end


TOOL = tool(read_file, toolset="file", missing=access.missing, concern=access.reading)
