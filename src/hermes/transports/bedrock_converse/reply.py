"""The reply coming in: its events or its whole, put together, and what a failure says."""

import binascii
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import msgspec

from hermes.errors import InvalidResponse
from hermes.events import Delta, Reasoning, Text
from hermes.messages import NOT_JSON, FinishReason, NormalizedResponse, ToolCall, Usage, with_ids
from hermes.transports.base import count
from hermes.transports.bedrock_converse.failures import raise_failure
from hermes.transports.bedrock_converse.turns import BLOCKS, WireThought

_FINISH: dict[str, FinishReason] = {
    "end_turn": "stop",
    "stop_sequence": "stop",
    "tool_use": "tool_calls",
    "max_tokens": "length",
    "model_context_window_exceeded": "length",
    "guardrail_intervened": "content_filter",
    "content_filtered": "content_filter",
}
_MALFORMED = frozenset({"malformed_tool_use", "malformed_model_output"})


class _WireCall(msgspec.Struct):
    toolUseId: str | None = None  # noqa: N815
    name: str | None = None
    input: msgspec.Raw = msgspec.Raw(b"null")


class _Cited(msgspec.Struct):
    content: list[dict[str, Any]] = []


class _WireBlock(msgspec.Struct):
    """A block of a whole reply, or the start or a delta of one."""

    text: str | None = None
    toolUse: _WireCall | None = None  # noqa: N815
    reasoningContent: WireThought | None = None  # noqa: N815
    citationsContent: _Cited | None = None  # noqa: N815


class _BlockEvent(msgspec.Struct):
    contentBlockIndex: int = 0  # noqa: N815
    start: _WireBlock | None = None
    delta: _WireBlock | None = None


class _Ending(msgspec.Struct):
    stopReason: str | None = None  # noqa: N815
    usage: dict[str, Any] | None = None


class _WireMessage(msgspec.Struct):
    content: list[_WireBlock] = []


class _Output(msgspec.Struct):
    message: _WireMessage | None = None


class _WireReply(_Ending):
    output: _Output | None = None


class _WireEvent(msgspec.Struct):
    messageStart: dict[str, Any] | None = None  # noqa: N815
    contentBlockStart: _BlockEvent | None = None  # noqa: N815
    contentBlockDelta: _BlockEvent | None = None  # noqa: N815
    contentBlockStop: _BlockEvent | None = None  # noqa: N815
    messageStop: _Ending | None = None  # noqa: N815
    metadata: _Ending | None = None


_decode_event = msgspec.json.Decoder(_WireEvent).decode
decode_reply = msgspec.json.Decoder(_WireReply).decode


class _Block:
    """One content block while its pieces arrive."""

    def __init__(self) -> None:
        self.text: list[str] = []
        self.thought: list[str] = []
        self.signature: list[str] = []
        self.redacted: list[str] = []
        self.call: _WireCall | None = None
        self.input: list[str] = []

    def take(self, piece: _WireBlock) -> Sequence[Delta]:
        deltas: list[Delta] = []
        said = _cited_text(piece.citationsContent) if piece.citationsContent else piece.text
        if said:
            self.text.append(said)
            deltas.append(Text(said))
        if piece.toolUse is not None:
            self._take_call(piece.toolUse)
        if piece.reasoningContent is not None:
            deltas += self._take_thought(piece.reasoningContent)
        return deltas

    def _take_call(self, piece: _WireCall) -> None:
        if self.call is None or piece.name:
            self.call = piece
        raw = bytes(piece.input).decode()
        if raw != "null":
            # A stream sends the arguments as text in pieces, a whole reply as the object itself.
            self.input.append(msgspec.json.decode(raw) if raw.startswith('"') else raw)

    def _take_thought(self, piece: WireThought) -> Sequence[Delta]:
        piece = piece.reasoningText or piece
        if piece.signature:
            self.signature.append(piece.signature)
        if piece.redactedContent:
            self.redacted.append(piece.redactedContent)
        if not piece.text:
            return ()
        self.thought.append(piece.text)
        return (Reasoning(piece.text),)

    def tool_call(self, call: _WireCall, names: Mapping[str, str]) -> ToolCall:
        name = call.name or ""
        return ToolCall(call.toolUseId or None, names.get(name, name), "".join(self.input) or "{}")

    def sealed(self) -> dict[str, Any] | None:
        """The reasoning that its maker wants back unchanged; None when it is not signed."""
        if self.redacted:
            return {"reasoningContent": {"redactedContent": _joined_base64(self.redacted)}}
        if not self.signature:
            return None
        signed = {"text": "".join(self.thought), "signature": "".join(self.signature)}
        return {"reasoningContent": {"reasoningText": signed}}


class Assembler:
    """Builds one response. A whole reply ends in the state its stream would have given."""

    def __init__(self, names: Mapping[str, str]) -> None:
        self._names = names
        self._events = 0
        self._blocks: dict[int, _Block] = {}
        self._stop: str | None = None
        self._usage: Usage | None = None

    @property
    def has_ended(self) -> bool:
        return self._stop is not None and self._usage is not None

    def feed(self, payload: bytes) -> Sequence[Delta]:
        return self._read(self._take_event, payload)

    def feed_whole(self, body: bytes) -> Sequence[Delta]:
        return self._read(self._take_reply, body)

    def finish(self) -> NormalizedResponse:
        if not self._blocks and self._stop is None:
            raise InvalidResponse("the provider sent an empty reply")
        if self._stop in _MALFORMED:
            raise InvalidResponse(f"the model's answer was malformed (`{self._stop}`)", hint="ask again")
        blocks = [self._blocks[index] for index in sorted(self._blocks)]
        reason = map_finish_reason(self._stop) if self._stop is not None else "length"
        calls = self._calls(blocks, cut=reason == "length")
        if reason in ("stop", "tool_calls"):
            reason = "tool_calls" if calls else "stop"
        return NormalizedResponse(
            content="".join(piece for block in blocks for piece in block.text) or None,
            tool_calls=list(with_ids(calls)) or None,
            finish_reason=reason,
            reasoning="".join(piece for block in blocks for piece in block.thought) or None,
            usage=self._usage,
            provider_data=self._data(blocks) or None,
        )

    def _read(self, take: Callable[[bytes], Sequence[Delta]], payload: bytes) -> Sequence[Delta]:
        self._events += 1
        try:
            return take(payload)
        except NOT_JSON as error:
            raise InvalidResponse(f"event {self._events} of the reply is malformed: {error}") from error

    def _take_event(self, payload: bytes) -> Sequence[Delta]:
        event = _decode_event(payload)
        if event.contentBlockDelta is not None:
            return self._take(event.contentBlockDelta.contentBlockIndex, event.contentBlockDelta.delta)
        if event.contentBlockStart is not None:
            return self._take(event.contentBlockStart.contentBlockIndex, event.contentBlockStart.start)
        if event.messageStop is not None:
            self._end(event.messageStop)
        elif event.metadata is not None:
            self._end(event.metadata)
        elif event.contentBlockStop is None and event.messageStart is None:
            raise_failure(payload)
        return ()

    def _take_reply(self, body: bytes) -> Sequence[Delta]:
        reply = decode_reply(body)
        message = reply.output.message if reply.output else None
        deltas = [
            delta
            for index, block in enumerate(message.content if message else ())
            for delta in self._take(index, block)
        ]
        self._end(reply)
        if self._stop is None and self._blocks:
            self._stop = "end_turn"  # a whole reply is complete by arriving
        return deltas

    def _take(self, index: int, piece: _WireBlock | None) -> Sequence[Delta]:
        block = self._blocks.get(index)
        if block is None:
            block = self._blocks[index] = _Block()
        return block.take(piece) if piece is not None else ()

    def _end(self, ending: _Ending) -> None:
        if ending.stopReason is not None:
            self._stop = ending.stopReason
        if ending.usage is not None:
            self._usage = read_usage(ending.usage)

    def _calls(self, blocks: Sequence[_Block], *, cut: bool) -> list[ToolCall]:
        """The calls; in a cut reply the last block may look whole and still miss its end."""
        calls = []
        for block in blocks:
            if block.call is not None:
                call = block.tool_call(block.call, self._names)
                is_cut = cut and (block is blocks[-1] or not isinstance(call.parse(), dict))
                calls.append(msgspec.structs.replace(call, truncated=True) if is_cut else call)
        return calls

    def _data(self, blocks: Sequence[_Block]) -> dict[str, Any]:
        data: dict[str, Any] = {}
        if any(block.sealed() for block in blocks):
            data[BLOCKS] = list(_layout(blocks))
        if self._stop is None:
            data["partial"] = True
        elif self._stop not in _FINISH:
            data["raw_finish_reason"] = self._stop
        return data


def map_finish_reason(reason: object) -> FinishReason:
    """One of the closed set; what nobody knows counts as an ordinary end."""
    return _FINISH.get(str(reason), "stop")


def read_usage(usage: Mapping[str, Any]) -> Usage:
    """Converse counts what came from or went to the cache apart from the input; here it is part of it."""
    read, write = count(usage.get("cacheReadInputTokens")), count(usage.get("cacheWriteInputTokens"))
    prompt, completion = count(usage.get("inputTokens")) + read + write, count(usage.get("outputTokens"))
    return Usage(
        prompt_tokens=prompt,
        completion_tokens=completion,
        total_tokens=prompt + completion,
        cached_tokens=read,
        cache_write_tokens=write,
    )


def _layout(blocks: Sequence[_Block]) -> Iterator[dict[str, Any]]:
    calls = 0
    for block in blocks:
        sealed = block.sealed()
        if sealed is not None:
            yield sealed
        elif block.call is not None:
            yield {"toolUse": calls}
            calls += 1
        elif block.text:
            yield {"text": "".join(block.text)}


def _cited_text(cited: _Cited) -> str:
    return "".join(str(part.get("text", "")) for part in cited.content)


def _joined_base64(pieces: Sequence[str]) -> str:
    if len(pieces) == 1:
        return pieces[0]
    try:
        return binascii.b2a_base64(b"".join(map(binascii.a2b_base64, pieces)), newline=False).decode()
    except ValueError as error:
        raise InvalidResponse(f"the reply holds sealed reasoning that is not base64: {error}") from error
