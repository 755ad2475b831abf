"""The files under some paths that may be documents."""

import os
import stat
from collections.abc import Iterable, Iterator

import msgspec

MAX_FILE = 50_000_000

_NOT_ENTERED = frozenset(("node_modules", "__pycache__"))
_BINARY = """
.png .jpg .jpeg .gif .webp .ico .bmp .tif .tiff .heic .mp3 .mp4 .m4a .wav .flac .ogg .avi .mov .mkv .webm
.zip .gz .tgz .bz2 .xz .7z .rar .tar .zst .iso .dmg .exe .dll .so .dylib .o .a .class .jar .pyc .whl .wasm
.ttf .otf .woff .woff2 .db .db-wal .db-shm .sqlite .bin
"""
_NEVER_TEXT = frozenset(_BINARY.split())


class Found(msgspec.Struct, frozen=True):
    """A file to be read, or the reason why it will not be."""

    path: str
    size: int = 0
    mtime: int = 0
    refused: str = ""


def files(paths: Iterable[str]) -> Iterator[Found]:
    """Every file at or under the paths, once; a folder reached again through a link is not entered."""
    seen: set[tuple[int, int]] = set()
    given: set[str] = set()
    for path in paths:
        for found in _at(os.path.abspath(path), seen):
            if found.path not in given:
                given.add(found.path)
                yield found


def _at(path: str, seen: set[tuple[int, int]]) -> Iterator[Found]:
    try:
        status = os.stat(path)
    except (OSError, ValueError) as error:
        yield Found(path, refused=_reason(error))
        return
    if stat.S_ISDIR(status.st_mode):
        yield from _under(path, seen)
    else:
        yield _judged(path, status)


def _under(top: str, seen: set[tuple[int, int]]) -> Iterator[Found]:
    waiting = [top]
    while waiting:
        folder = waiting.pop()
        try:
            status = os.stat(folder)
            if (status.st_dev, status.st_ino) in seen:
                continue
            seen.add((status.st_dev, status.st_ino))
            with os.scandir(folder) as listing:
                entries = sorted(listing, key=lambda entry: entry.name)
        except OSError as error:
            yield Found(folder, refused=_reason(error))
            continue
        visible = [entry for entry in entries if not entry.name.startswith(".")]
        waiting += [
            entry.path for entry in reversed(visible) if entry.is_dir() and entry.name not in _NOT_ENTERED
        ]
        yield from (_entry(entry) for entry in visible if _may_be_text(entry))


def _may_be_text(entry: os.DirEntry[str]) -> bool:
    return os.path.splitext(entry.name)[1].lower() not in _NEVER_TEXT and entry.is_file()


def _entry(entry: os.DirEntry[str]) -> Found:
    try:
        return _judged(entry.path, entry.stat())
    except OSError as error:
        return Found(entry.path, refused=_reason(error))


def _judged(path: str, status: os.stat_result) -> Found:
    refused = ""
    if not stat.S_ISREG(status.st_mode):
        refused = "is not a plain file"
    elif status.st_size > MAX_FILE:
        refused = f"is larger than {MAX_FILE // 1_000_000} MB"
    return Found(path, status.st_size, status.st_mtime_ns, refused)


def _reason(error: OSError | ValueError) -> str:
    return f"cannot be read: {error.strerror}" if isinstance(error, OSError) else "has no valid name"
