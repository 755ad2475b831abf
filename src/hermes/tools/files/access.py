"""Where a path leads, and whether reading or changing it needs a person's consent."""

import os
import stat
from difflib import get_close_matches
from typing import Protocol

from hermes.errors import ToolError
from hermes.protocols import Approver, ToolResult
from hermes.tools.consent import refusal
from hermes.tools.places import Places


class Services(Protocol):
    @property
    def places(self) -> Places: ...

    @property
    def approve(self) -> Approver: ...


def missing(services: Services) -> str | None:
    """What the file tools need: a folder to work in."""
    return None if services.places.folder else "the working folder is gone"


def resolve(services: Services, path: str) -> str:
    """The real path behind one as given, links followed."""
    if not _is_name(path):
        raise ToolError("`path` must name a file or folder")
    return os.path.realpath(services.places.absolute(path))


def _is_name(path: str) -> bool:
    try:
        return bool(path.strip()) and b"\0" not in os.fsencode(path)
    except UnicodeEncodeError:
        return False


async def unless_readable(services: Services, tool: str, path: str) -> ToolResult | None:
    """None when a path may be read; otherwise the result to return."""
    places = services.places
    reason = places.secret(places.absolute(path)) or places.secret(resolve(services, path))
    return await refusal(services, tool, f"read `{path}`", reason) if reason else None


async def unless_writable(services: Services, tool: str, path: str) -> ToolResult | None:
    """None when a path may be changed; otherwise the result to return."""
    places, real = services.places, resolve(services, path)
    reason = places.guarded(places.absolute(path)) or places.guarded(real)
    if reason is None and not places.holds(real):
        reason = f"it is outside of the working folder `{places.folder}`"
    return await refusal(services, tool, f"write `{path}`", reason) if reason else None


def status(path: str, shown: str) -> os.stat_result:
    """What is at a path; raises `ToolError` that says what is near when nothing is."""
    try:
        return os.stat(path)
    except FileNotFoundError:
        raise ToolError(f"there is no file `{shown}`{_near(path)}") from None
    except OSError as error:
        raise unusable(shown, error) from error


def plain_file(path: str, shown: str) -> os.stat_result:
    """The same for a path that has to be a file with content."""
    found = status(path, shown)
    if stat.S_ISDIR(found.st_mode):
        raise ToolError(f"`{shown}` is a folder; see what is in it with list_files")
    if not stat.S_ISREG(found.st_mode):
        raise ToolError(f"`{shown}` is a device or a pipe, not a file")
    return found


def open_at_once(path: str, flags: int) -> int:
    """An opener for `open` that never waits: what has no data yet is an error."""
    return os.open(path, flags | os.O_NONBLOCK)


def unusable(shown: str, error: OSError) -> ToolError:
    """Why a path cannot be used, in plain words."""
    return ToolError(f"cannot use `{shown}`: {(error.strerror or 'unknown reason').lower()}")


def _near(path: str) -> str:
    folder, name = os.path.split(path)
    try:
        entries = sorted(os.listdir(folder))
    except OSError:
        return f"; there is no folder `{folder}` either" if not os.path.isdir(folder) else ""
    near = get_close_matches(name, entries, n=3, cutoff=0.5) or entries[:5]
    return f"; near it are {', '.join(f'`{entry}`' for entry in near)}" if near else "; its folder is empty"
