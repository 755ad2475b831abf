"""A file replaced whole or not at all."""

import os
import stat
from contextlib import suppress


def replace(path: str, data: bytes, *, private: bool = False) -> None:
    """Put new content in a file's place; afterwards it holds the old or the new, never a part.

    Its mode and owner stay; a new file is as others that the user makes, or `private`. Folders that
    are missing are made. Raises `OSError`.
    """
    folder, name = os.path.split(path)
    os.makedirs(folder, mode=0o700 if private else 0o777, exist_ok=True)
    temporary = os.path.join(folder, f".{name[:60]}.{os.urandom(4).hex()}.tmp")
    try:
        _write_new(temporary, data, _status(path), 0o600 if private else 0o666)
        os.replace(temporary, path)
    finally:
        with suppress(OSError):
            os.unlink(temporary)
    _sync(folder)


def _status(path: str) -> os.stat_result | None:
    try:
        return os.stat(path)
    except FileNotFoundError:
        return None


def _write_new(path: str, data: bytes, old: os.stat_result | None, mode: int) -> None:
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode if old is None else 0o600)
    with open(handle, "wb") as file:
        if old is not None:
            with suppress(PermissionError):
                os.fchown(handle, old.st_uid, old.st_gid)
            os.fchmod(handle, stat.S_IMODE(old.st_mode))
        file.write(data)
        file.flush()
        os.fsync(handle)


def _sync(folder: str) -> None:
    # The content is safe and in place; some network file systems cannot sync a folder.
    with suppress(OSError):
        handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
