"""A strict Converse server on loopback: it refuses what the service refuses.

    async with ConverseSimulator(calls(("web_search", {"query": "x"})), says("Found it. [1]")) as server:
        ...                    # server.base_url, server.bodies, server.refusals

Each reply of the script answers one request, the last one repeats. Every request is held against botocore's
own model of the service, its signature is computed anew, and the rules that the model does not hold are
checked here. A refused request gets the service's status, and its reason is listed in `refusals`.
"""

import base64
import binascii
import hashlib
import itertools
import json
import re
import struct
import zlib
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any
from urllib.parse import unquote

import pytest

from simulators.model import ModelSimulator
from simulators.scripted import Received, http_reply

pytest.importorskip("botocore", reason="botocore's service model is the oracle of this wire")

import botocore.session
from botocore.auth import SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials
from botocore.validate import ParamValidator

KEY_ID, SECRET, TOKEN, API_KEY = "AKIDEXAMPLE", "aws-secret", "aws-session-token", "bedrock-api-key"
REGION = "us-east-1"
MAX_CACHE_POINTS = 4
NO_SCHEMA = re.compile(r"claude-(v2|instant|3)|claude-(sonnet|opus)-4-(1-)?\d{8}|nova|titan|llama|r1-v")
USAGE = {
    "inputTokens": 10,
    "outputTokens": 5,
    "totalTokens": 22,
    "cacheReadInputTokens": 4,
    "cacheWriteInputTokens": 3,
}

Reply = Callable[[dict[str, Any], bool], bytes]
Events = list[tuple[str, dict[str, Any]]]


def thought(text: str, *, redacted: bool = False) -> dict[str, Any]:
    """A block of reasoning, sealed so that a changed one is known."""
    if redacted:
        sealed = base64.b64encode(b"sealed " + text.encode()).decode()
        return {"reasoningContent": {"redactedContent": sealed}}
    return {"reasoningContent": {"reasoningText": {"text": text, "signature": _seal(text)}}}


def call(name: str, arguments: dict[str, Any], id: str) -> dict[str, Any]:
    return {"toolUse": {"toolUseId": id, "name": name, "input": arguments}}


def answers(*blocks: dict[str, Any], stop: str = "end_turn", cut: int | None = None, size: int = 4) -> Reply:
    """Answer with these content blocks; `cut` ends a stream after so many events."""

    def reply(_body: dict[str, Any], streams: bool) -> bytes:
        if streams:
            return event_reply(*(frame(name, said) for name, said in events(blocks, stop, size)[:cut]))
        return json_reply(whole(blocks, stop))

    return reply


def says(text: str, **options: Any) -> Reply:
    return answers({"text": text}, **options)


def calls(*wanted: tuple[str, dict[str, Any]], before: Sequence[dict[str, Any]] = ()) -> Reply:
    """Answer with tool calls, after any blocks `before` them."""

    def reply(body: dict[str, Any], streams: bool) -> bytes:
        turn = len(body["messages"])
        made = [call(name, args, f"tooluse_{turn}_{at}") for at, (name, args) in enumerate(wanted)]
        return answers(*before, *made, stop="tool_use")(body, streams)

    return reply


def fails(status: int, kind: str = "ValidationException", message: str = "no", **headers: object) -> Reply:
    body = json.dumps({"message": message}).encode()
    headers |= {"content_type": "application/json", "x_amzn_errortype": kind}
    return lambda _body, _streams: http_reply(status, body, **headers)


def raw(reply: bytes) -> Reply:
    return lambda _body, _streams: reply


def whole(blocks: Sequence[dict[str, Any]], stop: str) -> dict[str, Any]:
    message = {"role": "assistant", "content": list(blocks)}
    return {
        "output": {"message": message},
        "stopReason": stop,
        "usage": USAGE,
        "metrics": {"latencyMs": 1},
    }


def events(blocks: Sequence[dict[str, Any]], stop: str, size: int = 4) -> Events:
    """The same answer as a stream says it, texts and arguments in pieces of `size`."""
    stream: Events = [("messageStart", {"role": "assistant"})]
    for index, block in enumerate(blocks):
        start, deltas = _pieces(block, size)
        if start:
            stream.append(("contentBlockStart", {"start": start, "contentBlockIndex": index}))
        stream += [("contentBlockDelta", {"delta": delta, "contentBlockIndex": index}) for delta in deltas]
        stream.append(("contentBlockStop", {"contentBlockIndex": index}))
    stream.append(("messageStop", {"stopReason": stop}))
    stream.append(("metadata", {"usage": USAGE, "metrics": {"latencyMs": 1}, "p": "abcdefgh"}))
    return stream


def frame(name: str, payload: dict[str, Any] | bytes, kind: str = "event") -> bytes:
    """One message of the binary event stream."""
    body = payload if isinstance(payload, bytes) else json.dumps(payload).encode()
    headers = {f":{kind}-type": name, ":content-type": "application/json", ":message-type": kind}
    return frame_of(b"".join(_header(key, value) for key, value in headers.items()), body)


def frame_of(headers: bytes, body: bytes) -> bytes:
    prelude = struct.pack(">II", 16 + len(headers) + len(body), len(headers))
    message = prelude + struct.pack(">I", zlib.crc32(prelude)) + headers + body
    return message + struct.pack(">I", zlib.crc32(message))


def event_reply(*frames: bytes) -> bytes:
    return http_reply(200, b"".join(frames), content_type="application/vnd.amazon.eventstream")


def json_reply(body: dict[str, Any]) -> bytes:
    return http_reply(200, json.dumps(body).encode(), content_type="application/json")


class ConverseSimulator(ModelSimulator):
    def __init__(self, *script: Reply) -> None:
        super().__init__(*script)
        self.requests: list[Received] = []

    def answer(self, request: Received) -> bytes:
        self.requests.append(request)
        if problem := _stranger(request):
            self.refusals.append(problem)
            return fails(403, "UnrecognizedClientException", problem)({}, False)
        return super().answer(request)

    def problem_with(self, request: Received, body: dict[str, Any]) -> str | None:
        return refusal(request.path, body)

    def refused(self, problem: str) -> bytes:
        return fails(400, "ValidationException", problem)({}, False)

    def answered(self, reply: Callable[..., bytes], request: Received, body: dict[str, Any]) -> bytes:
        return reply(body, request.path.endswith("/converse-stream"))


def refusal(path: str, body: dict[str, Any]) -> str | None:
    """Why the service would refuse this request; None when it would not."""
    found = re.fullmatch(r"/model/([^/]+)/converse(-stream)?", path)
    if not found:
        return f"unknown path {path}"
    model = unquote(found[1])
    try:
        _keep_to_model({"modelId": model, **body})
        _keep_to_rules(model, body)
    except Refused as problem:
        return str(problem)
    return None


class Refused(Exception):
    pass


@cache
def service_model() -> Any:
    return botocore.session.Session().get_service_model("bedrock-runtime")


def _keep_to_model(params: dict[str, Any]) -> None:
    """Types, names and lengths by botocore's own validator; enums, patterns and unions besides."""
    shape = service_model().operation_model("Converse").input_shape
    report = ParamValidator().validate(params, shape)
    if report.has_errors():
        raise Refused(report.generate_report())
    _walk(shape, params, "")


def _walk(shape: Any, value: Any, at: str) -> None:
    if getattr(shape, "is_document_type", False):
        return
    match shape.type_name:
        case "structure":
            if shape.metadata.get("union") and len(value) != 1:
                raise Refused(f"{at}: exactly one member of {sorted(value)}")
            for name, member in value.items():
                _walk(shape.members[name], member, f"{at}.{name}")
        case "list":
            for number, member in enumerate(value):
                _walk(shape.member, member, f"{at}[{number}]")
        case "string":
            _walk_text(shape, value, at)
        case "blob":
            try:
                decoded = base64.b64decode(value, validate=True)
            except binascii.Error as error:
                raise Refused(f"{at}: not base64: {error}") from error
            if len(decoded) < shape.metadata.get("min", 0):
                raise Refused(f"{at}: empty")


def _walk_text(shape: Any, value: str, at: str) -> None:
    rules = shape.metadata
    if "enum" in rules and value not in rules["enum"]:
        raise Refused(f"{at}: {value!r} is not one of {rules['enum']}")
    if len(value) > rules.get("max", len(value)):
        raise Refused(f"{at}: longer than {rules['max']}")
    if "pattern" in rules and not re.fullmatch(rules["pattern"], value):
        raise Refused(f"{at}: {value!r} does not match {rules['pattern']}")


def _keep_to_rules(model: str, body: dict[str, Any]) -> None:
    messages = body.get("messages") or []
    roles = [message["role"] for message in messages]
    if not roles or roles[0] != "user" or roles[-1] != "user":
        raise Refused("A conversation must start and end with a user message")
    if any(one == other for one, other in itertools.pairwise(roles)) or "system" in roles:
        raise Refused("roles must alternate between user and assistant")
    blocks = [block for message in messages for block in message["content"]]
    if not all(message["content"] for message in messages):
        raise Refused("The content field is empty")
    _keep_to_texts([*blocks, *body.get("system", ())])
    _keep_to_pairs(messages)
    _keep_to_tools(model, body, blocks)
    _keep_to_seals(messages)
    _keep_to_cache_points(model, body, messages)
    _keep_to_budget(body)
    if "textFormat" in body.get("outputConfig", {}) and NO_SCHEMA.search(model):
        raise Refused("This model doesn't support the outputConfig.textFormat field")


def _keep_to_texts(blocks: Sequence[dict[str, Any]]) -> None:
    inner = [part for block in blocks for part in block.get("toolResult", {}).get("content", ())]
    for block in (*blocks, *inner):
        if "text" in block and not block["text"].strip():
            raise Refused("text content blocks must contain non-whitespace text")
    if any(not block["toolResult"]["content"] for block in blocks if "toolResult" in block):
        raise Refused("a tool result needs content")


def _keep_to_pairs(messages: Sequence[dict[str, Any]]) -> None:
    """Each call is answered once, in the next message, before anything else is said there."""
    asked: list[str] = []
    for message in messages:
        results = [block["toolResult"]["toolUseId"] for block in message["content"] if "toolResult" in block]
        if sorted(results) != sorted(asked):
            raise Refused(f"tool results {results} do not answer the calls {asked}")
        if any("toolResult" not in block for block in message["content"][: len(results)]):
            raise Refused("tool results come first")
        asked = [block["toolUse"]["toolUseId"] for block in message["content"] if "toolUse" in block]
        if len(set(asked)) != len(asked) or (asked and message["role"] != "assistant"):
            raise Refused(f"calls {asked} are not an assistant's or not unique")


def _keep_to_tools(model: str, body: dict[str, Any], blocks: Sequence[dict[str, Any]]) -> None:
    has_blocks = any("toolUse" in block or "toolResult" in block for block in blocks)
    if has_blocks and "toolConfig" not in body:
        raise Refused("The toolConfig field must be defined when using toolUse and toolResult content blocks")
    if "toolConfig" not in body:
        return
    if re.search(r"r1-v|titan-text", model):
        raise Refused("This model doesn't support tool use")
    specs = [tool["toolSpec"] for tool in body["toolConfig"]["tools"] if "toolSpec" in tool]
    names = [spec["name"] for spec in specs]
    if not names or len(set(names)) != len(names):
        raise Refused(f"tool names must be unique: {names}")
    for spec in specs:
        if spec["inputSchema"]["json"].get("type") != "object":
            raise Refused("the schema's type must be object")
    knows_status = re.search("claude-(3|[a-z])|nova", model)
    if not knows_status and any("status" in block.get("toolResult", {}) for block in blocks):
        raise Refused("This model doesn't support the status field")


def _keep_to_seals(messages: Sequence[dict[str, Any]]) -> None:
    for message in messages:
        for block in message["content"]:
            reasoning = block.get("reasoningContent")
            if reasoning is None:
                continue
            if message["role"] == "user":
                raise Refused("User messages can't contain reasoning content")
            said = reasoning.get("reasoningText")
            if said is not None and said.get("signature") != _seal(said["text"]):
                raise Refused("Invalid `signature` in `thinking` block")
            if said is None and not base64.b64decode(reasoning["redactedContent"]).startswith(b"sealed "):
                raise Refused("Invalid `data` in `redacted_thinking` block")
        if "reasoningContent" in message["content"][-1]:
            raise Refused("The final block in an assistant message cannot be `thinking`.")


def _keep_to_cache_points(model: str, body: dict[str, Any], messages: Sequence[dict[str, Any]]) -> None:
    lists = [body.get("system", []), body.get("toolConfig", {}).get("tools", [])]
    lists += [message["content"] for message in messages]
    points = [(blocks, at) for blocks in lists for at, block in enumerate(blocks) if "cachePoint" in block]
    if points and not re.search("claude-(3-7|[a-z]+-)|nova", model):
        raise Refused("You invoked an unsupported model or your request did not allow prompt caching")
    if len(points) > MAX_CACHE_POINTS:
        raise Refused(f"{len(points)} cache points, at most {MAX_CACHE_POINTS}")
    for blocks, at in points:
        if at == 0 or {"cachePoint", "reasoningContent"} & set(blocks[at - 1]):
            raise Refused("a cache point needs something to cache before it")


def _keep_to_budget(body: dict[str, Any]) -> None:
    thinking = body.get("additionalModelRequestFields", {}).get("thinking")
    if not thinking:
        return
    limit = body.get("inferenceConfig", {}).get("maxTokens", 4096)
    if body.get("inferenceConfig", {}).get("temperature", 1) != 1:
        raise Refused("`temperature` may only be set to 1 when thinking is enabled")
    if thinking["type"] == "enabled" and not 1024 <= thinking["budget_tokens"] < limit:
        raise Refused(f"budget_tokens must be at least 1024 and below {limit}")
    if "any" in body.get("toolConfig", {}).get("toolChoice", {}):
        raise Refused("Thinking may not be enabled when tool_choice forces tool use")


def _stranger(request: Received) -> str | None:
    """Why the caller is not let in: a key that is not ours or a signature that does not fit."""
    authorization = request.headers.get("authorization", "")
    if authorization == f"Bearer {API_KEY}":
        return None
    found = re.fullmatch(
        r"AWS4-HMAC-SHA256 Credential=(\w+)/(\d{8})/([\w-]+)/bedrock/aws4_request, "
        r"SignedHeaders=([\w;-]+), Signature=([0-9a-f]{64})",
        authorization,
    )
    if not found or found[1] != KEY_ID:
        return "The security token included in the request is invalid."
    if found[3] != REGION or not {"host", "x-amz-date"} <= set(found[4].split(";")):
        return "Credential should be scoped to a valid region and sign host and date."
    return None if found[5] == _signature(request, found[4].split(";")) else "The signature does not match."


def _signature(request: Received, signed: Sequence[str]) -> str:
    headers = {name: request.headers[name] for name in signed}
    url = f"http://{request.headers['host']}{request.path}"
    unsigned = AWSRequest(request.method, url, headers, request.body)
    unsigned.context["timestamp"] = request.headers["x-amz-date"]
    auth = SigV4Auth(Credentials(KEY_ID, SECRET, TOKEN), "bedrock", REGION)
    return str(auth.signature(auth.string_to_sign(unsigned, auth.canonical_request(unsigned)), unsigned))


def _seal(text: str) -> str:
    return hashlib.sha256(b"seal " + text.encode()).hexdigest()


def _pieces(block: dict[str, Any], size: int) -> tuple[dict[str, Any] | None, list[dict[str, Any]]]:
    """How a stream says a block: what it starts with, and its deltas."""
    if "text" in block:
        return None, [{"text": piece} for piece in _cut(block["text"], size)]
    if "toolUse" in block:
        said = block["toolUse"]
        pieces = _cut(json.dumps(said["input"]), size)
        start = {"toolUse": {"toolUseId": said["toolUseId"], "name": said["name"]}}
        return start, [{"toolUse": {"input": piece}} for piece in pieces]
    reasoning = block["reasoningContent"]
    if "redactedContent" in reasoning:
        return None, [{"reasoningContent": reasoning}]
    deltas = [{"text": piece} for piece in _cut(reasoning["reasoningText"]["text"], size)]
    if signature := reasoning["reasoningText"].get("signature"):
        deltas.append({"signature": signature})
    return None, [{"reasoningContent": delta} for delta in deltas]


def _cut(text: str, size: int) -> list[str]:
    return [text[at : at + size] for at in range(0, len(text), size)]


def _header(name: str, value: str) -> bytes:
    key, text = name.encode(), value.encode()
    return bytes([len(key)]) + key + b"\x07" + struct.pack(">H", len(text)) + text
