"""What was typed before, in a file that only its owner reads."""

import os
from collections.abc import Callable
from contextlib import suppress

import msgspec

KEPT = 2_000
"""Questions that are remembered."""
_LARGEST = 2_000_000
"""Bytes after which the file is made anew from the questions that are remembered."""

_entries = msgspec.json.Decoder(str)


class Past:
    """The questions of earlier conversations, one JSON string on a line each, without any known secret."""

    def __init__(self, path: str, redact: Callable[[str], str]) -> None:
        self._path = path
        self._redact = redact

    def newest_first(self) -> list[str]:
        """What was typed; what cannot be read is left out."""
        try:
            with open(self._path, "rb") as file:
                lines = file.read().splitlines()[-KEPT:]
        except OSError:
            return []
        found: list[str] = []
        for line in reversed(lines):
            with suppress(msgspec.DecodeError):
                found.append(_entries.decode(line))
        return found

    def add(self, text: str) -> None:
        """Remember what was typed; raises `OSError` where that cannot be written."""
        os.makedirs(os.path.dirname(self._path), mode=0o700, exist_ok=True)
        line = msgspec.json.encode(self._redact(text)) + b"\n"
        with open(self._path, "ab", opener=_private) as file:
            os.fchmod(file.fileno(), 0o600)
            file.write(line)
            is_large = file.tell() > _LARGEST
        if is_large:
            self._shorten()

    def _shorten(self) -> None:
        kept = [msgspec.json.encode(text) for text in reversed(self.newest_first()[: KEPT // 2])]
        aside = f"{self._path}.{os.getpid()}"
        with open(aside, "wb", opener=_private) as file:
            file.write(b"\n".join(kept) + b"\n")
        os.replace(aside, self._path)


def _private(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)
