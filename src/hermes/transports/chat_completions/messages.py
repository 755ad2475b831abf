"""What goes out: messages in the wire's form, each made once, with cache marks where they are asked for."""

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from hermes.messages import Image, Message, ToolCall
from hermes.protocols import Provider
from hermes.transports.base.names import legal
from hermes.transports.base.repair import told
from hermes.transports.base.schema import in_words

WireMessage = dict[str, Any]

_BETWEEN = "(noted)"


class Conversation:
    """A history on its way to one provider: what it takes of each message, and where each one ended."""

    def __init__(self, provider: Provider, issuer: str, schema: Mapping[str, Any] | None = None) -> None:
        self._provider = provider
        self._issuer = issuer
        self._instruction = in_words(schema) if schema else ""
        self._wire: list[WireMessage] = []
        self._ends: list[int] = []
        self._pictures: list[dict[str, Any]] = []
        self._late_system: list[str] = []

    def add(self, message: Message) -> None:
        if not self._provider.sees:
            message = told(message)
        if message.role == "system" and self._ends and not self._provider.late_system:
            self._late_system.append(message.content or "")
        else:
            self._put(message)
        if message.role == "tool":
            # The wire takes pictures from users only: those of tool results follow the results of their turn.
            self._pictures += map(_image_part, message.images)
        self._ends.append(len(self._wire) - 1)

    def wire(self, marked: Sequence[int] = ()) -> list[WireMessage]:
        """The messages so far, the ends of the `marked` ones marked for the prompt cache."""
        wire = list(self._wire)
        for at in marked:
            if self._ends[at] >= 0:
                wire[self._ends[at]] = _marked(wire[self._ends[at]])
        wire += self._waiting()
        return wire

    def _put(self, message: Message) -> None:
        if self._instruction and not self._wire:
            message = self._instructed(message)
        if message.role == "user" and self._late_system:
            said = "\n\n".join(filter(None, (*self._late_system, message.content)))
            message = msgspec.structs.replace(message, content=said)
            self._late_system = []
        if message.role != "tool":
            self._wire += self._waiting()
            self._pictures, self._late_system = [], []
        self._append(message)

    def _instructed(self, message: Message) -> Message:
        """The first message, after which the model knows the schema that its answer must keep."""
        if message.role != "system":
            self._append(Message(role="system", content=self._instruction))
            return message
        return msgspec.structs.replace(message, content=f"{message.content}\n\n{self._instruction}")

    def _append(self, message: Message) -> None:
        converted = convert_message(message, self._provider, self._issuer)
        if converted is not None:
            self._wire += self._after_tools(self._prepared(converted))

    def _waiting(self) -> list[WireMessage]:
        """What a user has to say before anybody else speaks: what tools have shown, and late instructions."""
        late = "\n\n".join(self._late_system)
        if not self._pictures:
            return self._after_tools(self._prepared(_user(late))) if late else []
        return self._after_tools(self._prepared(_user([*self._pictures, *_text_part(late)])))

    def _after_tools(self, message: WireMessage) -> list[WireMessage]:
        follows_tool = bool(self._wire) and self._wire[-1]["role"] == "tool"
        if message["role"] != "user" or not follows_tool or self._provider.user_after_tool:
            return [message]
        between = convert_message(Message(role="assistant", content=_BETWEEN), self._provider, self._issuer)
        return [self._prepared(between), message] if between else [message]

    def _prepared(self, message: WireMessage) -> WireMessage:
        if self._provider.caches and message["content"] and isinstance(message["content"], str):
            # A mark needs a part to stand on, and a message has the same form with a mark and without.
            message = message | {"content": _text_part(message["content"])}
        return message if self._provider.prepare is None else self._provider.prepare(message)


def convert_message(message: Message, provider: Provider, issuer: str) -> WireMessage | None:
    """One message with only the keys the wire knows, so that strict servers take it; None for nothing."""
    if message.role == "tool":
        return {"role": "tool", "tool_call_id": message.tool_call_id, "content": message.content or ""}
    role = provider.system_role if message.role == "system" else message.role
    wire: WireMessage = {"role": role, "content": message.content or ""}
    if message.images:
        wire["content"] = [*_text_part(message.content), *map(_image_part, message.images)]
    if message.tool_calls:
        wire["content"] = message.content
        wire["tool_calls"] = [_wire_call(call, provider.echoes) for call in message.tool_calls]
    if message.role == "assistant":
        data = message.data_for(issuer)
        echoed = {key: data[key] for key in provider.echoes if key in data}
        if not wire["content"] and not message.tool_calls:
            return None
        wire |= echoed
        if "reasoning_content" in provider.echoes:
            # Servers that want their thoughts back want them on every turn, and refuse an empty text.
            wire["reasoning_content"] = data.get("reasoning_content") or " "
    return wire


def _wire_call(call: ToolCall, echoes: tuple[str, ...]) -> dict[str, Any]:
    wire: dict[str, Any] = {
        "id": call.id,
        "type": "function",
        "function": {"name": legal(call.name), "arguments": call.arguments or "{}"},
    }
    extra = (call.provider_data or {}).get("extra_content")
    return {**wire, "extra_content": extra} if extra and "extra_content" in echoes else wire


def _marked(message: WireMessage) -> WireMessage:
    """The message with a mark on its last text; one without, such as a bare call, stays as it is."""
    parts = message["content"] if isinstance(message["content"], list) else []
    last = next((at for at in range(len(parts) - 1, -1, -1) if parts[at]["type"] == "text"), None)
    if last is None:
        return message
    mark = {"cache_control": {"type": "ephemeral"}}
    return {**message, "content": [*parts[:last], {**parts[last], **mark}, *parts[last + 1 :]]}


def _user(content: str | list[dict[str, Any]]) -> WireMessage:
    return {"role": "user", "content": content}


def _text_part(text: str | None) -> list[dict[str, Any]]:
    return [{"type": "text", "text": text}] if text else []


def _image_part(image: Image) -> dict[str, Any]:
    url = image.url or f"data:{image.media_type};base64,{image.data}"
    return {"type": "image_url", "image_url": {"url": url}}
