"""What a provider says in each wire format, as values and bytes that are made once."""

import itertools
import json
import re
import struct
import zlib
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

CALL_ID = "call_000000"

_CREATED = 1760000000
_CHAT_USAGE = {"prompt_tokens": 120, "completion_tokens": 40, "total_tokens": 160}
_USAGE = {"input_tokens": 120, "output_tokens": 40}
_CONVERSE_ENDING = {
    "usage": {"inputTokens": 120, "outputTokens": 40, "totalTokens": 160},
    "metrics": {"latencyMs": 812},
}
_CALL = {
    "index": 0,
    "id": CALL_ID,
    "type": "function",
    "function": {"name": "echo", "arguments": '{"text": "the same words again and again"}'},
}


class Format(NamedTuple):
    """How one wire says a text: as one JSON body, or as framed events, a word in each of most."""

    media_type: str
    whole: Callable[[Sequence[str]], dict[str, Any]]
    events: Callable[[Sequence[str]], Iterator[bytes]]


def encode(value: dict[str, Any]) -> bytes:
    return json.dumps(value, separators=(",", ":")).encode()


def _chat_whole(words: Sequence[str]) -> dict[str, Any]:
    return _chat_reply({"role": "assistant", "content": "".join(words)}, "stop")


def _chat_events(words: Sequence[str]) -> Iterator[bytes]:
    return _chat_stream([{"content": word} for word in words], "stop")


def _call_whole(_words: Sequence[str]) -> dict[str, Any]:
    return _chat_reply({"role": "assistant", "content": None, "tool_calls": [_CALL]}, "tool_calls")


def _call_events(_words: Sequence[str]) -> Iterator[bytes]:
    """A call of `echo`, its arguments streamed in the pieces that vendors send."""
    function = _CALL["function"]
    assert isinstance(function, dict)
    opening = {**_CALL, "function": {"name": function["name"], "arguments": ""}}
    pieces = re.findall(r" ?\S+", function["arguments"])
    deltas: list[dict[str, Any]] = [{"content": None, "tool_calls": [opening]}]
    deltas += [{"tool_calls": [{"index": 0, "function": {"arguments": piece}}]} for piece in pieces]
    return _chat_stream(deltas, "tool_calls")


def _chat_reply(message: dict[str, Any], reason: str) -> dict[str, Any]:
    choice = {"index": 0, "message": message, "finish_reason": reason}
    return {**_chat_common("chat.completion"), "choices": [choice], "usage": _CHAT_USAGE}


def _chat_stream(deltas: Sequence[dict[str, Any]], reason: str) -> Iterator[bytes]:
    """One event per delta, then the end, the usage and the vendor's last word."""
    common = _chat_common("chat.completion.chunk")
    first, *rest = deltas
    for delta in ({"role": "assistant", **first}, *rest):
        yield _data({**common, "choices": [{"index": 0, "delta": delta, "finish_reason": None}]})
    yield _data({**common, "choices": [{"index": 0, "delta": {}, "finish_reason": reason}]})
    yield _data({**common, "choices": [], "usage": _CHAT_USAGE})
    yield b"data: [DONE]\n\n"


def _chat_common(kind: str) -> dict[str, Any]:
    return {
        "id": "chatcmpl-9kR2mTz4QwXbV7",
        "object": kind,
        "created": _CREATED,
        "model": "bench",
        "system_fingerprint": "fp_0a1b2c3d",
    }


def _messages_whole(words: Sequence[str]) -> dict[str, Any]:
    content = [{"type": "text", "text": "".join(words)}] if words else []
    return {
        "id": "msg_01AbCdEfGhIjKlMnOp",
        "type": "message",
        "role": "assistant",
        "model": "bench",
        "content": content,
        "stop_reason": "end_turn" if words else None,
        "stop_sequence": None,
        "usage": _USAGE,
    }


def _messages_events(words: Sequence[str]) -> Iterator[bytes]:
    yield _named({"type": "message_start", "message": _messages_whole(())})
    opened = {"type": "text", "text": ""}
    yield _named({"type": "content_block_start", "index": 0, "content_block": opened})
    for word in words:
        delta = {"type": "text_delta", "text": word}
        yield _named({"type": "content_block_delta", "index": 0, "delta": delta})
    yield _named({"type": "content_block_stop", "index": 0})
    end = {"stop_reason": "end_turn", "stop_sequence": None}
    yield _named({"type": "message_delta", "delta": end, "usage": {"output_tokens": 40}})
    yield _named({"type": "message_stop"})


def _responses_whole(words: Sequence[str]) -> dict[str, Any]:
    return {
        "id": "resp_0a1b2c3d4e5f",
        "object": "response",
        "created_at": _CREATED,
        "status": "completed" if words else "in_progress",
        "model": "bench",
        "output": [_responses_item(words)] if words else [],
        "usage": _USAGE if words else None,
    }


def _responses_item(words: Sequence[str]) -> dict[str, Any]:
    part = {"type": "output_text", "text": "".join(words), "annotations": [], "logprobs": []}
    return {
        "id": "msg_0a1b2c3d4e5f",
        "type": "message",
        "status": "completed" if words else "in_progress",
        "role": "assistant",
        "content": [part] if words else [],
    }


def _responses_events(words: Sequence[str]) -> Iterator[bytes]:
    numbers = itertools.count()

    def event(kind: str, **more: Any) -> bytes:
        return _named({"type": f"response.{kind}", "sequence_number": next(numbers), **more})

    place = {"item_id": _responses_item(())["id"], "output_index": 0, "content_index": 0}
    part = _responses_item(words)["content"][0]
    yield event("created", response=_responses_whole(()))
    yield event("in_progress", response=_responses_whole(()))
    yield event("output_item.added", output_index=0, item=_responses_item(()))
    yield event("content_part.added", **place, part={**part, "text": ""})
    for word in words:
        yield event("output_text.delta", **place, delta=word, logprobs=[], obfuscation="x9Kq2Lm7")
    yield event("output_text.done", **place, text="".join(words), logprobs=[])
    yield event("content_part.done", **place, part=part)
    yield event("output_item.done", output_index=0, item=_responses_item(words))
    yield event("completed", response=_responses_whole(words))


def _converse_whole(words: Sequence[str]) -> dict[str, Any]:
    message = {"role": "assistant", "content": [{"text": "".join(words)}]}
    return {"output": {"message": message}, "stopReason": "end_turn", **_CONVERSE_ENDING}


def _converse_events(words: Sequence[str]) -> Iterator[bytes]:
    yield _binary("messageStart", {"role": "assistant", "p": "abcdefgh"})
    for word in words:
        said = {"contentBlockIndex": 0, "delta": {"text": word}, "p": "abcdefghijkl"}
        yield _binary("contentBlockDelta", said)
    yield _binary("contentBlockStop", {"contentBlockIndex": 0, "p": "abcdefgh"})
    yield _binary("messageStop", {"stopReason": "end_turn", "p": "abcdefgh"})
    yield _binary("metadata", {**_CONVERSE_ENDING, "p": "abcdefgh"})


def _data(event: dict[str, Any]) -> bytes:
    return b"data: %s\n\n" % encode(event)


def _named(event: dict[str, Any]) -> bytes:
    return b"event: %s\n%s" % (event["type"].encode(), _data(event))


def _binary(name: str, event: dict[str, Any]) -> bytes:
    """One message of Amazon's event stream."""
    texts = {":event-type": name, ":content-type": "application/json", ":message-type": "event"}
    headers = b"".join(
        struct.pack(f">B{len(key)}sBH", len(key), key.encode(), 7, len(text)) + text.encode()
        for key, text in texts.items()
    )
    body = encode(event)
    prelude = struct.pack(">II", 16 + len(headers) + len(body), len(headers))
    message = prelude + struct.pack(">I", zlib.crc32(prelude)) + headers + body
    return message + struct.pack(">I", zlib.crc32(message))


_SSE = "text/event-stream"
CHAT = Format(_SSE, _chat_whole, _chat_events)
CALL = Format(_SSE, _call_whole, _call_events)
MESSAGES = Format(_SSE, _messages_whole, _messages_events)
RESPONSES = Format(_SSE, _responses_whole, _responses_events)
CONVERSE = Format("application/vnd.amazon.eventstream", _converse_whole, _converse_events)
