"""The sessions of clients over HTTP, as the SDK keeps them. The gate has let them in already."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from mcp.server.streamable_http_manager import StreamableHTTPASGIApp, StreamableHTTPSessionManager
from starlette.types import ASGIApp

from hermes.server.mcp.ask import Asking
from hermes.server.mcp.protocol import server

MOST = 200
IDLE_SECONDS = 600.0


@asynccontextmanager
async def running(asking: Asking) -> AsyncIterator[ASGIApp]:
    """The application that speaks MCP, as long as this is open."""
    manager = StreamableHTTPSessionManager(
        server(asking), session_idle_timeout=IDLE_SECONDS, max_sessions=MOST
    )
    async with manager.run():
        yield StreamableHTTPASGIApp(manager)
