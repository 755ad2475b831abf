"""Paths as `file://` addresses and back, byte for byte, whatever the file system holds."""

import os
import re

MANUAL = "hermes://docs/"

_FILE = "file://"
_PLAIN = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~/")
_ESCAPED = re.compile(rb"%([0-9A-Fa-f]{2})")


def file_url(path: str) -> str:
    """The percent-encoded address of a path, made absolute."""
    return _FILE + quoted(os.path.abspath(path))


def manual_url(relative: str) -> str:
    return MANUAL + quoted(relative.replace(os.sep, "/"))


def path_of(url: str) -> str | None:
    """The path of a `file://` address; None for any other."""
    if not url.startswith(_FILE):
        return None
    raw = url[len(_FILE) :].encode("utf-8", "surrogateescape")
    return os.fsdecode(_ESCAPED.sub(lambda found: bytes.fromhex(found[1].decode("ascii")), raw))


def quoted(path: str) -> str:
    """A path percent-encoded, its slashes kept."""
    return "".join(chr(byte) if byte in _PLAIN else f"%{byte:02X}" for byte in os.fsencode(path))
