"""What a backend declares, and what it is given to work with."""

from collections.abc import Callable
from typing import Protocol

import msgspec

from hermes.protocols import DocumentIndex, DocumentReader, PageFetcher, WebBackend, Wire


class Services(Protocol):
    """What a backend may use: each is made when first asked for."""

    def index(self) -> DocumentIndex: ...

    def wire(self) -> Wire:
        """The way to any server that the user has named, with deadlines, caps and retries."""
        ...

    def fetcher(self) -> PageFetcher:
        """The way to pages that anyone has named: only public addresses, unless the user opened others."""
        ...

    def reader(self) -> DocumentReader:
        """What makes a fetched page readable."""
        ...

    def setting(self, name: str) -> str | None:
        """An environment variable, stripped; None when unset or blank."""
        ...


class Backend(msgspec.Struct, frozen=True):
    """One web backend. `available` looks at settings only and never touches the network."""

    name: str
    title: str
    connect: Callable[[Services], WebBackend]
    available: Callable[[Services], bool]
    searches: bool = True
    extracts: bool = True
    rank: int = 50
    """Who serves when nothing is chosen: the available backend with the lowest number."""
