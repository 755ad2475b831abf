"""A model on loopback that answers each question by a script of its own, and waits where the test says so.

    scripts = {"What is it?": [calls(("web_search", {"query": "it"})), says("This. [1]")]}
    async with StagedModel(scripts) as model:
        ...                    # model.base_url

The script of a question holds one reply for each request that is made for it. `Held(before, after)` sends
the beginning of an answer and the rest when the test calls `model.go()`.
"""

import asyncio
import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, Self

from simulators.chat_completions import fails, refusal
from simulators.scripted import Exchange, ScriptedServer


class Held(NamedTuple):
    """An answer in two parts; the second one waits."""

    before: str
    after: str


Reply = Callable[[dict[str, Any]], bytes] | Held


class StagedModel:
    def __init__(self, scripts: Mapping[str, Sequence[Reply]]) -> None:
        self.scripts = dict(scripts)
        self.bodies: list[dict[str, Any]] = []
        self.left = asyncio.Event()
        """Set when somebody leaves in the middle of a held answer."""
        self._go = asyncio.Event()
        self._server = ScriptedServer(self._serve)

    @property
    def base_url(self) -> str:
        return f"{self._server.url}/v1"

    async def __aenter__(self) -> Self:
        await self._server.__aenter__()
        return self

    async def __aexit__(self, *error: object) -> None:
        await self._server.__aexit__(*error)

    def go(self) -> None:
        """Let the answer that is held go on."""
        self._go.set()

    async def _serve(self, exchange: Exchange) -> None:
        assert exchange.request is not None
        body = json.loads(exchange.request.body)
        self.bodies.append(body)
        problem = refusal(exchange.request.path, body)
        reply = fails(400, problem) if problem else self._reply(body)
        if isinstance(reply, Held):
            await self._hold(exchange, reply)
        else:
            await exchange.send(reply(body))
        exchange.close()

    def _reply(self, body: dict[str, Any]) -> Reply:
        messages = body["messages"]
        last = max(number for number, message in enumerate(messages) if message["role"] == "user")
        asked = messages[last]["content"]  # begins with the one before, where that has no answer
        script = next((script for question, script in self.scripts.items() if asked.endswith(question)), None)
        if script is None:
            return fails(500, "no script for this question")
        step = sum(message["role"] == "assistant" for message in messages[last:])
        return script[min(step, len(script) - 1)]

    async def _hold(self, exchange: Exchange, held: Held) -> None:
        await exchange.send(b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n")
        await exchange.send(_piece(held.before))
        waiting = asyncio.ensure_future(self._go.wait())
        leaving = asyncio.ensure_future(exchange.client_left())
        try:
            await asyncio.wait([waiting, leaving], return_when=asyncio.FIRST_COMPLETED)
            if leaving.done():
                self.left.set()
                return
        finally:
            waiting.cancel()
            leaving.cancel()
        self._go.clear()
        usage = {"prompt_tokens": 120, "completion_tokens": 30, "total_tokens": 150}
        end = {"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}
        await exchange.send(_piece(held.after), _line(end), _line({"choices": [], "usage": usage}))
        await exchange.send(b"data: [DONE]\n\n")


def _piece(text: str) -> bytes:
    return _line({"choices": [{"index": 0, "delta": {"content": text}, "finish_reason": None}]})


def _line(value: dict[str, Any]) -> bytes:
    return b"data: " + json.dumps(value).encode() + b"\n\n"
