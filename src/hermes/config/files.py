"""Small files of ours: read within a cap, replaced whole or not at all."""

import os
import stat
from contextlib import suppress

import msgspec

from hermes.errors import ConfigError, StoreUnavailable

LARGEST = 1 << 20
OTHERS = 0o077
PRIVATE_FILE = 0o600
PRIVATE_FOLDER = 0o700


class Found(msgspec.Struct, frozen=True):
    """A file's text, without a byte order mark, and its permission bits."""

    text: str
    mode: int


def read(path: str) -> Found | None:
    """A file's content, or None when there is no such file; anything else in its place is an error."""
    try:
        with open(path, "rb", opener=_open_without_waiting) as file:
            status = os.fstat(file.fileno())
            if not stat.S_ISREG(status.st_mode):
                raise ConfigError(f"`{path}` is not a regular file", hint=f"move `{path}` away")
            data = file.read(LARGEST + 1)
    except FileNotFoundError:
        return None
    except OSError as error:
        hint = "check what is there and who owns it"
        raise ConfigError(f"cannot read `{path}`: {_reason(error)}", hint=hint) from error
    if len(data) > LARGEST:
        raise ConfigError(f"`{path}` is larger than {LARGEST} bytes", hint=f"move `{path}` away")
    return Found(_decode(path, data).removeprefix("\ufeff"), stat.S_IMODE(status.st_mode))


def _reason(error: OSError) -> str:
    return (error.strerror or "unknown reason").lower()


def _open_without_waiting(path: str, flags: int) -> int:
    # A pipe in the file's place would block an ordinary open until somebody writes to it.
    return os.open(path, flags | os.O_NONBLOCK)


def _decode(path: str, data: bytes) -> str:
    hint = "save it as UTF-8"
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise ConfigError(f"{path}:1: the file is UTF-16, not UTF-8", hint=hint)
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise ConfigError(f"{path}:{line}: the file is not UTF-8", hint=hint) from None
    zero = text.find("\0")
    if zero >= 0:
        line = text.count("\n", 0, zero) + 1
        raise ConfigError(f"{path}:{line}: the file holds a zero byte; it is not UTF-8 text", hint=hint)
    return text


def replace(path: str, content: str, mode: int) -> None:
    """Put new content in a file's place: afterwards it holds the old or the new, never a part.

    A symbolic link stays one, its target is replaced. Raises `StoreUnavailable`.
    """
    target = os.path.realpath(path)
    folder, name = os.path.split(target)
    temporary = os.path.join(folder, f".{name}.{os.urandom(4).hex()}.tmp")
    try:
        _write_new(temporary, content.encode(), mode, like=target)
        os.replace(temporary, target)
    except OSError as error:
        raise unavailable(path, error) from error
    finally:
        with suppress(OSError):
            os.unlink(temporary)
    _sync_folder(folder)


def unavailable(path: str, error: OSError) -> StoreUnavailable:
    """What a person is told when a file cannot be written."""
    hint = f"free some space or make `{os.path.dirname(path)}` writable, or point `HERMES_HOME` elsewhere"
    return StoreUnavailable(f"cannot write `{path}`: {_reason(error)}", hint=hint)


def _write_new(path: str, data: bytes, mode: int, *, like: str) -> None:
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, PRIVATE_FILE)
    with open(handle, "wb") as file:
        with suppress(FileNotFoundError, PermissionError):
            old = os.stat(like)
            os.fchown(handle, old.st_uid, old.st_gid)
        os.fchmod(handle, mode)
        file.write(data)
        file.flush()
        os.fsync(handle)


def _sync_folder(folder: str) -> None:
    # The new content is safe and in place; some network file systems cannot sync a folder.
    with suppress(OSError):
        handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
