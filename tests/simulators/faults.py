"""What a server of chat completions may do wrong, as handlers of a `ScriptedServer`."""

import asyncio
import json
from collections.abc import Callable, Sequence
from typing import Any

from simulators.scripted import Exchange, Handler, http_reply

Reply = Callable[[dict[str, Any]], bytes]
Do = Callable[[Exchange], Any]

HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n"
LONG_HEAD = HEAD.replace(b"\r\n\r\n", b"\r\ncontent-length: 99999\r\n\r\n")
"""The head of a stream that promises more than will come."""


def event(delta: dict[str, Any], finish: str | None = None, **more: Any) -> bytes:
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    return f"data: {json.dumps({'id': 'c', 'choices': [choice], **more})}\n\n".encode()


def text(words: str) -> bytes:
    return event({"content": words})


def call(name: str, arguments: str, *, id: str | None, index: int = 0) -> bytes:
    made = {"index": index, "type": "function", "function": {"name": name, "arguments": arguments}}
    return event({"tool_calls": [{**made, "id": id} if id is not None else made]})


STOP = event({}, "stop") + b"data: [DONE]\n\n"
TOOLS = event({}, "tool_calls") + b"data: [DONE]\n\n"


def stream(*events: bytes) -> Reply:
    """A whole stream of these events."""
    return lambda _body: HEAD + b"".join(events)


def page(body: bytes, kind: str = "text/html", status: int = 200) -> Reply:
    return lambda _body: http_reply(status, body, content_type=kind)


def in_turn(*replies: Reply) -> Callable[[], Handler]:
    """Each reply answers one request and ends its connection; the last one repeats."""

    def begin() -> Handler:
        left = list(replies)

        async def handler(exchange: Exchange) -> None:
            assert exchange.request is not None
            reply = left.pop(0) if len(left) > 1 else left[0]
            await exchange.send(reply(json.loads(exchange.request.body)))
            exchange.close()

        return handler

    return begin


def first(fault: Handler, *then: Reply) -> Callable[[], Handler]:
    """The fault for the first request, and these replies for those after it."""

    def begin() -> Handler:
        faults, rest = [fault], in_turn(*then)()

        async def handler(exchange: Exchange) -> None:
            await (faults.pop() if faults else rest)(exchange)

        return handler

    return begin


def always(fault: Handler) -> Callable[[], Handler]:
    return lambda: fault


def cuts(*chunks: bytes) -> Handler:
    """Send these bytes and close."""

    async def fault(exchange: Exchange) -> None:
        await exchange.send(*chunks)
        exchange.close()

    return fault


def resets(*chunks: bytes) -> Handler:
    """Send these bytes, and end the connection with a reset once they are read."""

    async def fault(exchange: Exchange) -> None:
        await exchange.send(*chunks)
        await asyncio.sleep(0.1 if chunks else 0)
        exchange.reset()

    return fault


def stalls(*chunks: bytes) -> Handler:
    """Send these bytes, and nothing more."""

    async def fault(exchange: Exchange) -> None:
        await exchange.send(*chunks)
        await exchange.client_left()

    return fault


def drips(chunks: Sequence[bytes], pause: float) -> Handler:
    """Send the chunks one by one with a pause after each, and close."""

    async def fault(exchange: Exchange) -> None:
        for chunk in chunks:
            await exchange.send(chunk)
            await asyncio.sleep(pause)
        exchange.close()

    return fault
