"""One file for each session, with one line of JSON for each call."""

import os
import re
import threading
from collections.abc import Mapping
from typing import Any

import msgspec

_encode = msgspec.json.Encoder(order="sorted", enc_hook=repr).encode


class Journal:
    """Files that only their owner can read. A full one is moved aside; of all, the newest `keep` stay."""

    def __init__(self, folder: str, *, most_bytes: int, keep: int) -> None:
        self._folder = folder
        self._most = most_bytes
        self._keep = keep
        self._lock = threading.Lock()

    def write(self, session: str, row: Mapping[str, Any]) -> None:
        """Add a line; it is written at once, so that two processes do not mix theirs."""
        path = os.path.join(self._folder, f"{re.sub(r'[^A-Za-z0-9._-]', '_', session) or 'none'}.jsonl")
        line = _encode(row) + b"\n"
        with self._lock:
            if os.path.exists(path) and os.path.getsize(path) + len(line) > self._most:
                os.replace(path, f"{path[:-6]}.{self._number(path)}.jsonl")
            if not os.path.exists(path):
                self._make_room()
            file = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW, 0o600)
            try:
                os.write(file, line)
            finally:
                os.close(file)

    def _number(self, path: str) -> int:
        number = 1
        while os.path.exists(f"{path[:-6]}.{number}.jsonl"):
            number += 1
        return number

    def _make_room(self) -> None:
        names = [name for name in os.listdir(self._folder) if name.endswith(".jsonl")]
        paths = sorted((os.path.join(self._folder, name) for name in names), key=os.path.getmtime)
        for path in paths[: max(0, len(paths) + 1 - self._keep)]:
            os.unlink(path)
