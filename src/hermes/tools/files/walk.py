"""The files of a folder that a person would look at: no version control, caches or installed packages."""

import os
from collections import deque
from collections.abc import Iterator

_NAMES = """
.git .hg .svn .jj CVS __pycache__ .mypy_cache .ruff_cache .pytest_cache .import_linter_cache .hypothesis
.tox .nox .cache .venv venv .venvs node_modules bower_components .eggs .gradle .terraform .next .nuxt
.parcel-cache .DS_Store
"""
SKIPPED = frozenset(_NAMES.split())


def entries(top: str) -> Iterator[tuple[str, bool]]:
    """What is under a folder, nearest first: relative path, and whether it is a folder.

    Links to folders are named and not entered. What cannot be opened is passed over.
    """
    waiting = deque([""])
    while waiting:
        below = waiting.popleft()
        for entry in _listed(os.path.join(top, below)):
            path = os.path.join(below, entry.name)
            is_folder = _is_folder(entry)
            yield path, is_folder
            if is_folder and not entry.is_symlink():
                waiting.append(path)


def _listed(folder: str) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as listing:
            found = sorted(listing, key=lambda entry: entry.name)
    except OSError:
        return []
    if any(entry.name == "pyvenv.cfg" for entry in found):
        return []
    return [entry for entry in found if entry.name not in SKIPPED]


def _is_folder(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_dir()
    except OSError:
        return False
