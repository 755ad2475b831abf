"""The turns going out: a message as a role and its blocks."""

import binascii
import re
from collections.abc import Sequence
from typing import Any, Literal

import msgspec

from hermes.messages import Image, Message, ToolCall
from hermes.transports.base.names import legal
from hermes.transports.base.repair import told
from hermes.transports.base.turns import CONTINUE, Block, Turn, Turns
from hermes.transports.bedrock_converse.families import UNKNOWN_FAMILY, Family

BLANK = "(empty)"
CACHE_POINT: Block = {"cachePoint": {"type": "default"}}
BLOCKS = "converse_blocks"
"""Where a turn's signed reasoning is kept, with the order of the blocks around it."""

_FORMATS = {"png": "png", "jpeg": "jpeg", "jpg": "jpeg", "gif": "gif", "webp": "webp"}
_TOOL_USE_ID = re.compile(r"[a-zA-Z0-9_.:-]{1,64}")


class WireThought(msgspec.Struct, omit_defaults=True):
    """Of a whole reply: `reasoningText`; of a delta: its fields themselves."""

    reasoningText: "WireThought | None" = None  # noqa: N815
    text: str | None = None
    signature: str | None = None
    redactedContent: str | None = None  # noqa: N815


class _StoredBlock(msgspec.Struct):
    """A block of an earlier turn: sealed reasoning, its text, or which of its calls stood here."""

    reasoningContent: WireThought | None = None  # noqa: N815
    text: str | None = None
    toolUse: int | None = None  # noqa: N815


class Conversation:
    """A history on its way to one issuer: its turns, made once, and where each message ended.

    `system` is what the system messages at the start say, and `called` the tools that were called.
    """

    def __init__(self, issuer: str, family: Family = UNKNOWN_FAMILY, *, sees: bool = True) -> None:
        self.system: list[Block] = []
        self.called: set[str] = set()
        self._issuer = issuer
        self._family = family
        self._sees = sees
        self._turns = Turns({"text": BLANK}, {"text": CONTINUE})
        self._ends: list[tuple[int, int]] = []

    def add(self, message: Message) -> None:
        if message.role == "system" and not self._turns:
            self.system += _text(message.content) if (message.content or "").strip() else []
        else:
            self.called |= {call.name for call in message.tool_calls}
            role: Literal["user", "assistant"] = "assistant" if message.role == "assistant" else "user"
            seen = message if self._sees else told(message)
            self._turns.put(role, convert_message(seen, self._issuer, self._family))
        self._ends.append(self._turns.end())

    def turns(self, marked: Sequence[int] = ()) -> list[Turn]:
        """The turns so far, the user's first and last, with cache points after the `marked` messages."""
        turns = self._turns.whole()
        # Backwards, since a point moves what stands behind it in its turn.
        for turn, end in sorted({self._ends[at] for at in marked}, reverse=True):
            if turn >= 0:
                blocks = turns[turn]["content"]
                blocks = [*blocks[: end + 1], CACHE_POINT, *blocks[end + 1 :]]
                turns[turn] = {**turns[turn], "content": blocks}
        return turns


def convert_message(message: Message, issuer: str, family: Family) -> list[Block]:
    """The blocks of one message, never a blank text; none for a turn that only thought, which is refused."""
    match message.role:
        case "assistant":
            return _without_last_thoughts(_assistant_blocks(message, issuer, family))
        case "tool":
            return _result_blocks(message, family)
        case "system":
            return _text(f"<system-reminder>\n{message.content or BLANK}\n</system-reminder>")
    images = [_image(image) for image in message.images]
    said = message.content if (message.content or "").strip() else None
    return [*(_text(said) if said or not images else ()), *images]


def _without_last_thoughts(blocks: list[Block]) -> list[Block]:
    while blocks and "reasoningContent" in blocks[-1]:
        blocks = blocks[:-1]
    return blocks


def _text(text: str | None) -> list[Block]:
    return [{"text": text if (text or "").strip() else BLANK}]


def _assistant_blocks(message: Message, issuer: str, family: Family) -> list[Block]:
    said = _text(message.content) if (message.content or "").strip() else []
    calls = [_call(call, family) for call in message.tool_calls]
    stored = _stored(message.data_for(issuer).get(BLOCKS))
    if "".join(block.text or "" for block in stored) == (message.content or ""):
        ordered = [block for entry in stored for block in _replayed(entry, calls)]
        if sum(block in calls for block in ordered) == len(calls):
            return ordered
    sealed = [block for entry in stored if entry.reasoningContent for block in _replayed(entry, calls)]
    return [*sealed, *said, *calls]


def _stored(blocks: object) -> list[_StoredBlock]:
    """The blocks of an earlier turn; nothing when they are not what this protocol once kept."""
    try:
        stored = msgspec.convert(blocks or [], list[_StoredBlock])
    except msgspec.ValidationError:
        return []
    return stored if all(_is_whole(block) for block in stored) else []


def _is_whole(block: _StoredBlock) -> bool:
    thought = block.reasoningContent
    if thought is None or thought.redactedContent:
        return thought is None or thought.reasoningText is None
    signed = thought.reasoningText
    return signed is not None and signed.text is not None and bool(signed.signature)


def _replayed(entry: _StoredBlock, calls: Sequence[Block]) -> list[Block]:
    if entry.reasoningContent is not None:
        return [{"reasoningContent": msgspec.to_builtins(entry.reasoningContent)}]
    if entry.toolUse is not None:
        return list(calls[entry.toolUse : entry.toolUse + 1])
    return _text(entry.text) if (entry.text or "").strip() else []


def _call(call: ToolCall, family: Family) -> Block:
    arguments = call.parse()
    if not family.tools:
        return {"text": f"(called `{call.name}` with `{call.arguments}`)"}
    return {
        "toolUse": {
            "toolUseId": legal(call.id or "", _TOOL_USE_ID),
            "name": legal(call.name),
            "input": arguments if isinstance(arguments, dict) else {},
        }
    }


def _result_blocks(message: Message, family: Family) -> list[Block]:
    content = [*_text(message.content), *map(_image, message.images)]
    if not family.tools:
        return content
    result: dict[str, Any] = {
        "toolUseId": legal(message.tool_call_id or "", _TOOL_USE_ID),
        "content": content,
    }
    if message.is_error and family.tool_status:
        result["status"] = "error"
    return [{"toolResult": result}]


def _image(image: Image) -> Block:
    """A picture's block; words in its place when the wire has no form for it."""
    format = _FORMATS.get(image.media_type.lower().removeprefix("image/"))
    if format and _is_base64(image.data):
        return {"image": {"format": format, "source": {"bytes": image.data}}}
    where = f" at {image.url}" if image.url else f" of type `{image.media_type}`" if image.media_type else ""
    return {"text": f"(an image{where} that cannot be shown here)"}


def _is_base64(data: str) -> bool:
    try:
        return bool(binascii.a2b_base64(data, strict_mode=True))
    except ValueError:
        return False
