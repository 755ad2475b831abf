"""What the files of a plugin are, as one hash: what a person agreed to is what runs."""

import os
from collections.abc import Iterator
from hashlib import sha256

from hermes.errors import PluginError

MOST_FILES = 5_000
MOST_BYTES = 64 << 20
_NOT_COUNTED = frozenset({"__pycache__"})


def content_hash(folder: str) -> str:
    """The files of a folder as a hash: their names and what they hold. Hidden files and caches do not count.

    Raises `PluginError` for a folder that is too large, and for a link that leads out of it.
    """
    digest = sha256()
    room = MOST_BYTES
    for count, path in enumerate(sorted(_files(folder)), 1):
        name = os.path.relpath(path, folder)
        data = _read(path, name, room)
        room -= len(data)
        if count > MOST_FILES or room < 0:
            raise PluginError(
                f"`{folder}` holds too much to be a plugin", hint="keep data and environments elsewhere"
            )
        digest.update(f"{name}\0{len(data)}\0".encode(errors="surrogateescape"))
        digest.update(data)
    return digest.hexdigest()


def _files(folder: str) -> Iterator[str]:
    root = os.path.realpath(folder)
    for place, folders, names in os.walk(folder):
        folders[:] = [name for name in folders if not name.startswith(".") and name not in _NOT_COUNTED]
        for name in (*folders, *names):
            path = os.path.join(place, name)
            if os.path.islink(path) and os.path.commonpath([os.path.realpath(path), root]) != root:
                raise PluginError(
                    f"`{os.path.relpath(path, folder)}` is a link that leads out of the plugin's folder",
                    hint="put the file itself there",
                )
        yield from (os.path.join(place, name) for name in names if not name.startswith("."))


def _read(path: str, name: str, room: int) -> bytes:
    try:
        if not os.path.isfile(path):
            raise PluginError(f"`{name}` is not a regular file", hint="move it out of the plugin's folder")
        with open(path, "rb") as file:
            return file.read(room + 1)
    except OSError as error:
        raise PluginError(f"cannot read `{name}`: {(error.strerror or 'unknown reason').lower()}") from error
