"""The machine: Python, what runs whenever Python starts, room on the disk, the clock."""

import os
import platform
import sys
import time

import hermes
from hermes import __version__
from hermes.cli._checks import Finding, Found, Group, Scene, failed, ok, warning
from hermes.cli._start_files import Suspect, suspects
from hermes.threads import in_thread

LITTLE_ROOM = 100_000_000
NO_ROOM = 5_000_000
A_DAY = 86_400.0


async def _python(_scene: Scene) -> Finding:
    return ok(f"{platform.python_version()}, hermes {__version__}, {sys.prefix}")


async def _start_files(_scene: Scene) -> Found:
    """Files that run code whenever any Python program starts: a place where stolen packages hide."""
    found = await in_thread(suspects)
    return [_told(one) for one in found] or ok("no `.pth` file runs code that is not known")


def _told(found: Suspect) -> Finding:
    return warning(
        f"`{found.path}` runs code whenever Python starts: {found.why}",
        f"read it; if you do not know it, delete it and install again{found.owned_by}",
    )


async def _home(scene: Scene) -> Finding:
    home = scene.runtime.config.home
    nearest = _nearest(home)
    if not os.access(nearest, os.W_OK):
        fix = f"make `{home}` writable, or set `HERMES_HOME` to a folder that is"
        return warning(f"`{home}` cannot be written: nothing will be saved", fix)
    return ok(home if nearest == home else f"{home} (made on first use)")


async def _disk(scene: Scene) -> Finding:
    disk = os.statvfs(_nearest(scene.runtime.config.home))
    free = disk.f_bavail * disk.f_frsize
    told = f"{free / 1_000_000:,.0f} MB are free"
    if free >= LITTLE_ROOM:
        return ok(told)
    fix = "free some space, or set `HERMES_HOME` to a folder on another disk"
    return failed(f"{told}: little can be saved", fix) if free < NO_ROOM else warning(told, fix)


async def _clock(scene: Scene) -> Finding:
    """A clock that is behind breaks certificates and signatures, and one that jumps breaks the order."""
    now = time.time()
    fix = "set the clock of this machine, or let it be set from the network"
    if now < os.stat(hermes.__file__).st_mtime - A_DAY:
        return failed(f"it is {_day(now)}, which is before Hermes was installed", fix)
    written = _written(os.path.join(scene.runtime.config.home, "sessions.db"))
    if written > now + A_DAY:
        return warning(f"it is {_day(now)}, and the sessions are from {_day(written)}", fix)
    return ok(f"it is {_day(now)}")


def _written(path: str) -> float:
    """When a file was written last; long ago when there is none."""
    try:
        return os.stat(path).st_mtime
    except OSError:
        return 0.0


def _day(moment: float) -> str:
    return time.strftime("%Y-%m-%d %H:%M", time.localtime(moment))


def _nearest(folder: str) -> str:
    """The folder, or the nearest above it that is there."""
    while not os.path.exists(folder):
        folder = os.path.dirname(folder)
    return folder


GROUP = Group(
    title="installation",
    place=1,
    checks={
        "python": _python,
        "start files": _start_files,
        "home": _home,
        "disk": _disk,
        "clock": _clock,
    },
)
