"""What comes in: the reply, whole or in events, and the response it adds up to."""

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from hermes.errors import InvalidResponse
from hermes.events import Delta, Reasoning, Text
from hermes.messages import FinishReason, NormalizedResponse, ToolCall, Usage, with_ids
from hermes.transports.base import count, read_event, read_reply
from hermes.transports.base.failures import failure_inside

BLOCKS = "anthropic_content_blocks"
"""Where a response keeps its blocks in order, when only their maker can read some of them."""
ANSWER_TOOL = "structured_answer"
"""The tool a model without structured output is made to answer through."""

FINISH: dict[str, FinishReason] = {
    "end_turn": "stop",
    "stop_sequence": "stop",
    "tool_use": "tool_calls",
    "max_tokens": "length",
    "model_context_window_exceeded": "length",
    "refusal": "content_filter",
    "pause_turn": "incomplete",
}
_STATUS = {
    "invalid_request_error": 400,
    "authentication_error": 401,
    "billing_error": 402,
    "permission_error": 403,
    "not_found_error": 404,
    "request_too_large": 413,
    "rate_limit_error": 429,
    "api_error": 500,
    "timeout_error": 504,
    "overloaded_error": 529,
}
THOUGHT = ("thinking", "redacted_thinking")

Block = dict[str, Any]


class Content(msgspec.Struct):
    """A block of a whole reply or the start of one in a stream: the same keys."""

    type: str = ""
    text: str | None = None
    thinking: str | None = None
    signature: str | None = None
    data: str | None = None
    id: str | None = None
    name: str | None = None
    input: Any = None
    citations: list[dict[str, Any]] | None = None


class _ContentDelta(msgspec.Struct):
    type: str = ""
    text: str | None = None
    thinking: str | None = None
    signature: str | None = None
    partial_json: str | None = None
    citation: dict[str, Any] | None = None
    stop_reason: Any = None
    stop_details: dict[str, Any] | None = None


class _Reply(msgspec.Struct):
    """A whole reply, and what a stream starts with."""

    type: str = ""
    model: str | None = None
    content: list[Content] | None = None
    stop_reason: Any = None
    stop_details: dict[str, Any] | None = None
    usage: dict[str, Any] | None = None
    error: Any = None


class _WireEvent(msgspec.Struct):
    type: str = ""
    index: int = 0
    message: _Reply | None = None
    content_block: Content | None = None
    delta: _ContentDelta | None = None
    usage: dict[str, Any] | None = None
    error: Any = None


_decode_event = msgspec.json.Decoder(_WireEvent).decode
decode_reply = msgspec.json.Decoder(_Reply).decode


class _Slot:
    """One block while its pieces arrive. `pieces` is its text, its thinking, or its input as JSON."""

    def __init__(self, start: Content) -> None:
        self.kind = "answer" if start.type == "tool_use" and start.name == ANSWER_TOOL else start.type
        self.start = start
        self.pieces: list[str] = []
        self.signature = start.signature or ""
        self.citations: list[dict[str, Any]] = list(start.citations or ())

    def text(self) -> str:
        if not self.pieces and self.start.type == "tool_use" and self.start.input:
            return msgspec.json.encode(self.start.input).decode()
        return "".join(self.pieces)

    def call(self, names: Mapping[str, str]) -> ToolCall:
        name = self.start.name or ""
        return ToolCall(id=self.start.id, name=names.get(name, name), arguments=self.text() or "{}")

    def stored(self) -> Block:
        """The block as it is kept for replay: what its maker takes back, and nothing else."""
        match self.kind:
            case "thinking":
                return {"type": "thinking", "thinking": self.text(), "signature": self.signature}
            case "redacted_thinking":
                return {"type": "redacted_thinking", "data": self.start.data or ""}
            case "tool_use":
                return {"type": "tool_use"}
        block = {"type": "text", "text": self.text()}
        return block | ({"citations": self.citations} if self.citations else {})


class Assembler:
    """Builds one response. The blocks of a whole reply are opened one by one, as a stream would."""

    def __init__(self, names: Mapping[str, str]) -> None:
        self._names = names
        self._events = 0
        self._slots: dict[int, _Slot] = {}
        self._text: list[str] = []
        self._reasoning: list[str] = []
        self._stop: object = None
        self.has_ended = False
        self._usage: dict[str, Any] = {}
        self._data: dict[str, Any] = {}

    def feed(self, payload: bytes) -> Sequence[Delta]:
        if not payload or payload == b"[DONE]":
            return ()
        self._events += 1
        event = read_event(_decode_event, payload, self._events)
        match event.type:
            case "error":
                raise failure_inside(event.error, _STATUS)
            case "message_start" if event.message is not None:
                self._take_reply(event.message)
            case "content_block_start" if event.content_block is not None:
                return self._open(event.index, event.content_block)
            case "content_block_delta" if event.delta is not None:
                return self._extend(event.index, event.delta)
            case "message_delta":
                self._take_usage(event.usage)
                if event.delta is not None:
                    self._take_stop(event.delta.stop_reason, event.delta.stop_details)
            case "message_stop":
                self.has_ended = True
        return ()

    def feed_whole(self, body: bytes) -> Sequence[Delta]:
        self._events += 1
        reply = read_reply(decode_reply, body)
        if reply.error is not None:
            raise failure_inside(reply.error, _STATUS)
        if reply.content is None:
            raise InvalidResponse("the reply has no content")
        self._take_reply(reply)
        self.has_ended = True
        return [delta for index, block in enumerate(reply.content) for delta in self._open(index, block)]

    def finish(self) -> NormalizedResponse:
        if not self._slots and self._stop is None:
            raise InvalidResponse("the provider sent an empty reply")
        reason = map_finish_reason(self._stop)
        if not self.has_ended:
            self._data["partial"] = True
            reason = "length"
        elif self._stop is not None and str(self._stop) not in FINISH:
            self._data["raw_finish_reason"] = str(self._stop)
        calls = self._calls(cut=reason == "length") if reason != "content_filter" else ()
        if calls and reason == "stop":
            reason = "tool_calls"
        elif reason == "tool_calls" and not calls:
            reason = "stop"
        slots = self._slots.values()
        if self.has_ended and reason != "content_filter" and any(slot.kind in THOUGHT for slot in slots):
            self._data[BLOCKS] = [slot.stored() for slot in slots]
        return NormalizedResponse(
            content="".join(self._text) or self._data.get("refusal"),
            tool_calls=list(calls) or None,
            finish_reason=reason,
            reasoning="".join(self._reasoning) or None,
            usage=read_usage(self._usage) if self._usage else None,
            provider_data=self._data or None,
        )

    def _calls(self, *, cut: bool) -> tuple[ToolCall, ...]:
        slots = list(self._slots.values())
        calls: list[ToolCall] = []
        for slot in slots:
            if slot.kind == "tool_use":
                call = slot.call(self._names)
                # The last block of a cut reply may look whole and still miss its end.
                truncated = cut and (slot is slots[-1] or not isinstance(call.parse(), dict))
                calls.append(msgspec.structs.replace(call, truncated=truncated))
        return with_ids(calls)

    def _take_reply(self, reply: _Reply) -> None:
        if reply.model:
            self._data["model"] = reply.model
        self._take_usage(reply.usage)
        self._take_stop(reply.stop_reason, reply.stop_details)

    def _take_usage(self, usage: Mapping[str, Any] | None) -> None:
        """Counts are cumulative, so a later one replaces; an endpoint that repeats none sends zeros."""
        self._usage.update({key: value for key, value in (usage or {}).items() if value})

    def _take_stop(self, reason: object, details: Mapping[str, Any] | None) -> None:
        if reason is not None:
            self._stop = reason
        if details and details.get("explanation"):
            self._data["refusal"] = str(details["explanation"])

    def _open(self, index: int, start: Content) -> Sequence[Delta]:
        slot = self._slots[index] = _Slot(start)
        if slot.kind == "answer" and start.input:
            return self._add(slot, slot.text())
        return self._add(slot, (start.thinking if slot.kind == "thinking" else start.text) or "")

    def _extend(self, index: int, delta: _ContentDelta) -> Sequence[Delta]:
        slot = self._slots.get(index)
        if slot is None:
            raise InvalidResponse(f"event {self._events} of the reply continues a block that never began")
        if delta.signature is not None:
            slot.signature = delta.signature
        if delta.citation is not None:
            slot.citations.append(delta.citation)
        return self._add(slot, delta.text or delta.thinking or delta.partial_json or "")

    def _add(self, slot: _Slot, piece: str) -> Sequence[Delta]:
        if not piece:
            return ()
        is_first = not slot.pieces
        slot.pieces.append(piece)
        if slot.kind in ("text", "answer"):
            shown = self._gap(slot) + piece if is_first else piece
            self._text.append(shown)
            return (Text(shown),)
        if slot.kind == "thinking":
            shown = f"\n\n{piece}" if is_first and self._reasoning else piece
            self._reasoning.append(shown)
            return (Reasoning(shown),)
        return ()

    def _gap(self, slot: _Slot) -> str:
        """What stands before a text: nothing where two texts touch, as those split by citations do."""
        slots = list(self._slots.values())
        before = slots[slots.index(slot) - 1].kind
        return "" if not self._text or before in ("text", "answer") else "\n"


def map_finish_reason(reason: object) -> FinishReason:
    """One of the closed set; what nobody knows counts as an ordinary end."""
    return FINISH.get(str(reason), "stop")


def read_usage(usage: Mapping[str, Any]) -> Usage:
    """The wire counts what a cache read or wrote beside the input; here the prompt is all of it."""
    read, write = count(usage.get("cache_read_input_tokens")), count(usage.get("cache_creation_input_tokens"))
    prompt, completion = count(usage.get("input_tokens")) + read + write, count(usage.get("output_tokens"))
    details = usage.get("output_tokens_details")
    return Usage(
        prompt_tokens=prompt,
        completion_tokens=completion,
        total_tokens=prompt + completion,
        cached_tokens=read,
        cache_write_tokens=write,
        reasoning_tokens=count(details.get("thinking_tokens")) if isinstance(details, Mapping) else 0,
    )
