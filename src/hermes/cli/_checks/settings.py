"""The settings: whether they can be read, what nobody knows in them, and who else can read them."""

import os
import stat

from hermes.cli._checks import Finding, Found, Group, Scene, failed, ok, warning

OTHERS = 0o077
PRIVATE = ("sessions.db", "notes.db", "index.db", "memory.md", "hook_outputs", "cache")
"""What in the home may hold what was said; the files with settings are looked at when they are read."""


async def _settings(scene: Scene) -> Found:
    if scene.problem is not None:
        return failed(
            str(scene.problem), scene.problem.hint or "mend that line; `hermes config check` looks again"
        )
    found = [_told(words) for words in scene.runtime.config.warnings]
    return found or ok("nothing is wrong with them")


def _told(words: str) -> Finding:
    """A warning of the settings; what can be done stands behind its last semicolon."""
    detail, _, fix = words.rpartition("; ")
    return warning(detail or words, fix if detail else "see `hermes config show --origin`")


async def _permissions(scene: Scene) -> Found:
    home = scene.runtime.config.home
    opened = [path for path in (os.path.join(home, name) for name in PRIVATE) if _is_open(path)]
    if not opened:
        return ok("what was said is open to nobody else")
    return [warning(f"`{path}` is open to other users", f"run `chmod go-rwx {path}`") for path in opened]


def _is_open(path: str) -> bool:
    try:
        return bool(stat.S_IMODE(os.stat(path).st_mode) & OTHERS)
    except OSError:
        return False


GROUP = Group(title="settings", place=2, checks={"settings": _settings, "permissions": _permissions})
