"""What the pool and its processes say to each other: a length, then a value, then the bytes of a document."""

import msgspec

from hermes.protocols import Page

LENGTH = 4
"""Bytes that tell how long a value is."""


class Job(msgspec.Struct, frozen=True):
    """What is to be read; its body follows in `size` bytes."""

    url: str
    content_type: str
    size: int


class Outcome(msgspec.Struct, frozen=True):
    """A page, or why there is none; `spent` says that this process should read nothing more."""

    page: Page | None = None
    error: str = ""
    spent: bool = False
