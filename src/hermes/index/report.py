"""What `add` asks for and gives back."""

from collections.abc import Callable

import msgspec

from hermes.protocols import Page

Read = Callable[[str], Page]
Progress = Callable[[int, int, str], None]
"""Called with how many files are done, how many there are, and the one that comes next."""


class AddReport(msgspec.Struct, frozen=True):
    """What became of the files; `failed` holds a path and a reason for each that was not read."""

    added: int = 0
    updated: int = 0
    unchanged: int = 0
    removed: int = 0
    failed: tuple[tuple[str, str], ...] = ()
