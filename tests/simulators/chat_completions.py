"""A strict chat-completions server on loopback: it refuses what vendors and the SDK's types refuse.

    async with ChatSimulator(calls(("web_search", {"query": "x"})), says("Found it. [1]")) as server:
        ...                    # server.base_url, server.bodies, server.refusals

Each reply of the script answers one request, the last one repeats. A request that a strict vendor
would reject gets a 400 whose words say why, and is listed in `refusals`.
"""

import json
import re
from collections.abc import Callable
from typing import Any, NamedTuple

from simulators.model import ModelSimulator
from simulators.scripted import Received, http_reply
from simulators.typed import misfit

try:
    from openai.types.chat.completion_create_params import (
        CompletionCreateParamsNonStreaming,
        CompletionCreateParamsStreaming,
    )
    from pydantic import TypeAdapter
except ImportError:
    ORACLE = None
else:
    ORACLE = {
        True: TypeAdapter(CompletionCreateParamsStreaming),
        False: TypeAdapter(CompletionCreateParamsNonStreaming),
    }
"""The vendor's own types of a request, by whether it streams; None where its SDK is not installed."""

Reply = Callable[[dict[str, Any]], bytes]

TOP_LEVEL = {
    "model", "messages", "tools", "tool_choice", "stream", "stream_options", "max_tokens",
    "max_completion_tokens", "temperature", "response_format", "parallel_tool_calls", "reasoning_effort",
}  # fmt: skip
KEYS = {
    "system": {"role", "content", "name"},
    "developer": {"role", "content", "name"},
    "user": {"role", "content", "name"},
    "assistant": {"role", "content", "tool_calls", "name", "refusal"},
    "tool": {"role", "content", "tool_call_id"},
}
USAGE = {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15}
TOOL_NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}")


class Extras(NamedTuple):
    """What one vendor takes beside the protocol. Whatever is not declared here is still refused."""

    fields: frozenset[str] = frozenset()
    """Fields of a request."""
    echoes: frozenset[str] = frozenset()
    """Keys of an assistant's message, and of the calls in it."""
    roles: frozenset[str] = frozenset()
    """Roles that speak as the system does."""
    parts: bool = False
    """Whether everyone may speak in parts, with cache marks on them."""


def says(text: str, *, chunks: int = 3, finish: str | None = "stop", **extra: Any) -> Reply:
    """Answer with text, streamed in pieces when asked to; `finish=None` breaks off before the end."""

    def reply(body: dict[str, Any]) -> bytes:
        size = max(1, -(-len(text) // chunks))
        pieces = [text[at : at + size] for at in range(0, len(text), size)] or [""]
        deltas = [{"content": piece} for piece in pieces]
        return _answer(body, {"content": text, **extra}, deltas, extra, finish)

    return reply


def calls(
    *wanted: tuple[str, Any],
    text: str | None = None,
    finish: str = "tool_calls",
    seal: dict[str, Any] | None = None,
    **extra: Any,
) -> Reply:
    """Answer with tool calls; arguments that are text are sent as they are. `seal` is put on every call."""

    def reply(body: dict[str, Any]) -> bytes:
        turn = len(body["messages"])
        made = [
            {
                "id": f"call_{turn}_{number}",
                "type": "function",
                "function": {"name": name, "arguments": args if isinstance(args, str) else json.dumps(args)},
                **({"extra_content": seal} if seal else {}),
            }
            for number, (name, args) in enumerate(wanted)
        ]
        deltas: list[dict[str, Any]] = [{"content": text, **extra}] if text or extra else []
        for index, call in enumerate(made):
            start = {**call, "index": index, "function": {"name": call["function"]["name"], "arguments": ""}}
            rest = {"index": index, "function": {"arguments": call["function"]["arguments"]}}
            deltas += [{"tool_calls": [start]}, {"tool_calls": [rest]}]
        return _answer(body, {"content": text, "tool_calls": made, **extra}, deltas, {}, finish)

    return reply


def fails(status: int, message: str = "no", **headers: object) -> Reply:
    body = json.dumps({"error": {"message": message, "type": "test", "code": None}}).encode()
    return lambda _request: http_reply(status, body, content_type="application/json", **headers)


def raw(reply: bytes) -> Reply:
    return lambda _request: reply


class ChatSimulator(ModelSimulator):
    prefix = "/v1"

    def __init__(self, *script: Reply, extras: Extras | None = None) -> None:
        super().__init__(*script)
        self._extras = extras

    def problem_with(self, request: Received, body: dict[str, Any]) -> str | None:
        return refusal(request.path, body, extras=self._extras)

    def refused(self, problem: str) -> bytes:
        return fails(400, problem)({})


def refusal(path: str, body: dict[str, Any], *, extras: Extras | None = None) -> str | None:
    """Why a strict vendor would refuse this request; None when it would not."""
    if extras is not None:
        problem = _refuse_marks(body) if extras.parts else None
        return problem or refusal(path, _plain(body, extras))
    if path != "/v1/chat/completions":
        return f"unknown path {path}"
    if unknown := set(body) - TOP_LEVEL:
        return f"unknown parameters {sorted(unknown)}"
    if not body.get("model") or not body.get("messages"):
        return "model and messages are required"
    if body.get("tools") == [] or ("tool_choice" in body and "tools" not in body):
        return "tool_choice and an empty list of tools need tools"
    if "stream_options" in body and not body.get("stream"):
        return "stream_options needs stream"
    for tool in body.get("tools", ()):
        if (
            not TOOL_NAME.fullmatch(tool["function"]["name"])
            or tool["function"]["parameters"]["type"] != "object"
        ):
            return f"invalid tool {tool['function']['name']!r}"
    wanted = body.get("response_format", {}).get("json_schema", {})
    if wanted.get("strict") and _is_open(wanted["schema"]):
        return "response_format: 'additionalProperties' is required to be supplied and to be false"
    return _refuse_messages(body["messages"]) or _refuse_types(body)


def _plain(body: dict[str, Any], extras: Extras) -> dict[str, Any]:
    """The request without what this vendor takes beside the protocol."""
    plain = {key: value for key, value in body.items() if key not in extras.fields}
    return plain | {"messages": [_plain_message(message, extras) for message in body["messages"]]}


def _plain_message(message: dict[str, Any], extras: Extras) -> dict[str, Any]:
    role = "system" if message["role"] in extras.roles else message["role"]
    plain = {**message, "role": role}
    if role == "assistant":
        plain = {key: value for key, value in plain.items() if key not in extras.echoes}
    if "tool_calls" in plain:
        plain["tool_calls"] = [
            {key: value for key, value in call.items() if key not in extras.echoes}
            for call in plain["tool_calls"]
        ]
    if extras.parts and isinstance(message["content"], list):
        parts = [{k: v for k, v in part.items() if k != "cache_control"} for part in message["content"]]
        plain["content"] = parts if role == "user" else "".join(part["text"] for part in parts)
    return plain


def _is_open(schema: Any) -> bool:
    if isinstance(schema, list):
        return any(map(_is_open, schema))
    if not isinstance(schema, dict):
        return False
    if schema.get("type") == "object":
        names = schema.get("properties", {})
        if schema.get("additionalProperties") is not False or set(names) != set(schema.get("required", ())):
            return True
    return any(map(_is_open, schema.values()))


def _refuse_marks(body: dict[str, Any]) -> str | None:
    parts = [part for message in body["messages"] for part in _parts(message)]
    marked = [part for part in parts if "cache_control" in part]
    if len(marked) > 4 or any(part["type"] != "text" for part in marked):
        return f"cache_control: at most 4, on text alone: {marked}"
    return None


def _parts(message: dict[str, Any]) -> list[dict[str, Any]]:
    return message["content"] if isinstance(message["content"], list) else []


def _refuse_types(body: dict[str, Any]) -> str | None:
    return misfit(ORACLE[bool(body.get("stream"))], body) if ORACLE is not None else None


def _refuse_messages(messages: list[dict[str, Any]]) -> str | None:
    open_calls: list[str] = []
    for number, message in enumerate(messages):
        role = message.get("role")
        if role not in KEYS or set(message) - KEYS[role]:
            return f"messages.{number}: extra inputs are not permitted: {sorted(message)}"
        if open_calls and role != "tool":
            return f"messages.{number}: calls {open_calls} have no result"
        if role == "tool":
            if message["tool_call_id"] not in open_calls:
                return f"messages.{number}: result without a call"
            open_calls.remove(message["tool_call_id"])
        elif role == "assistant" and "tool_calls" in message:
            ids = [call["id"] for call in message["tool_calls"]]
            if not ids or len(set(ids)) != len(ids) or not all(isinstance(id, str) and id for id in ids):
                return f"messages.{number}: call ids must be unique text: {ids}"
            open_calls = ids
        if problem := _refuse_content(message):
            return f"messages.{number}: {problem}"
    return f"calls {open_calls} have no result" if open_calls else None


def _refuse_content(message: dict[str, Any]) -> str | None:
    content = message.get("content")
    if isinstance(content, str) or (content is None and "tool_calls" in message):
        return None
    if not content or (message["role"] != "user" and any(part["type"] != "text" for part in content)):
        return "content is required, and pictures come from users only"
    if any(part["type"] == "text" and not part.get("text", "?") for part in content):
        return "text content parts must not be empty"
    pictures = [part["image_url"]["url"] for part in content if part["type"] == "image_url"]
    odd = [url for url in pictures if not re.match(r"data:image/\w+;base64,|https?://", url)]
    return f"image_url: expected a valid URL, not {odd}" if odd else None


def _answer(
    body: dict[str, Any], message: dict[str, Any], deltas: list[Any], last: dict[str, Any], finish: str | None
) -> bytes:
    known = {"id": "c1", "created": 1, "model": body["model"]}
    if not body.get("stream"):
        choice = {"index": 0, "message": {"role": "assistant", **message}, "finish_reason": finish}
        whole = {**known, "object": "chat.completion", "choices": [choice], "usage": USAGE}
        return http_reply(200, json.dumps(whole).encode(), content_type="application/json")
    events = [
        {"choices": [{"index": 0, "delta": {"role": "assistant", "content": ""}, "finish_reason": None}]}
    ]
    events += [{"choices": [{"index": 0, "delta": delta, "finish_reason": None}]} for delta in deltas]
    if finish is not None:
        events.append({"choices": [{"index": 0, "delta": last, "finish_reason": finish}]})
        if body.get("stream_options"):
            events.append({"choices": [], "usage": USAGE})
    known["object"] = "chat.completion.chunk"
    lines = [f"data: {json.dumps({**known, **event})}\n\n" for event in events]
    stream = "".join([*lines, "data: [DONE]\n\n"] if finish is not None else lines).encode()
    return http_reply(200, stream, content_type="text/event-stream; charset=utf-8")
