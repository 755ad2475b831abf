"""The tool `patch`."""

import asyncio
import threading
from collections.abc import Sequence
from difflib import get_close_matches, unified_diff
from typing import Annotated

from hermes.errors import ToolError
from hermes.protocols import ToolResult
from hermes.tools.base import Param, as_json, tool
from hermes.tools.files import access, text, writing

LARGEST = 10_000_000
LONGEST_DIFF = 20_000

_COMPARED_LINES = 5_000
_COMPARED_CHARACTERS = 200
_SHOWN_PLACES = 5
_one_at_a_time = threading.Lock()


async def patch(
    services: access.Services,
    path: Annotated[str, Param("The file, relative to the working folder or absolute.")],
    old: Annotated[
        str, Param("The text to replace, exactly as in the file, with enough of it to be unique.")
    ],
    new: Annotated[str, Param("The text to put in its place; empty to delete it.")],
    all: Annotated[bool, Param("Replace every occurrence, not just a single one.")] = False,
) -> ToolResult:
    """Replace a text in a file. Returns the change as a diff."""
    real = access.resolve(services, path)
    if access.plain_file(real, path).st_size > LARGEST:
        raise ToolError(f"`{path}` is larger than {LARGEST} bytes")
    if not old:
        raise ToolError("`old` is empty; give the text to replace, or use write_file")
    if old == new:
        raise ToolError("`old` and `new` are the same; there is nothing to change")
    try:
        count, diff = await asyncio.to_thread(_replace, real, path, (old, new), all)
    except OSError as error:
        raise access.unusable(path, error) from error
    return ToolResult(text=as_json({"path": path, "replaced": count, "diff": diff}))


def _replace(real: str, shown: str, change: tuple[str, str], every: bool) -> tuple[int, str]:
    with _one_at_a_time:
        with open(real, "rb", opener=access.open_at_once) as file:
            data = file.read()
        form = text.form_of(data[: text.SAMPLE], shown)
        before = form.decode(data)
        if form.encode(before) != data:
            raise ToolError(
                f"`{shown}` holds bytes that are not {form.encoding}; it cannot be changed as text"
            )
        old, new = _as_in(before, change)
        count = before.count(old)
        if count == 0:
            raise ToolError(f"`old` is not in `{shown}`{_nearest(old, before)}")
        if count > 1 and not every:
            raise ToolError(
                f"`old` is in `{shown}` {count} times, in lines {_places(old, before)}; "
                "give more of the text round it, or set `all`"
            )
        after = before.replace(old, new)
        try:
            writing.replace(real, form.encode(after))
        except UnicodeEncodeError:
            raise ToolError(
                f"`{shown}` is {form.encoding}, which has no place for a character of `new`"
            ) from None
    return count, _diff(before, after, shown)


def _as_in(before: str, change: tuple[str, str]) -> tuple[str, str]:
    """The change with the line endings of the file: a model writes `\\n` whatever it read."""
    if change[0] in before or "\r\n" not in before:
        return change
    old, new = (part.replace("\r\n", "\n").replace("\n", "\r\n") for part in change)
    return old, new


def _diff(before: str, after: str, shown: str) -> str:
    old, new = (part.replace("\r\n", "\n").splitlines() for part in (before, after))
    diff = "\n".join(unified_diff(old, new, f"a/{shown}", f"b/{shown}", lineterm=""))
    return (
        diff
        if len(diff) <= LONGEST_DIFF
        else f"{diff[:LONGEST_DIFF]}\n[… the rest of the change is left out …]"
    )


def _places(old: str, before: str) -> str:
    lines: list[str] = []
    at = before.find(old)
    while at >= 0 and len(lines) < _SHOWN_PLACES:
        lines.append(str(before.count("\n", 0, at) + 1))
        at = before.find(old, at + len(old))
    return ", ".join(lines) + (", …" if at >= 0 else "")


def _nearest(old: str, before: str) -> str:
    """The lines of the file that are most like the first line of `old`."""
    wanted = next((line.strip() for line in old.splitlines() if line.strip()), "")
    lines = before.splitlines()
    stripped = [line.strip()[:_COMPARED_CHARACTERS] for line in lines]
    near: Sequence[int] = [at for at, line in enumerate(stripped) if line and line == wanted]
    if not near:
        alike = get_close_matches(wanted[:_COMPARED_CHARACTERS], stripped[:_COMPARED_LINES], n=3, cutoff=0.6)
        near = [stripped.index(line) for line in dict.fromkeys(alike)]
    if not near:
        return "; read the file again"
    shown = "\n".join(f"{at + 1}\t{lines[at][:_COMPARED_CHARACTERS]}" for at in near[:3])
    return f"; the nearest lines are:\n{shown}"


TOOL = tool(patch, toolset="file", effect="changes", missing=access.missing, concern=access.writing)
