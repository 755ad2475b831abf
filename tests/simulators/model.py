"""What every simulated model server does: takes requests, refuses or answers by its script, remembers."""

import asyncio
from collections.abc import Callable
from typing import Any, Self

import msgspec

from simulators.scripted import Exchange, Received, ScriptedServer


class Unfinished(bytes):
    """The beginning of a reply. Nothing follows it; the server waits for the client to leave."""


def stalls(reply: Callable[..., bytes], share: float) -> Callable[..., bytes]:
    """Send this share of a reply and no more."""

    def begin(*asked: Any) -> bytes:
        whole = reply(*asked)
        return Unfinished(whole[: int(len(whole) * share)])

    return begin


class ModelSimulator:
    """Each reply of the script answers one request, the last one repeats.

    A protocol says in `problem_with` why its vendor would refuse a request, and in `refused` with what
    words; what was refused is listed in `refusals`.
    """

    prefix = ""
    checks_every = 1
    """One of so many requests is checked: in a long talk each repeats all of those before it."""

    def __init__(self, *script: Callable[..., bytes]) -> None:
        self.bodies: list[dict[str, Any]] = []
        self.headers: list[dict[str, str]] = []
        self.refusals: list[str] = []
        self.stalled = asyncio.Event()
        self._script = script
        self._server = ScriptedServer(self._serve)

    @property
    def base_url(self) -> str:
        return f"{self._server.url}{self.prefix}"

    async def __aenter__(self) -> Self:
        await self._server.__aenter__()
        return self

    async def __aexit__(self, *error: object) -> None:
        await self._server.__aexit__(*error)

    def problem_with(self, request: Received, body: dict[str, Any]) -> str | None:
        raise NotImplementedError

    def refused(self, problem: str) -> bytes:
        raise NotImplementedError

    def answered(self, reply: Callable[..., bytes], request: Received, body: dict[str, Any]) -> bytes:
        return reply(body)

    async def _serve(self, exchange: Exchange) -> None:
        assert exchange.request is not None
        reply = self.answer(exchange.request)
        await exchange.send(reply)
        if isinstance(reply, Unfinished):
            self.stalled.set()
            await exchange.client_left()
        exchange.close()

    def answer(self, request: Received) -> bytes:
        self.headers.append(request.headers)
        body = msgspec.json.decode(request.body)
        self.bodies.append(body)
        is_checked = len(self.bodies) % self.checks_every == 0
        problem = self.problem_with(request, body) if is_checked else None
        if problem:
            self.refusals.append(problem)
            return self.refused(problem)
        reply = self._script[min(len(self.bodies), len(self._script)) - 1]
        return self.answered(reply, request, body)
