"""Many clients, at a path of the server. The SDK is loaded when the first one comes."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any
from weakref import WeakKeyDictionary

from starlette.types import Receive, Scope, Send

from hermes import discover
from hermes.errors import RequestFault
from hermes.server.faults import error_response
from hermes.server.mcp.ask import Asking
from hermes.server.services import Services

PACKAGE = "mcp"


class Late:
    """An application that begins with its first request. One task of its own holds it till the end."""

    def __init__(self, services: Services) -> None:
        self._services = services
        self._leave = asyncio.Event()
        self._begun: asyncio.Task[None] | None = None
        self._ready: asyncio.Future[Any] | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if (fault := _refusal(scope["method"])) is not None:
            await error_response(fault)(scope, receive, send)
            return
        app = await asyncio.shield(self._app())
        await app(scope, receive, send)

    def _app(self) -> asyncio.Future[Any]:
        if self._ready is None:
            self._ready = asyncio.get_running_loop().create_future()
            self._begun = asyncio.create_task(self._hold(self._ready))
        return self._ready

    async def _hold(self, ready: asyncio.Future[Any]) -> None:
        try:
            sdk = await asyncio.to_thread(discover.module, "hermes.server.mcp.sessions")
            async with sdk.running(Asking(self._services.runtime, self._services.begin)) as app:
                ready.set_result(app)
                await self._leave.wait()
        finally:
            ready.cancel()  # nobody waits for what did not begin

    async def close(self) -> None:
        self._leave.set()
        if self._begun is not None:
            await asyncio.wait([self._begun])


def _refusal(method: str) -> RequestFault | None:
    if not discover.is_installed(PACKAGE):
        return RequestFault(
            "MCP is not installed here",
            status=501,
            code="not_installed",
            hint='run `pip install "hermes[mcp]"`',
        )
    if method == "GET":
        # An old client would listen here for what is never said, and keep the server from its end.
        return RequestFault("nothing is said here unasked", status=405, code="method_not_allowed")
    return None


_made: "WeakKeyDictionary[Services, Late]" = WeakKeyDictionary()


def late(services: Services) -> Late:
    """The one application over these services."""
    return _made.setdefault(services, Late(services))


@asynccontextmanager
async def closing(services: Services) -> AsyncIterator[None]:
    """Ends the application with the server."""
    try:
        yield
    finally:
        await late(services).close()
