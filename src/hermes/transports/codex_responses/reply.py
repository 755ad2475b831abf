"""The reply coming in: its events, or the whole of it, put together into one response."""

import re
from collections.abc import Mapping, Sequence
from typing import Any, Literal

import msgspec

from hermes.errors import InvalidResponse
from hermes.events import Delta, Reasoning, Text
from hermes.messages import FinishReason, NormalizedResponse, Usage, with_ids
from hermes.transports.base import count, count_in, read_event, read_reply
from hermes.transports.base.failures import failure_inside
from hermes.transports.codex_responses.items import ASIDES, Collected, Item, Part

FINISH: dict[str, FinishReason] = {
    "completed": "stop",
    "stop": "stop",
    "tool_calls": "tool_calls",
    "max_output_tokens": "length",
    "length": "length",
    "content_filter": "content_filter",
    "max_messages": "incomplete",
    "steered": "incomplete",
    "incomplete": "incomplete",
    "queued": "incomplete",
    "in_progress": "incomplete",
}
_TERMINAL = {f"response.{status}": status for status in ("completed", "incomplete", "failed", "cancelled")}

_LEAKED_CALL = re.compile(
    r"^\W*(?:(?:assistant|commentary|analysis)\W+)*to=functions\.[\w.-]+[^{\n]*\{", re.MULTILINE
)
"""A call that the model wrote as text instead of making it."""


class _Incomplete(msgspec.Struct):
    reason: str | None = None


class _Response(msgspec.Struct):
    id: str | None = None
    model: str | None = None
    status: str | None = None
    output: list[Item] | None = None
    output_text: str | None = None
    usage: dict[str, Any] | None = None
    error: Any = None
    incomplete_details: _Incomplete | None = None


class _WireEvent(msgspec.Struct):
    type: str = ""
    sequence_number: int = 0
    output_index: int | None = None
    item_id: str | None = None
    summary_index: int = 0
    content_index: int = 0
    delta: Any = None
    item: Item | None = None
    response: _Response | None = None
    error: Any = None
    code: Any = None
    message: Any = None


_decode_event = msgspec.json.Decoder(_WireEvent).decode
decode_response = msgspec.json.Decoder(_Response).decode

_Channel = Literal["text", "refusal", "summary", "thought", "arguments"]
_PIECES: dict[str, _Channel] = {
    "response.output_text.delta": "text",
    "response.refusal.delta": "refusal",
    "response.reasoning_summary_text.delta": "summary",
    "response.reasoning_text.delta": "thought",
    "response.function_call_arguments.delta": "arguments",
    "response.custom_tool_call_input.delta": "arguments",
}


class _Slot:
    """One item while its pieces arrive; the item that closes it is believed over its pieces."""

    def __init__(self, place: int) -> None:
        self.place = place
        self.opened = Item()
        self.closed: Item | None = None
        self.shown: list[str] = []
        self._pieces: dict[tuple[_Channel, int], list[tuple[int, str]]] = {}

    def add(self, channel: _Channel, part: int, number: int, text: str) -> None:
        self._pieces.setdefault((channel, part), []).append((number, text))

    def item(self) -> Item:
        """The whole item, or as much of it as has arrived."""
        if self.closed is not None:
            return self.closed
        return msgspec.structs.replace(
            self.opened,
            type=self.opened.type or self._guessed_type(),
            status="incomplete",
            content=[
                *(Part("output_text", text=text) for text in self._joined("text")),
                *(Part("refusal", refusal=text) for text in self._joined("refusal")),
                *(Part("reasoning_text", text=text) for text in self._joined("thought")),
            ],
            summary=[Part("summary_text", text=text) for text in self._joined("summary")],
            # What was encrypted when the item was opened may lack its end.
            encrypted_content=None,
            arguments="".join(self._joined("arguments")),
        )

    def _guessed_type(self) -> str:
        channels = {channel for channel, _ in self._pieces}
        if channels & {"summary", "thought"}:
            return "reasoning"
        return "function_call" if "arguments" in channels else "message"

    def _joined(self, wanted: _Channel) -> list[str]:
        found = sorted(
            (part, pieces) for (channel, part), pieces in self._pieces.items() if channel == wanted
        )
        return [
            "".join(text for _, text in sorted(pieces, key=lambda piece: piece[0])) for _, pieces in found
        ]


class Assembler:
    """Builds one response. A whole reply is taken item by item, so both paths end in the same state."""

    def __init__(self, names: Mapping[str, str]) -> None:
        self._names = names
        self._events = 0
        self._slots: dict[int | str, _Slot] = {}
        self._last_shown: dict[type[Delta], object] = {}
        self._status: str | None = None
        self._why: str | None = None
        self._output_text: str | None = None
        self._usage: Usage | None = None
        self._data: dict[str, Any] = {}

    @property
    def has_ended(self) -> bool:
        return self._status is not None

    def feed(self, payload: bytes) -> Sequence[Delta]:
        if not payload or payload == b"[DONE]":
            return ()
        self._events += 1
        event = read_event(_decode_event, payload, self._events)
        if event.type in _PIECES:
            return self._take_piece(_PIECES[event.type], event)
        if event.item is not None:
            slot = self._slot(event)
            if event.type == "response.output_item.done":
                return self._close(slot, event.item)
            slot.opened = event.item
        elif event.type == "error" or (not event.type and event.error is not None):
            raise failure_inside(event.error or {"code": event.code, "message": event.message})
        elif event.response is not None:
            return self._hear(event.response, _TERMINAL.get(event.type))
        return ()

    def feed_whole(self, body: bytes) -> Sequence[Delta]:
        response = read_reply(decode_response, body)
        # A whole reply is complete by arriving; servers that name no status mean an ordinary end.
        return self._hear(response, response.status or "completed")

    def finish(self) -> NormalizedResponse:
        items = [slot.item() for slot in sorted(self._slots.values(), key=lambda slot: slot.place)]
        if not items and not self._output_text and self._status in (None, "completed"):
            raise InvalidResponse("the provider sent an empty reply")
        said = Collected(items, self._names, cut=self._status != "completed")
        text, reason = said.text() or self._output_text, self._reason(said)
        data = self._data | said.data()
        if text and not said.calls and _LEAKED_CALL.search(text):
            data["leaked_call"], text, reason = text, None, "incomplete" if reason == "stop" else reason
            data.pop("codex_message_items", None)
        if text is None and not said.calls and said.refusals:
            text, reason = data["refusal"], "content_filter" if reason == "stop" else reason
        return NormalizedResponse(
            content=text,
            tool_calls=list(with_ids(said.calls)) or None,
            finish_reason=reason,
            reasoning="\n\n".join(said.thoughts) or None,
            usage=self._usage,
            provider_data=data or None,
        )

    def _reason(self, said: Collected) -> FinishReason:
        if self._status is None:
            self._data["partial"] = True
            return "length"
        if self._status != "completed":
            if self._why is not None and self._why not in FINISH:
                self._data["raw_finish_reason"] = self._why
            return FINISH.get(self._why or self._status, "incomplete")
        if said.calls:
            return "tool_calls"
        if said.texts or said.refusals or self._output_text:
            return "stop"
        return "incomplete" if said.thoughts or said.kept else "stop"

    def _hear(self, response: _Response, ended: str | None) -> Sequence[Delta]:
        """Take what is said of the reply as a whole; `ended` is how it ended, if it did."""
        for key, value in (("response_id", response.id), ("model", response.model)):
            if value:
                self._data.setdefault(key, value)
        if ended is None:
            return ()
        if ended in ("failed", "cancelled") or response.error is not None:
            raise failure_inside(response.error or {"message": f"the response {ended}"})
        self._status = ended
        self._why = response.incomplete_details.reason if response.incomplete_details else None
        self._output_text = response.output_text
        self._usage = read_usage(response.usage) if response.usage else None
        return self._fill(response.output or ())

    def _fill(self, output: Sequence[Item]) -> Sequence[Delta]:
        """Take from the final list what no event has brought; what events brought stands."""
        deltas: list[Delta] = []
        is_new = not self._slots
        for place, item in enumerate(output):
            slot = self._slots.setdefault(place, _Slot(place)) if is_new else self._slots.get(place)
            if slot is not None and slot.closed is None and slot.opened.type in ("", item.type):
                deltas += self._close(slot, item)
        return deltas

    def _slot(self, event: _WireEvent) -> _Slot:
        key = event.output_index if event.output_index is not None else event.item_id
        if key is None and event.item is not None:
            key = event.item.id
        if key is None:
            key = next(reversed(self._slots), 0)
        if key not in self._slots:
            self._slots[key] = _Slot(key if isinstance(key, int) else len(self._slots))
        return self._slots[key]

    def _take_piece(self, channel: _Channel, event: _WireEvent) -> Sequence[Delta]:
        slot, text = self._slot(event), event.delta
        if not isinstance(text, str) or not text:
            return ()
        part = event.summary_index if channel == "summary" else event.content_index
        slot.add(channel, part, event.sequence_number, text)
        if channel == "text":
            return self._show(_channel_of(slot.opened), slot, slot, text)
        if channel in ("summary", "thought"):
            return self._show(Reasoning, slot, (slot, channel, part), text)
        return ()

    def _close(self, slot: _Slot, item: Item) -> Sequence[Delta]:
        """Take the whole item, and show what of it no piece has shown."""
        slot.closed = item
        if item.type == "message":
            text, shown = item.text(), "".join(slot.shown)
            rest = text[len(shown) :] if text.startswith(shown) else ""
            return self._show(_channel_of(item), slot, slot, rest)
        deltas: list[Delta] = []
        if item.type == "reasoning" and not slot.shown:
            for number, thought in enumerate(item.thoughts()):
                deltas += self._show(Reasoning, slot, (slot, number), thought)
        return deltas

    def _show(self, kind: type[Delta], slot: _Slot, paragraph: object, text: str) -> Sequence[Delta]:
        """The text to show, set off from what was shown of another paragraph before."""
        if not text:
            return ()
        slot.shown.append(text)
        is_next = self._last_shown.setdefault(kind, paragraph) != paragraph
        self._last_shown[kind] = paragraph
        between = ("\n" if kind is Text else "\n\n") if is_next else ""
        return (kind(between + text),)


def read_usage(usage: Mapping[str, Any]) -> Usage:
    prompt, completion = count(usage.get("input_tokens")), count(usage.get("output_tokens"))
    return Usage(
        prompt_tokens=prompt,
        completion_tokens=completion,
        total_tokens=prompt + completion,
        cached_tokens=count_in(usage, "input_tokens_details", "cached_tokens"),
        cache_write_tokens=count_in(usage, "input_tokens_details", "cache_write_tokens")
        or count_in(usage, "input_tokens_details", "cache_creation_tokens"),
        reasoning_tokens=count_in(usage, "output_tokens_details", "reasoning_tokens"),
    )


def _channel_of(message: Item) -> type[Delta]:
    return Reasoning if message.phase in ASIDES else Text
