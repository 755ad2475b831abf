"""What goes out: messages as turns of typed blocks, and the cache marks on them."""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal

import msgspec

from hermes.messages import Image, Message, ToolCall
from hermes.transports.anthropic_messages.reply import ANSWER_TOOL, BLOCKS, THOUGHT, Block, Content
from hermes.transports.base.names import legal
from hermes.transports.base.repair import told
from hermes.transports.base.schema import object_schema
from hermes.transports.base.turns import CONTINUE, Turn, Turns

_IMAGE_TYPES = ("image/jpeg", "image/png", "image/gif", "image/webp")
_DATA_URL = re.compile(r"data:([^;,]*)(?:;[^,]*)?;base64,(.*)", re.DOTALL)


class Conversation:
    """A history on its way to one issuer: its turns, made once, and where each message ended.

    `signed` says that thinking without a signature is refused. `system` is what the system messages at
    the start say, and `called` the tools that were called, in the order they first were.
    """

    def __init__(self, issuer: str, signed: bool = True, sees: bool = True) -> None:
        self.system: list[Block] = []
        self.called: dict[str, None] = {}
        self._issuer = issuer
        self._signed = signed
        self._sees = sees
        self._turns = Turns(_text_block("(the conversation starts here)"), _text_block(CONTINUE))
        self._ends: list[tuple[int, int]] = []
        self._used: dict[str, int] = {}
        self._renamed: dict[str, str] = {}

    def add(self, message: Message) -> None:
        if message.role == "system" and not self._turns:
            self.system += _text_blocks(message.content)
        else:
            message = self._with_new_ids(message if self._sees else told(message))
            role: Literal["user", "assistant"] = "assistant" if message.role == "assistant" else "user"
            self._turns.put(role, convert_message(message, self._issuer, signed=self._signed))
        self._ends.append(self._turns.end())

    def turns(self, marked: Sequence[int] = ()) -> list[Turn]:
        """The turns so far, the user's first and last; the ends of the `marked` messages carry a mark."""
        turns = self._turns.whole()
        for turn, end in (self._ends[at] for at in marked):
            if turn >= 0:
                turns[turn] = _marked_turn(turns[turn], end)
        return turns

    def _with_new_ids(self, message: Message) -> Message:
        """The message with an id that an earlier turn has used given a number, on both sides of the call."""
        if message.tool_calls:
            ids = [call.id or "" for call in message.tool_calls]
            self.called |= dict.fromkeys(call.name for call in message.tool_calls)
            self._renamed = {id: f"{id}.{self._used[id]}" for id in ids if id in self._used}
            self._used |= {id: self._used.get(id, 1) + 1 for id in ids}
        return _renamed(message, self._renamed) if self._renamed else message


def convert_message(message: Message, issuer: str, *, signed: bool) -> list[Block]:
    """The blocks of one message; none for a turn that only thought, which the vendor refuses."""
    match message.role:
        case "assistant":
            return _replayed(message, issuer, signed=signed) or _spoken(message)
        case "tool":
            return [_tool_result(message)]
        case "system":
            return [_text_block(f"<system-reminder>\n{message.content}\n</system-reminder>")]
    blocks = [*_text_blocks(message.content), *_image_blocks(message.images)]
    return blocks or [_text_block("(empty message)")]


def _renamed(message: Message, ids: Mapping[str, str]) -> Message:
    replace = msgspec.structs.replace
    if message.role == "tool":
        return replace(message, tool_call_id=ids.get(message.tool_call_id or "", message.tool_call_id))
    if not message.tool_calls:
        return message
    calls = (replace(call, id=ids.get(call.id or "", call.id)) for call in message.tool_calls)
    return replace(message, tool_calls=tuple(calls))


def marked(block: Block) -> Block:
    """The block with a cache mark on it."""
    return {**block, "cache_control": {"type": "ephemeral"}}


def _marked_turn(turn: Turn, end: int) -> Turn:
    blocks = turn["content"]
    return {**turn, "content": [*blocks[:end], marked(blocks[end]), *blocks[end + 1 :]]}


def _text_block(text: str) -> Block:
    return {"type": "text", "text": text}


def _text_blocks(text: str | None) -> list[Block]:
    return [_text_block(text)] if text and text.strip() else []


def _image_blocks(images: Iterable[Image]) -> list[Block]:
    return [_image_block(image) for image in images]


def _image_block(image: Image) -> Block:
    media_type, data = image.media_type, image.data
    if not data and (found := _DATA_URL.fullmatch(image.url)):
        media_type, data = found[1], found[2]
    if data:
        kind = media_type.lower().replace("image/jpg", "image/jpeg")
        kind = kind if kind.startswith("image/") else "image/jpeg"
        if kind in _IMAGE_TYPES:
            return {"type": "image", "source": {"type": "base64", "media_type": kind, "data": data}}
    elif image.url.startswith(("http:", "https:")):
        return {"type": "image", "source": {"type": "url", "url": image.url}}
    return _text_block(f"(an image that cannot be shown: {media_type or 'no data'})")


def _tool_result(message: Message) -> Block:
    text = message.content if (message.content or "").strip() else "(no output)"
    result: Block = {"type": "tool_result", "tool_use_id": legal(message.tool_call_id or ""), "content": text}
    if message.is_error:
        # A failed call may carry text only.
        return {**result, "is_error": True}
    if message.images:
        result["content"] = [*_text_blocks(message.content), *_image_blocks(message.images)]
    return result


def _spoken(message: Message) -> list[Block]:
    return [*_text_blocks(message.content), *map(_tool_use, message.tool_calls)]


def _tool_use(call: ToolCall) -> Block:
    arguments = call.parse()
    input = arguments if isinstance(arguments, dict) else {}
    return {"type": "tool_use", "id": legal(call.id or ""), "name": legal(call.name), "input": input}


def _replayed(message: Message, issuer: str, *, signed: bool) -> list[Block]:
    """The stored blocks of a message in their order, where they still say what the message says."""
    try:
        stored = msgspec.convert(message.data_for(issuer).get(BLOCKS, []), list[Content])
    except msgspec.ValidationError:
        return []
    if not _is_faithful(message, stored):
        return []
    calls = iter(message.tool_calls)
    blocks: list[Block] = []
    for block in stored:
        match block.type:
            case "tool_use":
                blocks.append(_tool_use(next(calls)))
            case "text" if (block.text or "").strip():
                cited = {"citations": block.citations} if block.citations else {}
                blocks.append({"type": "text", "text": block.text, **cited})
            case "thinking" if block.signature or not signed:
                thought, signature = block.thinking or "", block.signature or ""
                blocks.append({"type": "thinking", "thinking": thought, "signature": signature})
            case "redacted_thinking" if block.data:
                blocks.append({"type": "redacted_thinking", "data": block.data})
    while blocks and blocks[-1]["type"] in THOUGHT:
        blocks.pop()  # a turn that ends in a thought is refused
    return blocks


def _is_faithful(message: Message, stored: Sequence[Content]) -> bool:
    text = "".join(block.text or "" for block in stored if block.type == "text")
    calls = sum(block.type == "tool_use" for block in stored)
    said = "".join((message.content or "").split())
    return calls == len(message.tool_calls) and "".join(text.split()) == said


def answer_tool(schema: Mapping[str, Any]) -> Block:
    description = "Give the final answer. Call this once, when everything else is done."
    return {"name": ANSWER_TOOL, "description": description, "input_schema": object_schema(schema)}
