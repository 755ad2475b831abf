"""What comes in: a stream or a whole reply, assembled into one response."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

import msgspec

from hermes.errors import InvalidResponse
from hermes.events import Delta, Reasoning, Text
from hermes.messages import FinishReason, NormalizedResponse, ToolCall, Usage, build_tool_call, with_ids
from hermes.transports.base import count, count_in, read_event
from hermes.transports.base.failures import failure_inside
from hermes.transports.base.names import legal
from hermes.transports.base.spans import Span, SpanFilter, read_call, without_noise

_FINISH: dict[str, FinishReason] = {
    "stop": "stop",
    "end": "stop",
    "eos": "stop",
    "end_turn": "stop",
    "length": "length",
    "max_tokens": "length",
    "tool_calls": "tool_calls",
    "function_call": "tool_calls",
    "tool_use": "tool_calls",
    "content_filter": "content_filter",
    "safety": "content_filter",
    "incomplete": "incomplete",
}


class _Function(msgspec.Struct):
    name: str | None = None
    arguments: Any = None


class _WireCall(msgspec.Struct):
    index: int | None = None
    id: str | int | None = None
    function: _Function | None = None
    extra_content: dict[str, Any] | None = None


class _WireMessage(msgspec.Struct):
    """A delta of a stream or the message of a whole reply: the same keys."""

    content: Any = None
    reasoning_content: str | None = None
    reasoning: str | None = None
    reasoning_details: list[dict[str, Any]] | None = None
    refusal: str | None = None
    tool_calls: list[_WireCall] | None = None
    function_call: _Function | None = None
    annotations: list[dict[str, Any]] | None = None


class _Choice(msgspec.Struct):
    delta: _WireMessage | None = None
    message: _WireMessage | None = None
    finish_reason: Any = None
    error: Any = None


class _WireEvent(msgspec.Struct):
    choices: list[_Choice] | None = None
    usage: dict[str, Any] | None = None
    error: Any = None
    model: str | None = None
    citations: list[Any] | None = None


decode_event = msgspec.json.Decoder(_WireEvent).decode


class _Slot:
    """One tool call while its pieces arrive."""

    def __init__(self, index: int | None, id: str | None) -> None:
        self.index = index
        self.id = id
        self.name = ""
        self.pieces: list[str] = []
        self.extra: dict[str, Any] | None = None

    def closed(self) -> bool:
        return isinstance(self.call().parse(), dict) and bool(self.pieces)

    def call(self, *, truncated: bool = False) -> ToolCall:
        data = {"extra_content": self.extra} if self.extra else None
        return ToolCall(self.id, self.name, "".join(self.pieces), data, truncated)


class Assembler:
    """Builds one response. A whole reply is fed as one event, so both paths end in the same state."""

    def __init__(self, tools: Collection[str] = ()) -> None:
        self._names = {legal(name): name for name in tools}
        self.has_ended = False
        self._events = 0
        self._spans = SpanFilter()
        self._written_calls: list[str] = []
        self._text: list[str] = []
        self._reasoning: list[str] = []
        self._echo: list[str] | None = None
        self._refusal: list[str] = []
        self._slots: list[_Slot] = []
        self._finish: object = None
        self._usage: Usage | None = None
        self._data: dict[str, Any] = {}

    def feed(self, payload: bytes) -> Sequence[Delta]:
        if payload == b"[DONE]":
            self.has_ended = True
        if not payload or self.has_ended:
            return ()
        self._events += 1
        event = read_event(decode_event, payload, self._events)
        if event.error is not None:
            raise failure_inside(event.error)
        if event.usage:
            self._usage = read_usage(event.usage)
        if event.model and "model" not in self._data:
            self._data["model"] = event.model
        if event.citations:
            self._data["citations"] = event.citations
        if not event.choices:
            return ()
        choice = event.choices[0]
        if choice.error is not None or str(choice.finish_reason).lower() == "error":
            raise failure_inside(choice.error)
        said = choice.delta or choice.message
        deltas = self._take(said) if said is not None else []
        if choice.finish_reason not in (None, ""):
            self._finish = choice.finish_reason
            deltas += self._sort_out(self._spans.finish())
        return deltas

    def feed_whole(self, body: bytes) -> Sequence[Delta]:
        deltas = self.feed(body)
        if self._finish is None and self._said_anything():
            # A whole reply is complete by arriving; servers that name no reason mean an ordinary end.
            self._finish = "stop"
            return [*deltas, *self._sort_out(self._spans.finish())]
        return deltas

    def finish(self) -> NormalizedResponse:
        if not self._said_anything() and self._finish is None:
            raise InvalidResponse("the provider sent an empty reply")
        if self._finish is not None:
            # In a reply that broke off, what is held back may be half of a mark or of a call: no text.
            self._sort_out(self._spans.finish())
        self._note_ending()
        reason = map_finish_reason(self._finish) if self._finish is not None else "length"
        calls = self._calls(cut=reason == "length")
        text: str | None = without_noise("".join(self._text)) or None
        if text is None and not calls and self._refusal:
            text, reason = self._data["refusal"], "content_filter" if reason == "stop" else reason
        if calls and reason == "stop":
            reason = "tool_calls"
        return NormalizedResponse(
            content=text,
            tool_calls=list(with_ids(calls)) or None,
            finish_reason=reason,
            reasoning="".join(self._reasoning) or None,
            usage=self._usage,
            provider_data=self._data or None,
        )

    def _note_ending(self) -> None:
        """Keep what of the reply has no place of its own: how it ended, a refusal, thoughts to be echoed."""
        if self._finish is None:
            self._data["partial"] = True
        elif str(self._finish).lower() not in _FINISH:
            self._data["raw_finish_reason"] = str(self._finish)
        if self._refusal:
            self._data["refusal"] = "".join(self._refusal)
        if self._echo is not None:
            self._data["reasoning_content"] = "".join(self._echo)

    def _calls(self, *, cut: bool) -> list[ToolCall]:
        """The calls, or those that were written out as text, by the names they have here."""
        calls = [slot.call(truncated=cut and self._is_cut(slot)) for slot in self._slots]
        if not calls:
            written = (read_call(text, self._names.values()) for text in self._written_calls)
            return [call for call in written if call is not None]
        return [msgspec.structs.replace(call, name=self._names.get(call.name, call.name)) for call in calls]

    def _said_anything(self) -> bool:
        said = self._text or self._slots or self._reasoning or self._refusal or self._written_calls
        return bool(said)

    def _is_cut(self, slot: _Slot) -> bool:
        # The last call of a cut reply may look whole and still miss its end.
        return slot is self._slots[-1] or not slot.closed()

    def _take(self, said: _WireMessage) -> list[Delta]:
        deltas: list[Delta] = []
        thought = said.reasoning_content if said.reasoning_content is not None else said.reasoning
        if said.reasoning_content is not None:
            self._echo = self._echo or []
            self._echo.append(said.reasoning_content)
        if thought:
            self._reasoning.append(thought)
            deltas.append(Reasoning(thought))
        if said.content:
            deltas += self._take_content(said.content)
        if said.reasoning_details:
            merge_details(self._data.setdefault("reasoning_details", []), said.reasoning_details)
        if said.refusal:
            self._refusal.append(said.refusal)
        for piece in said.tool_calls or ():
            self._take_call(piece)
        if said.function_call is not None:
            self._take_call(_WireCall(function=said.function_call))
        if said.annotations:
            self._data.setdefault("annotations", []).extend(said.annotations)
        return deltas

    def _take_content(self, content: object) -> list[Delta]:
        if isinstance(content, str):
            return self._sort_out(self._spans.feed(content))
        deltas: list[Delta] = []
        for kind, text in _parts(content):
            deltas += self._sort_out([Span(kind, text)] if kind == "thought" else self._spans.feed(text))
        return deltas

    def _sort_out(self, spans: Sequence[Span]) -> list[Delta]:
        deltas: list[Delta] = []
        for kind, text in spans:
            if kind == "text":
                self._text.append(text)
                deltas.append(Text(text))
            elif kind == "thought":
                self._reasoning.append(text)
                deltas.append(Reasoning(text))
            else:
                self._written_calls.append(text)
        return deltas

    def _take_call(self, piece: _WireCall) -> None:
        id = str(piece.id) if piece.id not in (None, "") else None
        function = piece.function or _Function()
        slot = self._slot_for(piece.index, id, function)
        slot.id = slot.id or id
        slot.extra = piece.extra_content or slot.extra
        if function.name:
            slot.name = function.name
        if function.arguments is not None:
            slot.pieces.append(build_tool_call(None, "", function.arguments).arguments)

    def _slot_for(self, index: int | None, id: str | None, function: _Function) -> _Slot:
        """The call this piece belongs to. Servers disagree on indexes, so ids decide first.

        An id that comes again under another index, with a name and after the end of its call, is another
        call with the same id.
        """
        if id is not None:
            for slot in reversed(self._slots):
                if slot.id == id:
                    is_another = slot.index != index and bool(function.name) and slot.closed()
                    return self._open(index, id) if is_another else slot
        same = [slot for slot in self._slots if slot.index == index] if index is not None else self._slots
        last = same[-1] if same else None
        if last is None or (id is not None and last.id is not None):
            return self._open(index, id)
        starts_over = bool(function.name) and (function.name != last.name or bool(function.arguments))
        if id is None and starts_over and last.closed():
            return self._open(index, id)
        return last

    def _open(self, index: int | None, id: str | None) -> _Slot:
        slot = _Slot(index, id)
        self._slots.append(slot)
        return slot


_GROWING = ("text", "summary")


def merge_details(kept: list[dict[str, Any]], pieces: Sequence[dict[str, Any]]) -> None:
    """Add reasoning details as they arrive: pieces of one text are joined, whatever else is kept."""
    for piece in pieces:
        last = kept[-1] if kept else None
        if last is None or not _continues(last, piece):
            kept.append(dict(piece))
            continue
        grown = {
            key: f"{last.get(key) or ''}{piece.get(key) or ''}" for key in _GROWING if key in last | piece
        }
        last.update({key: value for key, value in piece.items() if value is not None} | grown)


def _continues(last: Mapping[str, Any], piece: Mapping[str, Any]) -> bool:
    """Whether a piece is more of the last detail: of its text, or the signature that closes it."""
    if any(last.get(key) != piece.get(key) for key in ("index", "type")) or last.get("signature"):
        return False
    return piece.get("id") in (None, last.get("id")) and any(
        isinstance(piece.get(key), str) for key in (*_GROWING, "signature")
    )


def map_finish_reason(reason: object) -> FinishReason:
    """One of the closed set; what nobody knows counts as an ordinary end."""
    return _FINISH.get(str(reason).lower(), "stop")


def read_usage(usage: Mapping[str, Any]) -> Usage:
    """The wire counts what a cache did as part of the prompt; servers that show more than that do not."""
    prompt, completion = count(usage.get("prompt_tokens")), count(usage.get("completion_tokens"))
    read = (
        count_in(usage, "prompt_tokens_details", "cached_tokens")
        or count(usage.get("cache_read_input_tokens"))
        or count(usage.get("prompt_cache_hit_tokens"))
    )
    write = count_in(usage, "prompt_tokens_details", "cache_write_tokens")
    write = write or count(usage.get("cache_creation_input_tokens"))
    if prompt < read + write:
        prompt += read + write
    return Usage(
        prompt_tokens=prompt,
        completion_tokens=completion,
        total_tokens=prompt + completion,
        cached_tokens=read,
        cache_write_tokens=write,
        reasoning_tokens=count_in(usage, "completion_tokens_details", "reasoning_tokens"),
    )


def _parts(content: object) -> Iterator[Span]:
    """What content given as a list of parts says and thinks."""
    for part in content if isinstance(content, list) else [content]:
        if not isinstance(part, Mapping):
            yield Span("text", str(part))
        elif "thinking" in part:
            yield Span("thought", _inner_text(part["thinking"]))
        else:
            yield Span("text", str(part.get("text") or ""))


def _inner_text(thinking: object) -> str:
    """A thinking part holds its text, or a list of parts of its own."""
    return thinking if isinstance(thinking, str) else "".join(text for _, text in _parts(thinking))
