"""What a server offers, as a value."""

from collections.abc import Mapping
from typing import Any

import msgspec

from hermes.protocols import Effect


class ListedTool(msgspec.Struct, frozen=True):
    """A tool as a model may be told of it; `name` is the server's own."""

    name: str
    description: str
    parameters: Mapping[str, Any]
    effect: Effect = "changes"


class Listing(msgspec.Struct, frozen=True):
    """All that a server offers. `digest` changes with every letter of it, also with those nobody sees."""

    digest: str
    tools: tuple[ListedTool, ...]
    left_out: tuple[str, ...] = ()
    """What is not offered, and why."""
