"""What a person has agreed to: the tools of a server as they were shown, one file for each server."""

import os
from collections.abc import Callable
from contextlib import suppress

import msgspec

from hermes.errors import StoreUnavailable
from hermes.tools.files import writing
from hermes.tools.mcp.listing import ListedTool, Listing


class Pin(msgspec.Struct, frozen=True, kw_only=True):
    """The tools that were agreed to, of whom, and when."""

    who: str
    """The program or the address that was agreed to."""
    digest: str
    tools: tuple[ListedTool, ...]
    left_out: tuple[str, ...] = ()
    at: float = 0.0


class Pins:
    """The consents of one home."""

    def __init__(self, folder: str, clock: Callable[[], float]) -> None:
        self._folder = folder
        self._clock = clock

    def get(self, server: str) -> Pin | None:
        """What was agreed to; a file that cannot be read is no consent."""
        try:
            with open(self._path(server), "rb") as file:
                return msgspec.json.decode(file.read(), type=Pin)
        except (OSError, msgspec.DecodeError):
            return None

    def made(self, who: str, listing: Listing) -> Pin:
        """A consent of now, not kept yet."""
        return Pin(
            who=who,
            digest=listing.digest,
            tools=listing.tools,
            left_out=listing.left_out,
            at=self._clock(),
        )

    def put(self, server: str, pin: Pin) -> None:
        """Keep a consent; raises `StoreUnavailable`."""
        path = self._path(server)
        try:
            writing.replace(path, msgspec.json.encode(pin), private=True)
        except OSError as error:
            raise StoreUnavailable(
                f"`{path}` cannot be written: {error.strerror or error}",
                hint="free some space or make it writable, or point `HERMES_HOME` elsewhere",
            ) from error

    def forget(self, server: str) -> bool:
        """Take a consent back; False when there was none."""
        is_there = os.path.lexists(self._path(server))
        with suppress(FileNotFoundError):
            os.unlink(self._path(server))
        return is_there

    def _path(self, server: str) -> str:
        return os.path.join(self._folder, f"{server}.json")
