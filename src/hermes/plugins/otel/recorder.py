"""What the hooks tell, as spans: a turn, and within it its model calls and its tool calls.

A tool call is within the turn and follows from the model call that asked for it, which is over by then.
"""

import threading
import time
from collections.abc import Callable, Mapping
from typing import Any

import msgspec

from . import names
from .sinks import Attributes, Opened, Sink

Payload = Mapping[str, Any]


class Turn:
    """A turn that is under way: its span, those of its model calls, and when its tool calls were heard of."""

    def __init__(self, span: Opened) -> None:
        self.span = span
        self.calls: dict[str, Opened] = {}
        self.heard: dict[str, float] = {}


class Recorder:
    """Takes the hooks' payloads, from any thread. `redact` is for content, which is told only on request."""

    def __init__(
        self,
        sink: Sink,
        *,
        content: bool,
        redact: Callable[[str], str] = str,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._sink = sink
        self._content = content
        self._redact = redact
        self._clock = clock
        self._turns: dict[str, Turn] = {}
        self._firsts: dict[tuple[str, int], float] = {}
        self._lock = threading.Lock()

    def begin_turn(self, **told: Any) -> None:
        attributes = {names.OPERATION: "invoke_agent", names.AGENT: "hermes", **_conversation(told)}
        span = self._sink.open("invoke_agent hermes", attributes, self._clock())
        with self._lock:
            self._turns[told["turn_id"]] = Turn(span)

    def end_turn(self, **told: Any) -> None:
        with self._lock:
            turn = self._turns.pop(told["turn_id"], None)
        if turn is None:
            return
        error = "interrupted" if told["interrupted"] else "" if told["completed"] else "incomplete"
        attributes = {names.REQUEST_MODEL: told["model"], **_failed(error)}
        turn.span.end(attributes, error, self._clock())

    def first_chunk(self, delta: str, api_request_id: str, attempt: int) -> None:
        """Note when an answer began; called for every piece, so it does nothing else."""
        if delta:
            self._firsts.setdefault((api_request_id, attempt), self._clock())

    def model_call(self, **told: Any) -> None:
        usage = told["usage"] or {}
        counts = {
            names.INPUT_TOKENS: usage.get("input_tokens"),
            names.OUTPUT_TOKENS: usage.get("output_tokens"),
            names.CACHE_READ_TOKENS: usage.get("cache_read_tokens"),
        }
        attributes = {
            names.RESPONSE_MODEL: told["response_model"],
            names.FINISH_REASONS: [told["finish_reason"]],
            **{name: count for name, count in counts.items() if count is not None},
        }
        if self._content:
            attributes[names.INPUT_MESSAGES] = self._text(_said(told["request"]))
            attributes[names.OUTPUT_MESSAGES] = self._text([told["assistant_message"]])
        self._model_span(told, attributes)
        about = self._about_call(told)
        for kind, name in (("input", names.INPUT_TOKENS), ("output", names.OUTPUT_TOKENS)):
            if (count := counts[name]) is not None:
                self._measure("gen_ai.client.token.usage", count, {**about, names.TOKEN_TYPE: kind}, told)

    def failed_model_call(self, **told: Any) -> None:
        attributes = {names.INPUT_MESSAGES: self._text(_said(told["request"]))} if self._content else {}
        self._model_span(told, attributes, str(told["status_code"] or told["reason"]))

    def hear_of_tool(self, **told: Any) -> None:
        with self._lock:
            turn = self._turns.get(told["turn_id"])
            if turn is not None:
                turn.heard[told["tool_call_id"]] = self._clock()

    def tool_call(self, **told: Any) -> None:
        with self._lock:
            turn = self._turns.get(told["turn_id"])
            heard = turn.heard.pop(told["tool_call_id"], None) if turn else None
            asked = turn.calls.get(told["api_request_id"]) if turn else None
        ended = self._clock()
        was_cut = told["status"] == "cancelled" and heard is not None
        error = "" if told["status"] == "ok" else told["error_type"] or told["status"]
        attributes = {
            names.OPERATION: "execute_tool",
            names.TOOL: told["tool_name"],
            names.TOOL_CALL: told["tool_call_id"],
            **_conversation(told),
            **_failed(error),
        }
        if self._content:
            attributes[names.TOOL_ARGUMENTS] = self._text(told["args"])
            attributes[names.TOOL_RESULT] = self._redact(told["result"])
        began = heard if was_cut and heard is not None else ended - told["duration_ms"] / 1000
        span = self._sink.span(
            f"execute_tool {told['tool_name']}",
            attributes,
            began=began,
            ended=ended,
            within=turn.span if turn else None,
            after=asked,
            error=error,
        )
        self._middleware_spans("tool_execution", told, span, began)

    def _model_span(self, told: Payload, attributes: Attributes, error: str = "") -> None:
        first = self._firsts.pop((told["api_request_id"], told["attempt"]), None)
        about = {**self._about_call(told), **_failed(error)}
        waited = {names.FIRST_CHUNK: first - told["started_at"]} if first is not None else {}
        with self._lock:
            turn = self._turns.get(told["turn_id"])
        span = self._sink.span(
            f"chat {told['model']}",
            {**about, **_conversation(told), names.ATTEMPT: told["attempt"], **waited, **attributes},
            began=told["started_at"],
            ended=told["ended_at"],
            within=turn.span if turn else None,
            error=error,
            notes=[(names.REWRITE, _flat(event)) for event in told["middleware_events"]],
        )
        self._middleware_spans("llm_execution", told, span, told["started_at"])
        if turn is not None:
            turn.calls[told["api_request_id"]] = span
        self._measure("gen_ai.client.operation.duration", told["api_duration"], about, told)
        for seconds in waited.values():
            self._measure("gen_ai.client.operation.time_to_first_chunk", seconds, about, told)

    def _middleware_spans(self, kind: str, told: Payload, within: Opened, began: float) -> None:
        """What plugins wrapped around a call, each as a span from its beginning to its end."""
        for frame in told["middleware_frames"]:
            at = began + frame["after_ms"] / 1000
            self._sink.span(
                f"{kind} {frame['plugin']}",
                {
                    names.PLUGIN: frame["plugin"],
                    names.CALLBACK: frame["callback"],
                    names.OWN_TIME: frame["own_ms"] / 1000,
                },
                began=at,
                ended=at + frame["duration_ms"] / 1000,
                within=within,
            )

    def _about_call(self, told: Payload) -> dict[str, Any]:
        return {
            names.OPERATION: "chat",
            names.PROVIDER: names.PROVIDERS.get(told["provider"], told["provider"]),
            names.REQUEST_MODEL: told["model"],
        }

    def _measure(self, metric: str, value: float, attributes: Attributes, told: Payload) -> None:
        self._sink.measure(metric, value, attributes, told["ended_at"])

    def _text(self, value: object) -> str:
        return self._redact(msgspec.json.encode(value, enc_hook=repr).decode())


def _conversation(told: Payload) -> dict[str, str]:
    return {names.CONVERSATION: told["session_id"]} if told["session_id"] else {}


def _failed(error: str) -> dict[str, str]:
    return {names.ERROR: error} if error else {}


def _said(request: Payload) -> Any:
    """What the model was sent, as its wire has it, after every plugin had its say."""
    body = request["body"]
    return body.get("messages") or body.get("input") or body


def _flat(event: Payload) -> dict[str, Any]:
    """An event of middleware with attributes that a span can have."""
    return {f"hermes.{name}": value for name, value in event.items() if isinstance(value, str | list)}
