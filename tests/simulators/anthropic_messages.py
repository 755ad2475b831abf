"""A strict Messages server on loopback: it refuses what the vendor refuses.

    async with MessagesSimulator(calls(("web_search", {"query": "x"})), says("Found it. [1]")) as server:
        ...                    # server.base_url, server.bodies, server.refusals

Each reply of the script answers one request, the last one repeats. A request that the vendor would
reject gets a 400 whose words say why, and is listed in `refusals`. Signed thinking is checked: what was
issued under a signature must come back unchanged.
"""

import base64
import hashlib
import json
import re
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from simulators.model import ModelSimulator
from simulators.scripted import Received, http_reply
from simulators.typed import misfit

try:
    from anthropic.types import message_create_params
    from pydantic import TypeAdapter
except ImportError:  # the vendor's types are a test oracle: without them the rules below still hold
    ORACLE = None
else:
    ORACLE = TypeAdapter(message_create_params.MessageCreateParams)

Reply = Callable[[dict[str, Any]], bytes]
Block = dict[str, Any]

TOP_LEVEL = {
    "model", "max_tokens", "messages", "system", "tools", "tool_choice", "stream", "thinking",
    "output_config", "temperature", "metadata", "stop_sequences", "service_tier",
}  # fmt: skip
BLOCK_KEYS = {
    "text": {"type", "text", "citations", "cache_control"},
    "image": {"type", "source", "cache_control"},
    "thinking": {"type", "thinking", "signature"},
    "redacted_thinking": {"type", "data"},
    "tool_use": {"type", "id", "name", "input", "cache_control"},
    "tool_result": {"type", "tool_use_id", "content", "is_error", "cache_control"},
}
BLOCKS_OF = {
    "user": {"text", "image", "tool_result"},
    "assistant": {"text", "thinking", "redacted_thinking", "tool_use"},
}
USAGE = {
    "input_tokens": 10,
    "cache_read_input_tokens": 100,
    "cache_creation_input_tokens": 5,
    "output_tokens": 7,
}
NAME = re.compile(r"[a-zA-Z0-9_-]{1,128}")
ID = re.compile(r"[a-zA-Z0-9_-]+")
MANUAL_ONLY = re.compile(r"claude-3-7|(opus|sonnet)-4-(0|1|2025)|-4-5")
ADAPTIVE_ONLY = re.compile(r"opus-4-[78]|(opus|sonnet|haiku)-5|fable|mythos")
NEVER_FORCED = re.compile(r"(opus|sonnet|haiku)-5-5|(fable|mythos)-5-[1-9]")
NEVER_OFF = re.compile(r"opus-5-5|fable|mythos")


def sign(thinking: str) -> str:
    return base64.b64encode(hashlib.sha256(b"secret" + thinking.encode()).digest()).decode()


def thinks(text: str) -> Block:
    return {"type": "thinking", "thinking": text, "signature": sign(text)}


def sealed(data: str = "c2VhbGVk") -> Block:
    return {"type": "redacted_thinking", "data": data}


def text(words: str) -> Block:
    return {"type": "text", "text": words, "citations": None}


def uses(name: str, input: Any, id: str = "") -> Block:
    return {"type": "tool_use", "id": id, "name": name, "input": input}


def answers(*blocks: Block, stop: str | None = None, **fields: Any) -> Reply:
    """Answer with these blocks, whole or streamed as the request asks; ids are made where missing."""

    def reply(body: dict[str, Any]) -> bytes:
        turn = len(body["messages"])
        made = [
            {**block, "id": block["id"] or f"toolu_{turn}_{at}"} if block["type"] == "tool_use" else block
            for at, block in enumerate(blocks)
        ]
        ordinary = "tool_use" if any(block["type"] == "tool_use" for block in made) else "end_turn"
        message = whole(made, stop or ordinary, model=body["model"], **fields)
        if not body.get("stream"):
            return http_reply(200, json.dumps(message).encode(), content_type="application/json")
        return stream_reply(events(message))

    return reply


def says(words: str, **fields: Any) -> Reply:
    return answers(text(words), **fields)


def calls(*wanted: tuple[str, Any], words: str = "", **fields: Any) -> Reply:
    blocks = [uses(name, input) for name, input in wanted]
    return answers(*([text(words)] if words else []), *blocks, **fields)


def breaks_off(*blocks: Block, keep: int) -> Reply:
    """Stream an answer and stop after so many events."""

    def reply(body: dict[str, Any]) -> bytes:
        return stream_reply(events(whole(list(blocks), "end_turn", model=body["model"]))[:keep])

    return reply


def fails(status: int, kind: str = "api_error", message: str = "no", **headers: object) -> Reply:
    body = json.dumps({"type": "error", "error": {"type": kind, "message": message}, "request_id": "r"})
    return lambda _request: http_reply(status, body.encode(), content_type="application/json", **headers)


def fails_midway(kind: str, message: str = "no") -> Reply:
    """Start to stream, then send an error event."""
    begun = events(whole([text("so far")], "end_turn"))[:4]
    error = {"type": "error", "error": {"type": kind, "message": message}}
    return lambda _request: stream_reply([*begun, error])


def raw(reply: bytes) -> Reply:
    return lambda _request: reply


def whole(blocks: Sequence[Block], stop: str, *, model: str = "m", **fields: Any) -> dict[str, Any]:
    message = {"id": "msg_1", "type": "message", "role": "assistant", "model": model, "content": list(blocks)}
    return {**message, "stop_reason": stop, "stop_sequence": None, "usage": {**USAGE}, **fields}


def events(message: dict[str, Any], *, size: int = 4) -> list[dict[str, Any]]:
    """The stream that says the same as this whole reply."""
    start = {**message, "content": [], "stop_reason": None, "usage": {**message["usage"], "output_tokens": 1}}
    start.pop("stop_details", None)
    made: list[dict[str, Any]] = [{"type": "message_start", "message": start}, {"type": "ping"}]
    for index, block in enumerate(message["content"]):
        opened, deltas = _pieces(block, size)
        made.append({"type": "content_block_start", "index": index, "content_block": opened})
        made += [{"type": "content_block_delta", "index": index, "delta": delta} for delta in deltas]
        made.append({"type": "content_block_stop", "index": index})
    ending = {key: message.get(key) for key in ("stop_reason", "stop_sequence", "stop_details")}
    usage = {"output_tokens": message["usage"]["output_tokens"]}
    made.append({"type": "message_delta", "delta": ending, "usage": usage})
    return [*made, {"type": "message_stop"}]


def _pieces(block: Block, size: int) -> tuple[Block, list[Block]]:
    def cut(words: str) -> Iterable[str]:
        return (words[at : at + size] for at in range(0, len(words), size))

    match block["type"]:
        case "text":
            deltas = [{"type": "text_delta", "text": piece} for piece in cut(block["text"])]
            cited = [{"type": "citations_delta", "citation": one} for one in block.get("citations") or ()]
            return {"type": "text", "text": "", "citations": None}, [*deltas, *cited]
        case "thinking":
            deltas = [{"type": "thinking_delta", "thinking": piece} for piece in cut(block["thinking"])]
            signed = {"type": "signature_delta", "signature": block["signature"]}
            return {"type": "thinking", "thinking": "", "signature": ""}, [*deltas, signed]
        case "tool_use":
            input = block["input"] if isinstance(block["input"], str) else json.dumps(block["input"])
            deltas = [{"type": "input_json_delta", "partial_json": piece} for piece in ("", *cut(input))]
            return {**block, "input": {}}, deltas
    return block, []


def stream_reply(made: Iterable[dict[str, Any]]) -> bytes:
    lines = [f"event: {event['type']}\ndata: {json.dumps(event)}\n\n" for event in made]
    return http_reply(200, "".join(lines).encode(), content_type="text/event-stream; charset=utf-8")


class MessagesSimulator(ModelSimulator):
    """With `bearer` it is another vendor's server, which takes its key as a bearer token."""

    def __init__(self, *script: Reply, bearer: bool = False) -> None:
        super().__init__(*script)
        self._bearer = bearer

    def problem_with(self, request: Received, body: dict[str, Any]) -> str | None:
        return refuse_headers(request.path, request.headers, bearer=self._bearer) or refusal(body)

    def refused(self, problem: str) -> bytes:
        return fails(400, "invalid_request_error", problem)({})


def refuse_headers(path: str, headers: dict[str, str], *, bearer: bool = False) -> str | None:
    if path != "/v1/messages":
        return f"unknown path {path}"
    match headers.get("anthropic-version"):
        case "2023-06-01" if bearer:
            has_token = headers.get("authorization", "").startswith("Bearer ")
            return None if has_token else "a bearer token is required"
        case "2023-06-01":
            return None if headers.get("x-api-key") else "x-api-key header is required"
        case "2026-10-21":
            has_key = headers.get("x-api-key") or headers.get("authorization")
            return None if has_key else "authentication is required"
    return "anthropic-version: header is required"


def refusal(body: dict[str, Any]) -> str | None:
    """Why the vendor would refuse this request; None when it would not."""
    if unknown := set(body) - TOP_LEVEL:
        return f"extra inputs are not permitted: {sorted(unknown)}"
    if not body.get("model") or not isinstance(body.get("max_tokens"), int) or body["max_tokens"] < 1:
        return "model and max_tokens are required"
    return (
        _refuse_types(body)
        or _refuse_tools(body)
        or _refuse_thinking(body)
        or _refuse_messages(body["messages"])
        or _refuse_marks(body)
    )


def _refuse_types(body: dict[str, Any]) -> str | None:
    if ORACLE is None:
        return None
    # The SDK speaks a newer API version, whose types have no sampling parameters.
    known = {key: value for key, value in body.items() if key != "temperature"}
    return misfit(ORACLE, known)


def _refuse_tools(body: dict[str, Any]) -> str | None:
    names = [tool["name"] for tool in body.get("tools", ())]
    if len(set(names)) != len(names):
        return "tools: Tool names must be unique."
    for tool in body.get("tools", ()):
        schema = tool["input_schema"]
        if not NAME.fullmatch(tool["name"]) or schema.get("type") != "object":
            return f"invalid tool {tool['name']!r}"
        if {"anyOf", "oneOf", "allOf"} & set(schema):
            return "input_schema does not support oneOf, allOf, or anyOf at the top level"
    choice = body.get("tool_choice", {"type": "auto"})
    if "tool_choice" in body and not names:
        return "tool_choice may only be specified while providing tools"
    if choice["type"] in ("any", "tool") and NEVER_FORCED.search(body["model"]):
        return "forced tool use is not supported for this model"
    if choice["type"] == "tool" and choice["name"] not in names:
        return f"tool {choice['name']} is not in tools"
    blocks = [block for message in body["messages"] for block in message["content"]]
    if not names and any(block["type"] in ("tool_use", "tool_result") for block in blocks):
        return "requests which include tool blocks must define tools"
    return None


def _refuse_thinking(body: dict[str, Any]) -> str | None:
    model, thinking = body["model"], body.get("thinking", {"type": ""})
    forced = body.get("tool_choice", {}).get("type") in ("any", "tool")
    if thinking["type"] in ("enabled", "adaptive") and forced:
        return "thinking may not be enabled when tool_choice forces tool use"
    if thinking["type"] == "enabled":
        if ADAPTIVE_ONLY.search(model):
            return '"thinking.type.enabled" is not supported for this model'
        if not 1024 <= thinking["budget_tokens"] < body["max_tokens"]:
            return "budget_tokens must be at least 1024 and less than max_tokens"
    if thinking["type"] == "adaptive" and MANUAL_ONLY.search(model):
        return "adaptive thinking is not supported on this model"
    if thinking["type"] == "disabled" and (NEVER_OFF.search(model) or "sonnet-5-5" in model):
        return '"thinking.type.disabled" is not supported for this model'
    if "temperature" in body and ADAPTIVE_ONLY.search(model):
        return "`temperature` is deprecated for this model"
    if not 0 <= body.get("temperature", 1) <= 1:
        return "temperature: range: 0..1"
    if body.get("temperature", 1) != 1 and thinking["type"] in ("enabled", "adaptive"):
        return "temperature may only be set to 1 when thinking is enabled"
    config = body.get("output_config", {})
    if set(config) - {"effort", "format"}:
        return "output_config: extra inputs are not permitted"
    return _refuse_schema(config["format"]["schema"]) if "format" in config else None


def _refuse_schema(schema: Any) -> str | None:
    if isinstance(schema, list):
        return next(filter(None, map(_refuse_schema, schema)), None)
    if not isinstance(schema, dict):
        return None
    if schema.get("type") == "object" and schema.get("additionalProperties") is not False:
        return "output_config.format.schema: 'additionalProperties' must be explicitly set to false"
    if found := {"minimum", "maximum", "minLength", "maxLength", "pattern", "oneOf"} & set(schema):
        return f"output_config.format.schema: {sorted(found)} is not supported"
    return next(filter(None, map(_refuse_schema, schema.values())), None)


def _refuse_messages(messages: list[dict[str, Any]]) -> str | None:
    if not messages or messages[0]["role"] != "user":
        return "messages: first message must use the user role"
    if messages[-1]["role"] != "user":
        return "this model does not support assistant message prefill"
    open_calls: list[str] = []
    seen: set[str] = set()
    for number, message in enumerate(messages):
        where, blocks = f"messages.{number}", message["content"]
        if number and messages[number - 1]["role"] == message["role"]:
            return f"{where}: roles must alternate"
        if not blocks or set(message) != {"role", "content"}:
            return f"{where}: content is required and nothing else permitted"
        if blocks[-1]["type"] in ("thinking", "redacted_thinking"):
            return f"{where}: The final block in an assistant message cannot be `thinking`."
        problem = next(filter(None, (_refuse_block(message["role"], block) for block in blocks)), None)
        if problem:
            return f"{where}: {problem}"
        results = [block["tool_use_id"] for block in blocks if block["type"] == "tool_result"]
        kinds = [block["type"] == "tool_result" for block in blocks]
        if sorted(results) != sorted(open_calls) or kinds != sorted(kinds, reverse=True):
            return f"{where}: calls {open_calls} must be answered first, once each: {results}"
        open_calls = [block["id"] for block in blocks if block["type"] == "tool_use"]
        if len(set(open_calls)) != len(open_calls) or seen & set(open_calls):
            return f"{where}: `tool_use` ids must be unique"
        seen.update(open_calls)
    return None


def _refuse_block(role: str, block: Block) -> str | None:
    kind = block.get("type", "")
    if kind not in BLOCKS_OF[role] or set(block) - BLOCK_KEYS[kind]:
        return f"a {role} may not say {kind!r} with {sorted(block)}"
    match kind:
        case "text" if not block["text"].strip():
            return "text content blocks must contain non-whitespace text"
        case "thinking" if block["signature"] != sign(block["thinking"]):
            return "Invalid `signature` in `thinking` block"
        case "redacted_thinking" if not block["data"]:
            return "Invalid `data` in `redacted_thinking` block"
        case "tool_use" if not ID.fullmatch(block["id"]) or not NAME.fullmatch(block["name"]):
            return f"tool_use: String should match pattern: {block['id']!r} {block['name']!r}"
        case "tool_result":
            return _refuse_result(block)
    return None


def _refuse_result(block: Block) -> str | None:
    content = block["content"]
    if isinstance(content, str):
        return None if content.strip() else "tool_result: content is blank"
    if block.get("is_error") and any(part["type"] != "text" for part in content):
        return "all content must be type `text` if `is_error` is true"
    return next(filter(None, (_refuse_block("user", part) for part in content)), None)


def _refuse_marks(body: dict[str, Any]) -> str | None:
    places = [*body.get("tools", ()), *body.get("system", ())]
    places += [block for message in body["messages"] for block in message["content"]]
    marks = sum("cache_control" in place for place in places)
    return f"a maximum of 4 blocks with cache_control may be provided: {marks}" if marks > 4 else None
