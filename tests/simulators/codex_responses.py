"""A strict Responses server on loopback: it refuses what the vendor refuses, and what its own types refuse.

    async with ResponsesSimulator(calls(("web_search", {"query": "x"})), says("Found it. [1]")) as server:
        ...                    # server.base_url, server.bodies, server.refusals

Each reply of the script answers one request, the last one repeats. A request that the vendor would
reject gets a 400 whose words say why, and is listed in `refusals`.
"""

import json
import re
from collections.abc import Callable, Iterator
from typing import Any

from simulators.model import ModelSimulator
from simulators.scripted import Received, http_reply
from simulators.typed import misfit

try:
    from openai.types.responses.response_create_params import (
        ResponseCreateParamsNonStreaming,
        ResponseCreateParamsStreaming,
    )
    from pydantic import TypeAdapter
except ImportError:
    ORACLE = None
else:
    ORACLE = {
        True: TypeAdapter(ResponseCreateParamsStreaming),
        False: TypeAdapter(ResponseCreateParamsNonStreaming),
    }
"""The vendor's own types of a request, by whether it streams; None where its SDK is not installed."""

Reply = Callable[[dict[str, Any]], bytes]

TOP_LEVEL = {
    "model", "store", "instructions", "max_output_tokens", "stream", "reasoning", "include", "text", "tools",
    "tool_choice", "parallel_tool_calls", "prompt_cache_key", "input", "temperature",
}  # fmt: skip
USAGE = {
    "input_tokens": 10, "input_tokens_details": {"cached_tokens": 4, "cache_write_tokens": 0},
    "output_tokens": 5, "output_tokens_details": {"reasoning_tokens": 2}, "total_tokens": 15,
}  # fmt: skip
SERVER_TOOLS = ({"type": "web_search"},)
"""Tools that the vendor runs on its own side."""
TOOL_NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}")
PLAIN_MODEL = re.compile(r"gpt-4|gpt-3|-chat-latest")
SEAL = "gAAAA-sim-"
"""What every encrypted reasoning of this server begins with; anything else it cannot decrypt."""


def message(
    text: str, number: int = 0, *, phase: str | None = None, status: str = "completed"
) -> dict[str, Any]:
    part = {"type": "output_text", "text": text, "annotations": [], "logprobs": []}
    item = {
        "id": f"msg_{number}",
        "type": "message",
        "role": "assistant",
        "status": status,
        "content": [part],
    }
    return item | ({"phase": phase} if phase else {})


def reasoning(summary: str, number: int = 0, *, seal: str = SEAL) -> dict[str, Any]:
    parts = [{"type": "summary_text", "text": summary}] if summary else []
    return {
        "id": f"rs_{number}",
        "type": "reasoning",
        "summary": parts,
        "encrypted_content": f"{seal}{number}",
    }


def function_call(name: str, arguments: Any, id: str, *, status: str = "completed") -> dict[str, Any]:
    text = arguments if isinstance(arguments, str) else json.dumps(arguments)
    return {
        "id": f"fc_{id}", "type": "function_call", "call_id": f"call_{id}", "name": name, "arguments": text,
        "status": status,
    }  # fmt: skip


def says(text: str, *, thought: str | None = None, ends: bool = True, **fields: Any) -> Reply:
    """Answer with text, after a thought if there is one; `ends=False` breaks off before the last event."""

    def reply(body: dict[str, Any]) -> bytes:
        turn = len(body["input"])
        output = [reasoning(thought, turn)] if thought is not None else []
        return answers(*output, message(text, turn), ends=ends, **fields)(body)

    return reply


def calls(*wanted: tuple[str, Any], thought: str | None = None, text: str | None = None) -> Reply:
    """Answer with tool calls; arguments that are text are sent as they are."""

    def reply(body: dict[str, Any]) -> bytes:
        turn = len(body["input"])
        output = [reasoning(thought, turn)] if thought is not None else []
        output += [message(text, turn, phase="commentary")] if text else []
        output += [function_call(name, args, f"{turn}_{n}") for n, (name, args) in enumerate(wanted)]
        return answers(*output)(body)

    return reply


def answers(*output: dict[str, Any], ends: bool = True, **fields: Any) -> Reply:
    """Answer with these items, streamed in pieces when asked to."""

    def reply(body: dict[str, Any]) -> bytes:
        whole = response(output, model=body["model"], **fields)
        if not body.get("stream"):
            return http_reply(200, json.dumps(whole).encode(), content_type="application/json")
        sent = events(whole)
        lines = [f"event: {e['type']}\ndata: {json.dumps(e)}\n\n" for e in (sent if ends else sent[:-1])]
        return http_reply(200, "".join(lines).encode(), content_type="text/event-stream; charset=utf-8")

    return reply


def fails(status: int, words: str = "no", **headers: object) -> Reply:
    body = json.dumps({"error": {"message": words, "type": "test", "param": None, "code": None}}).encode()
    return lambda _request: http_reply(status, body, content_type="application/json", **headers)


def raw(reply: bytes) -> Reply:
    return lambda _request: reply


def response(output: Any, *, model: str = "m", status: str = "completed", **fields: Any) -> dict[str, Any]:
    whole = {
        "id": "resp_1", "object": "response", "created_at": 1.0, "model": model, "status": status,
        "output": list(output), "usage": {**USAGE}, "error": None, "incomplete_details": None,
        "parallel_tool_calls": True, "tool_choice": "auto", "tools": [], "instructions": None, "metadata": {},
        "temperature": 1.0, "top_p": 1.0,
    }  # fmt: skip
    return whole | fields


def events(whole: dict[str, Any], size: int = 7) -> list[dict[str, Any]]:
    """The stream of a whole reply, its text in pieces of `size`; the last event is the terminal one."""
    began = whole | {"status": "in_progress", "output": [], "usage": None, "incomplete_details": None}
    made: list[dict[str, Any]] = [
        {"type": f"response.{kind}", "response": began} for kind in ("created", "in_progress")
    ]
    for index, item in enumerate(whole["output"]):
        made += [
            {"output_index": index, "item_id": item.get("id", ""), **event}
            for event in _item_events(item, size)
        ]
    made.append({"type": f"response.{whole['status']}", "response": whole})
    return [{"sequence_number": number, **event} for number, event in enumerate(made)]


def _item_events(item: dict[str, Any], size: int) -> Iterator[dict[str, Any]]:
    opened = item | {"status": "in_progress"}
    if item["type"] == "message":
        yield {"type": "response.output_item.added", "item": opened | {"content": []}}
        for number, part in enumerate(item["content"]):
            kind, key = ("refusal", "refusal") if "refusal" in part else ("output_text", "text")
            at = {"content_index": number}
            yield {"type": "response.content_part.added", "part": part | {key: ""}, **at}
            for piece in _pieces(part[key], size):
                yield {"type": f"response.{kind}.delta", "delta": piece, "logprobs": [], **at}
            yield {"type": f"response.{kind}.done", key: part[key], "logprobs": [], **at}
            yield {"type": "response.content_part.done", "part": part, **at}
    elif item["type"] == "reasoning":
        yield {
            "type": "response.output_item.added",
            "item": opened | {"summary": [], "encrypted_content": "gA"},
        }
        for number, part in enumerate(item["summary"]):
            at = {"summary_index": number}
            yield {"type": "response.reasoning_summary_part.added", "part": part | {"text": ""}, **at}
            for piece in _pieces(part["text"], size):
                yield {"type": "response.reasoning_summary_text.delta", "delta": piece, **at}
            yield {"type": "response.reasoning_summary_text.done", "text": part["text"], **at}
            yield {"type": "response.reasoning_summary_part.done", "part": part, **at}
    elif item["type"] == "function_call":
        yield {"type": "response.output_item.added", "item": opened | {"arguments": ""}}
        for piece in _pieces(item["arguments"], size):
            yield {"type": "response.function_call_arguments.delta", "delta": piece}
        name = {"name": item["name"]}
        yield {"type": "response.function_call_arguments.done", "arguments": item["arguments"], **name}
    else:
        yield {"type": "response.output_item.added", "item": opened}
    yield {"type": "response.output_item.done", "item": item}


def _pieces(text: str, size: int) -> list[str]:
    return [text[at : at + size] for at in range(0, len(text), size)]


class ResponsesSimulator(ModelSimulator):
    """With `keeps_items` it knows reasoning by its id, as the vendor's server does when it stores."""

    prefix = "/v1"

    def __init__(self, *script: Reply, keeps_items: bool = False) -> None:
        super().__init__(*script)
        self._keeps_items = keeps_items

    def problem_with(self, request: Received, body: dict[str, Any]) -> str | None:
        return refusal(request.path, body, keeps_items=self._keeps_items)

    def refused(self, problem: str) -> bytes:
        return fails(400, problem)({})


def refusal(path: str, body: dict[str, Any], *, keeps_items: bool = False) -> str | None:
    """Why the vendor would refuse this request; None when it would not."""
    if path != "/v1/responses":
        return f"unknown path {path}"
    if unknown := set(body) - TOP_LEVEL:
        return f"unknown parameters {sorted(unknown)}"
    if not body.get("model") or not body.get("input"):
        return "model and input are required"
    if body.get("store") is not False:
        return "this server keeps nothing: store must be false"
    if body.get("max_output_tokens", 16) < 16:
        return "max_output_tokens: expected a value >= 16"
    if len(body.get("prompt_cache_key", "")) > 64:
        return "prompt_cache_key: longer than 64"
    if PLAIN_MODEL.search(body["model"]) and ("reasoning" in body or "include" in body):
        return "reasoning and encrypted content are not supported with this model"
    if "temperature" in body and not PLAIN_MODEL.search(body["model"]):
        return "unsupported parameter: 'temperature' is not supported with this model"
    known_by_id = [item["id"] for item in body["input"] if item.get("type") == "reasoning" and "id" in item]
    if known_by_id and not keeps_items:
        return f"items {known_by_id} not found: items are not persisted when store is false"
    return _refuse_tools(body) or _refuse_items(body["input"]) or _refuse_types(body)


def _refuse_tools(body: dict[str, Any]) -> str | None:
    if "tools" not in body:
        without = {"tool_choice", "parallel_tool_calls"} & set(body)
        return f"{sorted(without)} need tools" if without else None
    if not body["tools"]:
        return "tools: empty"
    for tool in body["tools"]:
        if tool in SERVER_TOOLS:
            continue
        if not TOOL_NAME.fullmatch(tool["name"]) or tool["parameters"]["type"] != "object":
            return f"invalid tool {tool['name']!r}"
    return None


def _refuse_items(items: list[dict[str, Any]]) -> str | None:
    """Every call has its output before anybody speaks again, and reasoning stands before what came of it."""
    open_calls: list[str] = []
    for number, item in enumerate(items):
        kind = item.get("type", "message")
        problem = _refuse_item(kind, item)
        if problem:
            return f"input[{number}]: {problem}"
        if kind == "function_call":
            if item["call_id"] in open_calls:
                return f"input[{number}]: call_id {item['call_id']} is used twice"
            open_calls.append(item["call_id"])
        elif kind == "function_call_output":
            if item["call_id"] not in open_calls:
                return f"input[{number}]: no tool call found for {item['call_id']}"
            open_calls.remove(item["call_id"])
        elif open_calls and item.get("role") in ("user", "developer"):
            return f"input[{number}]: no tool output found for {open_calls}"
        elif kind == "reasoning" and not _is_made_by_model(items[number + 1 : number + 2]):
            return f"input[{number}]: reasoning was provided without its required following item"
    return f"no tool output found for {open_calls}" if open_calls else None


def _is_made_by_model(following: list[dict[str, Any]]) -> bool:
    return any(
        item.get("role") == "assistant" or item.get("type") in ("reasoning", "function_call")
        for item in following
    )


def _refuse_item(kind: str, item: dict[str, Any]) -> str | None:
    if kind == "reasoning":
        if not str(item.get("encrypted_content")).startswith(SEAL):
            return "the encrypted content could not be verified"
    elif kind == "function_call":
        if "id" in item and not item["id"].startswith("fc_"):
            return "id: expected an id that begins with fc"
        if not TOOL_NAME.fullmatch(item["name"]) or not isinstance(json.loads(item["arguments"]), dict):
            return f"name or arguments of {item['name']!r} are invalid"
    elif "id" in item and not (item["id"].startswith("msg_") and len(item["id"]) <= 64):
        return f"id: invalid {item['id']!r}"
    if "call_id" in item and not 0 < len(item["call_id"]) <= 64:
        return "call_id: expected 1 to 64 characters"
    parts = item.get("content") or item.get("output") or ()
    for part in parts if isinstance(parts, list) else ():
        if part["type"] == "input_image" and not re.match(
            r"data:image/\w+;base64,|https?://", part["image_url"]
        ):
            return "image_url: expected a valid URL"
    return None


def _refuse_types(body: dict[str, Any]) -> str | None:
    """What the vendor's own types say. They demand an id of a reasoning item that the server then
    cannot find, so that one is lent to it here."""
    if ORACLE is None:
        return None
    lent = [{"id": "rs_lent", **item} if item.get("type") == "reasoning" else item for item in body["input"]]
    return misfit(ORACLE[bool(body.get("stream"))], body | {"input": lent})
