"""What goes out: messages as turns of typed blocks, and the cache marks on them."""

import hashlib
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import msgspec

from hermes.messages import Image, Message, ToolCall
from hermes.transports.anthropic_messages.reply import ANSWER_TOOL, BLOCKS, THOUGHT, Block, Content
from hermes.transports.base.schema import object_schema

_IMAGE_TYPES = ("image/jpeg", "image/png", "image/gif", "image/webp")
_DATA_URL = re.compile(r"data:([^;,]*)(?:;[^,]*)?;base64,(.*)", re.DOTALL)
_ILLEGAL = re.compile(r"[^A-Za-z0-9_-]")
_LONGEST_NAME = 64


def convert_system(messages: Sequence[Message]) -> list[Block]:
    """The system messages that open a conversation, each as a block of its own."""
    opening = messages[: turns_begin(messages)]
    return [
        {"type": "text", "text": message.content} for message in opening if (message.content or "").strip()
    ]


def convert_message(message: Message, issuer: str, *, signed: bool) -> dict[str, Any]:
    """One message as a turn of its own. `signed` says that thinking without a signature is refused."""
    match message.role:
        case "assistant":
            blocks = _replayed(message, issuer, signed=signed) or _spoken(message)
            return {"role": "assistant", "content": blocks or [{"type": "text", "text": "(empty)"}]}
        case "tool":
            return {"role": "user", "content": [_tool_result(message)]}
        case "system":
            return user_turn(f"<system-reminder>\n{message.content}\n</system-reminder>")
    blocks = [*_text_blocks(message.content), *_image_blocks(message.images)]
    return {"role": "user", "content": blocks or [{"type": "text", "text": "(empty message)"}]}


def unique_ids(messages: Sequence[Message]) -> list[Message]:
    """The messages with an id that an earlier turn has used given a number, on both sides of the call."""
    used: dict[str, int] = {}
    renamed: dict[str, str] = {}
    unique: list[Message] = []
    for message in messages:
        if message.tool_calls:
            ids = [call.id or "" for call in message.tool_calls]
            renamed = {id: f"{id}.{used[id]}" for id in ids if id in used}
            used |= {id: used.get(id, 1) + 1 for id in ids}
        unique.append(_renamed(message, renamed) if renamed else message)
    return unique


def _renamed(message: Message, ids: Mapping[str, str]) -> Message:
    replace = msgspec.structs.replace
    if message.role == "tool":
        return replace(message, tool_call_id=ids.get(message.tool_call_id or "", message.tool_call_id))
    if not message.tool_calls:
        return message
    calls = (replace(call, id=ids.get(call.id or "", call.id)) for call in message.tool_calls)
    return replace(message, tool_calls=tuple(calls))


def legal(name: str) -> str:
    """A name or id the wire takes. What had to change gets a short hash, so that two stay two."""
    if name and len(name) <= _LONGEST_NAME and not _ILLEGAL.search(name):
        return name
    digest = hashlib.sha256(name.encode(errors="replace")).hexdigest()[:8]
    return f"{_ILLEGAL.sub('_', name)[: _LONGEST_NAME - 9]}_{digest}"


def mark(kwargs: dict[str, Any], ends: Iterable[tuple[int, int]]) -> None:
    """Place the cache marks: end of tools, end of system, and the ends of these messages."""
    for key in ("tools", "system"):
        if key in kwargs:
            kwargs[key] = [*kwargs[key][:-1], _marked(kwargs[key][-1])]
    turns = kwargs["messages"]
    for turn, end in ends:
        blocks = list(turns[turn]["content"]) if turn >= 0 else []
        last = next((at for at in range(end, -1, -1) if blocks[at]["type"] not in THOUGHT), None)
        if last is not None:
            blocks[last] = _marked(blocks[last])
            turns[turn] = {**turns[turn], "content": blocks}


def _marked(block: Block) -> Block:
    return {**block, "cache_control": {"type": "ephemeral"}}


def turns_begin(messages: Sequence[Message]) -> int:
    return next((at for at, message in enumerate(messages) if message.role != "system"), len(messages))


def user_turn(text: str) -> dict[str, Any]:
    return {"role": "user", "content": [{"type": "text", "text": text}]}


def _text_blocks(text: str | None) -> list[Block]:
    return [{"type": "text", "text": text}] if text and text.strip() else []


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
    return {"type": "text", "text": f"(an image that cannot be shown: {media_type or 'no data'})"}


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
    return blocks


def _is_faithful(message: Message, stored: Sequence[Content]) -> bool:
    text = "".join(block.text or "" for block in stored if block.type == "text")
    calls = sum(block.type == "tool_use" for block in stored)
    said = "".join((message.content or "").split())
    return calls == len(message.tool_calls) and "".join(text.split()) == said


def answer_tool(schema: Mapping[str, Any]) -> Block:
    description = "Give the final answer. Call this once, when everything else is done."
    return {"name": ANSWER_TOOL, "description": description, "input_schema": object_schema(schema)}
