"""`hermes serve` in this very process, on a real socket: stopped, and started again at its address."""

import asyncio
import json
from pathlib import Path
from typing import Any, Self

import aiohttp

from hermes.config import load
from hermes.server import app, running, tokens
from hermes.server.services import Services

TOKEN = "a-token-of-the-tests-0123456789"


class Served:
    """The server over a home, with what environment variables say."""

    def __init__(self, home: Path, **variables: str) -> None:
        self.config = load({"HERMES_HOME": str(home), "HERMES_MODEL_LOCAL_SERVERS": "false", **variables})
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
        self.services = Services(self.config, tokens.Tokens([TOKEN]))
        self._listening = running.bind("127.0.0.1", self.port)
        self.port = self._listening.getsockname()[1]
        self._server = running.server(app.assemble(self.services), drain=0)
        self._serving = asyncio.ensure_future(self._server.serve(sockets=[self._listening]))
        while not self._server.started:
            await asyncio.sleep(0.01)

    async def stop(self) -> None:
        """Stop at once: connections break off, and then what runs is stopped."""
        for listening in self._server.servers:
            listening.close()
        for connection in list(self._server.server_state.connections):
            connection.transport.abort()
        await self.services.runs.close()
        self._server.stop()
        await self._serving

    async def ask(self, method: str, path: str, body: Any = None, **headers: str) -> tuple[int, Any]:
        """A request with the token; gives the status and the JSON of the answer."""
        given = {"authorization": f"Bearer {TOKEN}", **headers}
        async with (
            aiohttp.ClientSession() as client,
            client.request(method, self.url + path, json=body, headers=given) as reply,
        ):
            return reply.status, json.loads(await reply.read())
