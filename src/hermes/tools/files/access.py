"""Where a path leads, and whether reading or changing it needs a person's consent."""

import os
import stat
from collections.abc import Mapping
from difflib import get_close_matches
from typing import Any, Protocol

from hermes.errors import ToolError
from hermes.protocols import Concern
from hermes.tools.places import Places


class Services(Protocol):
    @property
    def places(self) -> Places: ...


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


def reading(services: Services, arguments: Mapping[str, Any]) -> Concern | None:
    """What speaks against reading `path`; the tool itself refuses what is no path."""
    path, places = arguments.get("path", "."), services.places
    if not _is_name(path):
        return None
    real = resolve(services, path)
    reason = places.secret(places.absolute(path)) or places.secret(real)
    return _concern(places, f"read {real}", path, reason)


def writing(services: Services, arguments: Mapping[str, Any]) -> Concern | None:
    """What speaks against changing `path`; the tool itself refuses what is no path."""
    path, places = arguments["path"], services.places
    if not _is_name(path):
        return None
    real = resolve(services, path)
    reason = places.guarded(places.absolute(path)) or places.guarded(real)
    if reason is not None or places.holds(real):
        return _concern(places, f"write {real}", path, reason)
    outside = f"it is outside of the working folder `{places.folder}`"
    return _concern(places, f"write {real}", path, outside, rule=f"write in {os.path.dirname(real)}")


def _concern(places: Places, action: str, path: str, reason: str | None, rule: str = "") -> Concern:
    """A concern about a path where it really leads; the reason says so when its name does not."""
    if reason is None:
        return Concern(kind="free", action=action)
    written = places.absolute(path)
    led = "" if action.endswith(f" {written}") else f"`{written}` leads there, and "
    is_line = action.isprintable()
    return Concern(
        kind="ask",
        action=action,
        reason=f"{led}{reason}",
        rules=(rule or action,),
        keep="always" if is_line else "session",
    )


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
