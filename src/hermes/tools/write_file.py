"""The tool `write_file`."""

import asyncio
import os
from typing import Annotated

from hermes.errors import ToolError
from hermes.protocols import ToolResult
from hermes.tools.base import Param, as_json, tool
from hermes.tools.files import access, writing


async def write_file(
    services: access.Services,
    path: Annotated[str, Param("The file, relative to the working folder or absolute.")],
    content: Annotated[str, Param("The whole new content.")],
) -> ToolResult:
    """Write a text file: a new one, with the folders it needs, or the whole content of an old one."""
    real = access.resolve(services, path)
    is_new = not os.path.lexists(real)
    if not is_new:
        access.plain_file(real, path)
    data = content.encode("utf-8", "replace")
    try:
        await asyncio.to_thread(writing.replace, real, data)
    except (FileExistsError, NotADirectoryError) as error:
        raise ToolError(f"cannot write `{path}`: one of its folders is a file") from error
    except OSError as error:
        raise access.unusable(path, error) from error
    return ToolResult(text=as_json({"path": path, "bytes": len(data), "created": is_new}))


TOOL = tool(write_file, toolset="file", effect="changes", missing=access.missing, concern=access.writing)
