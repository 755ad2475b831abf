"""Hermes' own manual, always part of the index."""

import os

from hermes.index.addresses import manual_url


def manual_folder() -> str | None:
    """The manual in the installed package, else in the source checkout, else None."""
    package = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    checkout = os.path.dirname(os.path.dirname(package))
    for folder in (os.path.join(package, "_docs"), os.path.join(checkout, "docs")):
        if os.path.isdir(folder):
            return folder
    return None


_FROM_CODE = "generated"
"""A folder of tables that are made from the code: nothing in them answers a question."""


def pages(folder: str) -> dict[str, tuple[str, int, int]]:
    """The Markdown files of the manual: address to path, size and time of change."""
    found: dict[str, tuple[str, int, int]] = {}
    waiting = [folder]
    while waiting:
        with os.scandir(waiting.pop()) as entries:
            for entry in entries:
                if entry.is_dir(follow_symlinks=False):
                    waiting += [entry.path] if entry.name != _FROM_CODE else []
                elif entry.name.endswith(".md"):
                    status = entry.stat()
                    url = manual_url(os.path.relpath(entry.path, folder))
                    found[url] = (entry.path, status.st_size, status.st_mtime_ns)
    return found
