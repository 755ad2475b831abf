"""The wire of a model that runs in this process: chat-completions requests in, replies out.

Usage counts words as tokens: there is no tokeniser here, and words are what a reader would count.
"""

import hashlib
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Any

import msgspec

from hermes.errors import HttpStatus
from hermes.protocols import HttpReply, HttpRequest, MayRetry
from hermes.providers.scout.answer import Reply
from hermes.providers.scout.conversation import Conversation, read_request
from hermes.providers.scout.steps import Call, next_step

_JSON = {"content-type": "application/json"}
_EVENTS = {"content-type": "text/event-stream"}


class Scout:
    """Answers chat-completions requests by search, reading and quotation. Keeps no state."""

    def open(
        self, request: HttpRequest, may_retry: MayRetry | None = None
    ) -> AbstractAsyncContextManager[HttpReply]:
        return _opened(request)

    async def close(self) -> None:
        """Nothing is held open."""


@asynccontextmanager
async def _opened(request: HttpRequest) -> AsyncIterator[HttpReply]:
    body = _decoded(request.body)
    asked = read_request(body)
    said = _Said(body, asked, next_step(asked))
    if body.get("stream") is True:
        yield _InProcessReply(_EVENTS, [*map(msgspec.json.encode, said.chunks()), b"[DONE]"])
    else:
        yield _InProcessReply(_JSON, [msgspec.json.encode(said.completion())])


def _decoded(body: bytes) -> dict[str, Any]:
    try:
        value = msgspec.json.decode(body)
    except (msgspec.DecodeError, RecursionError) as error:
        raise _rejected(f"the request body is not JSON: {error}") from error
    if not isinstance(value, dict):
        raise _rejected("the request body is not a JSON object")
    return value


def _rejected(message: str) -> HttpStatus:
    problem = {"error": {"message": message, "type": "invalid_request_error", "code": None, "param": None}}
    return HttpStatus(400, _JSON, msgspec.json.encode(problem))


class _InProcessReply:
    """A reply that is already complete; what it streams comes in one batch per event."""

    def __init__(self, headers: Mapping[str, str], payloads: Sequence[bytes]) -> None:
        self.status = 200
        self.headers = headers
        self._payloads = payloads

    async def read(self) -> bytes:
        if len(self._payloads) == 1:
            return self._payloads[0]
        return b"".join(b"data: " + payload + b"\n\n" for payload in self._payloads)

    async def events(self) -> AsyncIterator[Sequence[bytes]]:
        for payload in self._payloads:
            yield (payload,)


class _Said:
    """One step of scout in the words of the wire, whole or in chunks."""

    def __init__(self, body: Mapping[str, Any], asked: Conversation, step: Reply | list[Call]) -> None:
        self._calls = (
            []
            if isinstance(step, Reply)
            else [_on_wire(call, asked.calls + at) for at, call in enumerate(step)]
        )
        self._reply = step if isinstance(step, Reply) else Reply(())
        self._finish = "tool_calls" if self._calls else "stop"
        self._usage = _usage(asked.words, self._reply.text, self._calls)
        model = body.get("model")
        digest = hashlib.sha256(msgspec.json.encode([body.get("messages"), self._reply.text, self._calls]))
        self._head = {
            "id": f"chatcmpl-{digest.hexdigest()[:24]}",
            "created": 0,
            "model": model if isinstance(model, str) and model else "scout-1",
        }

    def completion(self) -> dict[str, Any]:
        message: dict[str, Any] = {"role": "assistant", "content": self._reply.text or None}
        if self._calls:
            message["tool_calls"] = self._calls
        if self._reply.marks:
            message["annotations"] = _annotations(self._reply)
        choice = {"index": 0, "message": message, "finish_reason": self._finish}
        return {**self._head, "object": "chat.completion", "choices": [choice], "usage": self._usage}

    def chunks(self) -> list[dict[str, Any]]:
        deltas: list[dict[str, Any]] = [{"content": piece} for piece in self._reply.pieces]
        if self._reply.marks:
            deltas[-1]["annotations"] = _annotations(self._reply)
        deltas += [{"tool_calls": [{"index": at, **call}]} for at, call in enumerate(self._calls)]
        deltas[0] = {"role": "assistant", **deltas[0]}
        ended = {"index": 0, "delta": {}, "finish_reason": self._finish}
        choices = [{"index": 0, "delta": delta, "finish_reason": None} for delta in deltas]
        head = {**self._head, "object": "chat.completion.chunk"}
        return [
            *({**head, "choices": [choice]} for choice in (*choices, ended)),
            {**head, "choices": [], "usage": self._usage},
        ]


def _on_wire(call: Call, number: int) -> dict[str, Any]:
    arguments = msgspec.json.encode(call.arguments).decode()
    return {
        "id": f"call_scout_{number}",
        "type": "function",
        "function": {"name": call.name, "arguments": arguments},
    }


def _annotations(reply: Reply) -> list[dict[str, Any]]:
    return [
        {
            "type": "url_citation",
            "url_citation": {
                "url": mark.source.url,
                "title": mark.source.title,
                "start_index": mark.start,
                "end_index": mark.end,
            },
        }
        for mark in reply.marks
    ]


def _usage(asked: int, text: str, calls: Sequence[Mapping[str, Any]]) -> dict[str, int]:
    said = len(text.split()) + sum(len(call["function"]["arguments"].split()) for call in calls)
    return {"prompt_tokens": asked, "completion_tokens": said, "total_tokens": asked + said}
