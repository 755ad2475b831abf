"""The sites that nobody is asked to read: those of the settings, and those of files that many may share."""

import os
from collections.abc import Iterator, Mapping, Sequence

Stamp = tuple[int, int, int]


class Blocklist:
    """Rules with the place that lists each, anew at every turn: a file that has changed is read again.

    `files` are paths by the names that the settings call them.
    """

    def __init__(self, domains: Sequence[str] = (), files: Mapping[str, str] | None = None) -> None:
        self._own = [(rule, "config") for rule in domains]
        self._files = files or {}
        self._read: dict[str, tuple[Stamp | None, list[tuple[str, str]]]] = {}

    def __iter__(self) -> Iterator[tuple[str, str]]:
        yield from self._own
        for name, path in self._files.items():
            yield from self._rules(name, path)

    def _rules(self, name: str, path: str) -> list[tuple[str, str]]:
        stamp = _stamp(path)
        if name not in self._read or self._read[name][0] != stamp:
            self._read[name] = stamp, [(rule, name) for rule in _lines(path)]
        return self._read[name][1]


class Hosts:
    """The rules of a blocklist alone."""

    def __init__(self, blocklist: Blocklist) -> None:
        self._blocklist = blocklist

    def __iter__(self) -> Iterator[str]:
        return (rule for rule, _place in self._blocklist)


def _stamp(path: str) -> Stamp | None:
    """What tells a file from what it was before; None when it is not there."""
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size, found.st_ino


def _lines(path: str) -> list[str]:
    """The rules of a file, one on each line; a file that is not there has none."""
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            lines = [line.partition("#")[0].strip() for line in file]
    except OSError:
        return []
    return [line for line in lines if line]
