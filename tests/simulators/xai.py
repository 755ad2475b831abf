"""A strict server for X search on loopback: xAI's Responses API with a memory for stored answers.

    async with XaiSimulator(says("Found it.", cited=["https://x.com/a/status/1"])) as server:
        ...                    # server.base_url, server.bodies, server.refusals, server.stored

Each reply of the script answers one request, the last one repeats. A request that the vendor would
reject gets an error in the vendor's words and is listed in `refusals`. An answer can be gone on from
when it was stored, and only then; what answers is told what was said before.
"""

import json
import re
import uuid
from collections.abc import Callable, Sequence
from datetime import date
from typing import Any

from simulators.codex_responses import USAGE, message
from simulators.model import ModelSimulator
from simulators.scripted import Received, http_reply
from simulators.typed import misfit

try:
    from openai.types.responses import Response
    from openai.types.responses.response_create_params import ResponseCreateParamsNonStreaming
    from pydantic import TypeAdapter
except ImportError:
    ORACLE = None
else:
    ORACLE = TypeAdapter(ResponseCreateParamsNonStreaming)
"""The types of a request on this wire; None where the SDK that has them is not installed."""

KEY = "xai-simulated-0123456789"
Turns = tuple[tuple[str, str], ...]
"""What was asked and answered before, first to last."""
Reply = Callable[[dict[str, Any], Turns], "dict[str, Any] | bytes"]

TOP_LEVEL = {
    "model", "input", "tools", "store", "reasoning", "text", "instructions", "previous_response_id",
}  # fmt: skip
FILTERS = {"allowed_x_handles": list, "excluded_x_handles": list, "from_date": str, "to_date": str}
SENSES = {"enable_image_understanding", "enable_video_understanding"}
HANDLE = re.compile(r"\w{1,15}", re.ASCII)


def says(
    text: str | Callable[[Turns], str],
    *,
    cited: Sequence[str | dict[str, Any]] = (),
    citations: Sequence[Any] | None = (),
    searches: int | None = None,
    **fields: Any,
) -> Reply:
    """Answer with text. `cited` are pages in the text, `citations` the list of those that were seen."""

    def reply(body: dict[str, Any], before: Turns) -> dict[str, Any]:
        answer = message(text if isinstance(text, str) else text(before))
        answer["content"][0]["annotations"] = [_annotation(page) for page in cited]
        usage = dict(USAGE)
        if searches is not None:
            usage["server_side_tool_usage_details"] = {"x_search_calls": searches, "web_search_calls": 0}
        return response(body, [_searched(body), answer], citations=citations, usage=usage) | fields

    return reply


def fails(status: int, words: Any = "no", code: str = "", **headers: object) -> Reply:
    """Refuse in the vendor's form, which has the words and a code side by side."""
    error = {"code": code, "error": words} if code else {"error": words}
    return raw(http_reply(status, json.dumps(error).encode(), content_type="application/json", **headers))


def raw(reply: bytes) -> Reply:
    return lambda _body, _before: reply


def response(body: dict[str, Any], output: list[dict[str, Any]], **fields: Any) -> dict[str, Any]:
    whole = {
        "object": "response", "created_at": 1.0, "model": body["model"], "status": "completed",
        "output": output, "error": None, "incomplete_details": None, "parallel_tool_calls": True,
        "tool_choice": "auto", "tools": [], "instructions": body.get("instructions"), "metadata": {},
        "temperature": 1.0, "top_p": 1.0, "store": body["store"],
        "previous_response_id": body.get("previous_response_id"),
    }  # fmt: skip
    return whole | fields


def _annotation(page: str | dict[str, Any]) -> dict[str, Any]:
    named = page if isinstance(page, dict) else {"url": page, "title": page}
    return {"type": "url_citation", "start_index": 0, "end_index": 0, **named}


def _searched(body: dict[str, Any]) -> dict[str, Any]:
    """The trace of a search that ran on the server's side."""
    query = json.dumps({"query": body["input"][-1]["content"], "limit": "10"})
    return {
        "type": "custom_tool_call", "id": "ctc_1", "call_id": "xs_call_1", "name": "x_keyword_search",
        "input": query, "status": "completed",
    }  # fmt: skip


class XaiSimulator(ModelSimulator):
    prefix = "/v1"

    def __init__(self, *script: Reply) -> None:
        super().__init__(*script)
        self.stored: dict[str, Turns] = {}

    def problem_with(self, request: Received, body: dict[str, Any]) -> str | None:
        if request.headers.get("authorization") != f"Bearer {KEY}":
            return "incorrect API key"
        if request.headers.get("content-type") != "application/json":
            return "the content type is not JSON"
        return refusal(request.path, body) or self._unknown(body)

    def refused(self, problem: str) -> bytes:
        status = 401 if "API key" in problem else 404 if "not found" in problem else 400
        reply = fails(status, problem, "invalid-argument")({}, ())
        assert isinstance(reply, bytes)
        return reply

    def answered(self, reply: Reply, request: Received, body: dict[str, Any]) -> bytes:
        before = self.stored.get(body.get("previous_response_id", ""), ())
        whole = reply(body, before)
        if isinstance(whole, bytes):
            return whole
        whole = {"id": str(uuid.uuid5(uuid.NAMESPACE_URL, f"{self.base_url}{len(self.bodies)}")), **whole}
        if ORACLE is not None:
            Response.model_validate(whole)
        if body["store"]:
            spoken = whole["output"][-1]["content"][0]["text"]
            self.stored[whole["id"]] = (*before, (body["input"][-1]["content"], spoken))
        return http_reply(200, json.dumps(whole).encode(), content_type="application/json")

    def _unknown(self, body: dict[str, Any]) -> str | None:
        previous = body.get("previous_response_id")
        if previous is None or previous in self.stored:
            return None
        return f"response {previous} not found"


def refusal(path: str, body: dict[str, Any]) -> str | None:
    """Why the vendor would refuse this request; None when it would not."""
    if path != "/v1/responses":
        return f"unknown path {path}"
    if unknown := set(body) - TOP_LEVEL:
        return f"unknown parameters {sorted(unknown)}"
    if not body.get("model") or not isinstance(body.get("store"), bool):
        return "model and store are required"
    if {"instructions", "previous_response_id"} <= set(body):
        return "instructions cannot be set together with previous_response_id"
    if not all(body.get(name, "x").strip() for name in ("instructions", "previous_response_id")):
        return "a blank text"
    return _refuse_input(body["input"]) or _refuse_tools(body["tools"]) or _refuse_rest(body)


def _refuse_input(items: list[dict[str, Any]]) -> str | None:
    if len(items) != 1 or set(items[0]) != {"role", "content"} or items[0]["role"] != "user":
        return "input: expected one message of the user"
    return None if items[0]["content"].strip() == items[0]["content"] != "" else "input: blank"


def _refuse_tools(tools: list[dict[str, Any]]) -> str | None:
    if len(tools) != 1 or tools[0].get("type") != "x_search":
        return "tools: expected x_search alone"
    tool = {name: value for name, value in tools[0].items() if name != "type"}
    if unknown := set(tool) - set(FILTERS) - SENSES:
        return f"x_search: unknown parameters {sorted(unknown)}"
    if any(tool[sense] is not True for sense in SENSES & set(tool)):
        return "x_search: a sense is true or absent"
    for name in FILTERS.keys() & tool.keys():
        if not isinstance(tool[name], FILTERS[name]) or not tool[name]:
            return f"x_search: {name} is empty or of another type"
    return _refuse_handles(tool) or _refuse_dates(tool)


def _refuse_handles(tool: dict[str, Any]) -> str | None:
    if {"allowed_x_handles", "excluded_x_handles"} <= set(tool):
        return "x_search: allowed and excluded handles exclude each other"
    handles = tool.get("allowed_x_handles") or tool.get("excluded_x_handles") or []
    if len(handles) > 10 or not all(HANDLE.fullmatch(handle) for handle in handles):
        return "x_search: at most 10 plain handles"
    return None


def _refuse_dates(tool: dict[str, Any]) -> str | None:
    dates = [tool[name] for name in ("from_date", "to_date") if name in tool]
    if any(date.fromisoformat(day).isoformat() != day for day in dates) or sorted(dates) != dates:
        return "x_search: dates are YYYY-MM-DD, in order"
    return None


def _refuse_rest(body: dict[str, Any]) -> str | None:
    if "reasoning" in body and body["reasoning"].get("effort") not in ("low", "medium", "high", "xhigh"):
        return "reasoning: unknown effort"
    if "text" in body:
        form = body["text"].get("format", {})
        if set(body["text"]) != {"format"} or set(form) != {"type", "name", "schema", "strict"}:
            return "text.format: expected type, name, schema and strict"
        if (
            form["type"] != "json_schema"
            or form["strict"] is not True
            or not isinstance(form["schema"], dict)
        ):
            return "text.format: expected a strict json_schema"
    # The SDK of this wire knows no `x_search`; all else is its own.
    return misfit(ORACLE, body | {"tools": [{"type": "web_search"}]}) if ORACLE is not None else None
