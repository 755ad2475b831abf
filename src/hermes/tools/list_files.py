"""The tool `list_files`."""

import asyncio
import os
import time
from collections.abc import Callable
from typing import Annotated

from hermes.errors import ToolError
from hermes.protocols import ToolResult
from hermes.tools.base import Param, tool
from hermes.tools.files import access, patterns, walk

MOST_FILES = 2_000
TIME_LIMIT = 10.0


async def list_files(
    services: access.Services,
    path: Annotated[str, Param("The folder, relative to the working folder or absolute.")] = ".",
    pattern: Annotated[str, Param("Which names: `*.py` in any folder, `src/*.py`, `docs/**`.")] = "**",
    limit: Annotated[int, Param("How many names, at most 2000.", minimum=1, maximum=MOST_FILES)] = 200,
) -> ToolResult:
    """List the files in a folder and below, nearest first; caches and version control are left out."""
    real = access.resolve(services, path)
    access.status(real, path)
    if not os.path.isdir(real):
        raise ToolError(f"`{path}` is a file, not a folder; read it with read_file")
    count = min(max(limit, 1), MOST_FILES)
    return ToolResult(text=await asyncio.to_thread(_listed, real, pattern, count, time.monotonic))


def _listed(top: str, pattern: str, count: int, clock: Callable[[], float]) -> str:
    fits, until = patterns.matcher(pattern), clock() + TIME_LIMIT
    found: list[str] = []
    for name, is_folder in walk.entries(top):
        if clock() > until:
            found.append(f"[stopped after {TIME_LIMIT:.0f} seconds; name a smaller folder in `path`]")
            break
        if fits(name):
            if len(found) == count:
                found.append(f"[there are more than {count}; narrow `path` or `pattern`, or raise `limit`]")
                break
            found.append(f"{name}/" if is_folder else name)
    return "\n".join(found) or "[nothing found]"


TOOL = tool(list_files, toolset="file", missing=access.missing)
