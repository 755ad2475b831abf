"""Connections that cannot be held for nothing: who says nothing, or takes nothing, is let go."""

import asyncio
from typing import ClassVar

from uvicorn.protocols.http.h11_impl import H11Protocol

try:
    import resource
except ImportError:  # Windows has no such limit
    resource = None  # type: ignore[assignment]

HEAD_SECONDS = 10.0
"""How long a caller may take to say what it wants."""
STALL_SECONDS = 60.0
"""How long a reader may take nothing of what is sent."""
MOST = min(2_000, resource.getrlimit(resource.RLIMIT_NOFILE)[0] // 2) if resource else 2_000
"""Connections at once: half of the files that may be open, because a run opens others.

One more, and the one that has been silent for longest is closed.
"""


class Connection(H11Protocol):
    """One connection; what it is asked and what it answers is uvicorn's business."""

    silent: "ClassVar[dict[Connection, None]]"
    """The connections of one server that may be waiting to be asked something, the longest first."""
    _asking: asyncio.TimerHandle | None = None
    _stalled: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        if len(self.connections) > MOST:
            self._make_room()
        self._expect_head()

    @property
    def is_silent(self) -> bool:
        """Whether nothing is being answered."""
        return self.cycle is None or self.cycle.response_complete

    def connection_lost(self, exc: Exception | None) -> None:
        self.silent.pop(self, None)
        for timer in (self._asking, self._stalled):
            if timer is not None:
                timer.cancel()
        super().connection_lost(exc)

    def on_response_complete(self) -> None:
        super().on_response_complete()
        self._expect_head()

    def pause_writing(self) -> None:
        super().pause_writing()
        self._stalled = self.loop.call_later(STALL_SECONDS, self.transport.abort)

    def resume_writing(self) -> None:
        if self._stalled is not None:
            self._stalled.cancel()
        super().resume_writing()

    def _make_room(self) -> None:
        """Close the connection that has been silent for longest; this one, where all others are busy."""
        while self.silent:
            longest = next(iter(self.silent))
            del self.silent[longest]
            if longest.is_silent:
                longest.transport.abort()
                return
        self.transport.abort()

    def _expect_head(self) -> None:
        self.silent.pop(self, None)
        self.silent[self] = None
        if self._asking is not None:
            self._asking.cancel()
        self._asking = self.loop.call_later(HEAD_SECONDS, self._let_go)

    def _let_go(self) -> None:
        if self.is_silent:
            self.transport.abort()


def for_one_server() -> type[Connection]:
    """The connections of a server, which make room for each other."""

    class Limited(Connection):
        silent: ClassVar[dict[Connection, None]] = {}

    return Limited
