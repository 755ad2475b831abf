"""The server of the page, which can go away in the middle and come back at its address.

async with Served(home, CUSTOM_BASE_URL=model.base_url) as server:
    await server.ask("GET", "/api/status")
    await server.stop()
    await server.start()
"""

import json
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Any, Self

import aiohttp

from simulators.serving import TOKEN, Serving, serving, settings


class Served:
    """The server over a home, with what environment variables say."""

    def __init__(self, home: Path, **variables: str) -> None:
        self._config = settings(home, **variables)
        self._running: AbstractAsyncContextManager[Serving] | None = None
        self.port = 0

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def door(self) -> str:
        """The address that signs a browser in."""
        return f"{self.url}/#token={TOKEN}"

    async def __aenter__(self) -> Self:
        await self.start()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.stop()

    async def start(self) -> None:
        self._running = serving(self._config, self.port)
        self._server = await self._running.__aenter__()
        self.port, self.services = self._server.port, self._server.services

    async def stop(self) -> None:
        """Go away at once: connections break off, and then what runs is stopped."""
        if self._running is not None:
            running, self._running = self._running, None
            for listening in self._server.uvicorn.servers:
                listening.close()
            for connection in list(self._server.uvicorn.server_state.connections):
                connection.transport.abort()
            await running.__aexit__(None, None, None)

    async def ask(self, method: str, path: str, body: Any = None) -> tuple[int, Any]:
        """A request with the token; gives the status and the JSON of the answer."""
        async with (
            aiohttp.ClientSession(headers=self._server.headers) as client,
            client.request(method, self.url + path, json=body) as reply,
        ):
            return reply.status, json.loads(await reply.read())
