"""The tool `search_files`."""

import asyncio
import os
import sys
from typing import Annotated

import msgspec

from hermes.errors import ToolError
from hermes.protocols import ToolResult
from hermes.tools.base import Param, tool
from hermes.tools.files import access
from hermes.tools.files.search_worker import Finished, Match, Wanted

MOST_LINES = 1_000
TIME_LIMIT = 10.0

_WORKER = (sys.executable, "-P", "-m", "hermes.tools.files.search_worker")


async def search_files(
    services: access.Services,
    pattern: Annotated[str, Param("A regular expression in Python's syntax, held against each line.")],
    path: Annotated[str, Param("A folder or a file, relative to the working folder or absolute.")] = ".",
    files: Annotated[str, Param("Only files with such a name, for example `*.py`.")] = "*",
    limit: Annotated[int, Param("How many lines, at most 1000.", minimum=1, maximum=MOST_LINES)] = 100,
) -> ToolResult:
    """Search text files for a regular expression. Returns `path:line: text` for each line that matches."""
    real = access.resolve(services, path)
    access.status(real, path)
    wanted = Wanted(
        pattern=pattern,
        path=real,
        files=files,
        limit=min(max(limit, 1), MOST_LINES),
        places=services.places,
        may_read_secrets=not os.path.isdir(real),
    )
    try:
        matches, end = await _search(wanted)
    except OSError as error:
        raise access.unusable(path, error) from error
    if end is not None and end.error:
        raise ToolError(end.error)
    lines = [f"{match.path}:{match.line}: {match.text}" for match in matches]
    return ToolResult(
        text="\n".join((*lines, *_notes(len(lines), end))),
        trusted=not services.places.is_strangers(real),
    )


async def _search(wanted: Wanted) -> tuple[list[Match], Finished | None]:
    """What the worker found; without an end when it had to be stopped."""
    # Only the module path: a program that reads files is given no keys.
    environment = {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    pipe = asyncio.subprocess.PIPE
    worker = await asyncio.create_subprocess_exec(
        *_WORKER, stdin=pipe, stdout=pipe, stderr=asyncio.subprocess.DEVNULL, env=environment
    )
    found: list[Match] = []
    try:
        async with asyncio.timeout(TIME_LIMIT):
            return found, await _talk(worker, wanted, found)
    except TimeoutError:
        return found, None
    finally:
        if worker.returncode is None:
            worker.kill()
        await worker.wait()


async def _talk(worker: asyncio.subprocess.Process, wanted: Wanted, found: list[Match]) -> Finished:
    if worker.stdin is None or worker.stdout is None:
        raise ToolError("the search did not start")
    worker.stdin.write(msgspec.json.encode(wanted))
    worker.stdin.close()
    async for line in worker.stdout:
        said = msgspec.json.decode(line, type=Match | Finished)
        if isinstance(said, Finished):
            return said
        found.append(said)
    raise ToolError("the search broke down")


def _notes(shown: int, end: Finished | None) -> list[str]:
    if end is None:
        return [f"[stopped after {TIME_LIMIT:.0f} seconds; take a simpler `pattern` or a smaller `path`]"]
    notes = []
    if end.more:
        notes.append(f"[there are more than {shown}; narrow `path`, `files` or `pattern`]")
    if not shown:
        notes.append(f"[nothing found in {end.files} files]")
    if end.secret:
        notes.append(f"[{end.secret} files that may hold secrets were left out]")
    if end.large:
        notes.append(f"[{end.large} files that are too large were left out]")
    return notes


TOOL = tool(search_files, toolset="file", missing=access.missing, concern=access.reading)
