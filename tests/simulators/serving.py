"""The server on loopback, in the test's own loop, and the official client for it.

async with serving(settings(tmp_path)) as server, client(server) as ask:
    ...                         # server.url, server.port, server.headers, server.services
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, NamedTuple

import openai

from hermes.config import Config, load
from hermes.server.app import assemble
from hermes.server.running import Server, bind, server
from hermes.server.services import Services
from hermes.server.tokens import Tokens

TOKEN = "a-token-for-tests-0123456789"


class Serving(NamedTuple):
    url: str
    port: int
    services: Services
    uvicorn: Server
    ended: "asyncio.Future[None]"
    token: str = TOKEN

    @property
    def headers(self) -> dict[str, str]:
        return {"authorization": f"Bearer {self.token}"}


def settings(home: object, **variables: str) -> Config:
    return load({"HERMES_HOME": str(home), "HERMES_MODEL_LOCAL_SERVERS": "false", **variables})


def client(server: Serving) -> openai.AsyncOpenAI:
    return openai.AsyncOpenAI(base_url=f"{server.url}/v1", api_key=server.token, max_retries=0)


@asynccontextmanager
async def serving(config: Config, port: int = 0, **given: Any) -> AsyncIterator[Serving]:
    services = Services(config, Tokens([TOKEN]), **given)
    listening = bind("127.0.0.1", port)
    port = listening.getsockname()[1]
    running = server(assemble(services), services.runs, drain=config.server.drain_seconds)
    ended = asyncio.ensure_future(running.serve(sockets=[listening]))
    try:
        async with asyncio.timeout(10):
            while not running.started:
                await asyncio.sleep(0.005)
        yield Serving(f"http://127.0.0.1:{port}", port, services, running, ended)
    finally:
        running.should_exit = True
        await services.runs.drain(0)
        await ended
