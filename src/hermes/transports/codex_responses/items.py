"""The items of a conversation: what of a reply is kept, and how a message goes out again."""

import hashlib
from collections.abc import Mapping, Sequence
from typing import Any, Literal

import msgspec

from hermes.messages import Image, Message, ToolCall, build_tool_call
from hermes.transports.base.names import legal
from hermes.transports.base.repair import told

ASIDES = ("commentary", "analysis")
"""Phases of a message that are thinking aloud, not the answer."""

WireItem = dict[str, Any]

_LONGEST_ID = 64
_Kind = Literal["reasoning", "message", "call"]
_USUAL_ORDER: tuple[_Kind, ...] = ("reasoning", "message", "call")


class Part(msgspec.Struct, omit_defaults=True):
    type: str = ""
    text: str | None = None
    refusal: str | None = None
    annotations: list[dict[str, Any]] | None = None


class Item(msgspec.Struct, omit_defaults=True):
    """One item of a reply's output, whatever its type: only the fields that are read."""

    type: str = ""
    id: str | None = None
    status: str | None = None
    phase: str | None = None
    content: list[Part] | str | None = None
    summary: list[Part] | None = None
    encrypted_content: str | None = None
    call_id: str | None = None
    name: str | None = None
    arguments: Any = None
    input: Any = None

    def parts(self) -> list[Part]:
        if isinstance(self.content, str):
            return [Part(type="output_text", text=self.content)]
        return self.content or []

    def text(self) -> str:
        return "".join(part.text or "" for part in self.parts())

    def refusal(self) -> str:
        return "".join(part.refusal or "" for part in self.parts())

    def thoughts(self) -> list[str]:
        """The paragraphs of a reasoning item: its summary, or the thinking itself where that is shown."""
        return [part.text for part in self.summary or self.parts() if part.text]


class Collected:
    """What the items of a reply come to."""

    def __init__(self, items: Sequence[Item], names: Mapping[str, str], *, cut: bool) -> None:
        self.texts: list[str] = []
        self.refusals: list[str] = []
        self.thoughts: list[str] = []
        self.annotations: list[dict[str, Any]] = []
        self.kept: list[tuple[_Kind, Item]] = []
        self.calls: list[ToolCall] = []
        ids: set[str] = set()
        for item in items:
            if item.type == "message":
                self._take_message(item)
            elif item.type == "reasoning":
                self._take_reasoning(item, ids)
            elif item.type in ("function_call", "custom_tool_call"):
                # The last call of a cut reply may look whole and still miss its end.
                doubtful = cut and (item is items[-1] or item.status == "in_progress")
                self.calls.append(_read_call(item, names, doubtful=doubtful))
                self.kept.append(("call", item))

    def text(self) -> str | None:
        return "\n".join(self.texts) or None

    def data(self) -> dict[str, Any]:
        """What the next request sends back, in a form that can be stored."""
        data: dict[str, Any] = {}
        for kind, key in (("reasoning", "codex_reasoning_items"), ("message", "codex_message_items")):
            if kept := [msgspec.to_builtins(item) for found, item in self.kept if found == kind]:
                data[key] = kept
        order = [kind for kind, _ in self.kept]
        if data and order != sorted(order, key=_USUAL_ORDER.index):
            data["codex_item_order"] = order
        if self.annotations:
            data["annotations"] = self.annotations
        if self.refusals:
            data["refusal"] = "".join(self.refusals)
        return data

    def _take_message(self, item: Item) -> None:
        text, refusal = item.text(), item.refusal()
        if item.phase in ASIDES:
            self.thoughts += [text] if text else []
        elif text:
            start = sum(len(earlier) + 1 for earlier in self.texts)
            self.texts.append(text)
            self.annotations += [
                _shifted(annotation, start) for part in item.parts() for annotation in part.annotations or ()
            ]
        if refusal:
            self.refusals.append(refusal)
        if text or refusal:
            said = [Part(part.type, part.text, part.refusal) for part in item.parts()]
            self.kept.append(("message", Item("message", item.id, item.status, item.phase, said)))

    def _take_reasoning(self, item: Item, ids: set[str]) -> None:
        self.thoughts += item.thoughts()
        id = item.id or ""
        if not item.encrypted_content or id.startswith("rs_tmp_") or (id and id in ids):
            return
        ids.add(id)
        summary = [Part("summary_text", text=part.text or "") for part in item.summary or ()]
        kept = Item("reasoning", item.id, summary=summary, encrypted_content=item.encrypted_content)
        self.kept.append(("reasoning", kept))


def _read_call(item: Item, names: Mapping[str, str], *, doubtful: bool) -> ToolCall:
    sent = item.arguments if item.type == "function_call" else item.input or item.arguments
    data = {"call_id": item.call_id, "response_item_id": item.id} if item.call_id else None
    name = names.get(item.name or "", item.name or "")
    call = build_tool_call(item.call_id or item.id, name, "" if sent is None else sent, data)
    truncated = item.status == "incomplete" or (doubtful and item.status != "completed")
    return msgspec.structs.replace(call, truncated=truncated)


def _shifted(annotation: dict[str, Any], by: int) -> dict[str, Any]:
    places = {
        key: annotation[key] + by
        for key in ("start_index", "end_index")
        if isinstance(annotation.get(key), int)
    }
    return annotation | places


class Conversation:
    """A history on its way to one issuer, as items, each made once.

    `instructions` is what a system message at the very start says; it is no item.
    """

    def __init__(self, issuer: str, *, sees: bool = True) -> None:
        self.instructions = ""
        self._issuer = issuer
        self._sees = sees
        self._items: list[WireItem] = []
        self._is_new = True
        self._renamed: dict[str, str] = {}
        self._sealed: set[str] = set()

    def add(self, message: Message) -> None:
        if self._is_new and message.role == "system":
            self.instructions = message.content or ""
        else:
            self._items += self._converted(message if self._sees else told(message))
        self._is_new = False

    def items(self) -> list[WireItem]:
        return list(self._items)

    def _converted(self, message: Message) -> list[WireItem]:
        match message.role:
            case "assistant":
                return self._said(message)
            case "tool":
                return self._result(message)
        role = "user" if message.role == "user" else "developer"
        return [{"type": "message", "role": role, "content": _content(message)}]

    def _said(self, message: Message) -> list[WireItem]:
        call_ids = _call_ids(message, self._issuer)
        self._renamed = {own: id for own, id in call_ids.items() if id != _wire_id(own)}
        data = message.data_for(self._issuer)
        reasoning = [item for item in _stored(data, "codex_reasoning_items") if self._is_unsent(item)]
        return _assistant_items(message, call_ids, data, [_reasoning_item(item) for item in reasoning])

    def _is_unsent(self, reasoning: Item) -> bool:
        """Whether this is sealed reasoning that no earlier turn has sent; this turn has sent it now."""
        sealed = reasoning.encrypted_content
        if not sealed or sealed in self._sealed:
            return False
        self._sealed.add(sealed)
        return True

    def _result(self, message: Message) -> list[WireItem]:
        own = message.tool_call_id
        if not own:
            return []
        id = self._renamed.get(own) or _wire_id(own)
        return [{"type": "function_call_output", "call_id": id, "output": _content(message)}]


def _assistant_items(
    message: Message, call_ids: Mapping[str, str], data: Mapping[str, Any], reasoning: list[WireItem]
) -> list[WireItem]:
    stored = _stored(data, "codex_message_items")
    # Text that was changed since is sent as it is now.
    is_same = bool(stored) and _said(stored) == (message.content or "")
    said = [_message_item(item) for item in stored] if is_same else []
    if not is_same and message.content:
        said = [{"type": "message", "role": "assistant", "content": message.content}]
    calls = [
        {
            "type": "function_call",
            "call_id": call_ids[call.id or ""],
            "name": legal(call.name),
            "arguments": call.arguments if _has_object(call) else "{}",
        }
        for call in message.tool_calls
    ]
    if reasoning and not said and not calls:
        said = [{"type": "message", "role": "assistant", "content": ""}]
    pools: dict[_Kind, list[WireItem]] = {"reasoning": reasoning, "message": said, "call": calls}
    return _ordered(pools, data.get("codex_item_order"))


def _has_object(call: ToolCall) -> bool:
    return bool(call.arguments.strip()) and isinstance(call.parse(), dict)


def _ordered(pools: Mapping[_Kind, list[WireItem]], order: object) -> list[WireItem]:
    """The items in the order they were made in, if it is known and still fits them.

    Reasoning at the end is moved before what it led to: the wire takes none that nothing follows.
    """
    usual = [kind for kind in _USUAL_ORDER for _ in pools[kind]]
    if not isinstance(order, list) or len(order) != len(usual) or order[-1:] == ["reasoning"]:
        order = usual
    fits = all(order.count(kind) == len(pools[kind]) for kind in pools)
    sources = {kind: iter(pool) for kind, pool in pools.items()}
    return [next(sources[kind]) for kind in (order if fits else usual)]


def _stored(data: Mapping[str, Any], key: str) -> list[Item]:
    try:
        return msgspec.convert(data.get(key) or [], list[Item])
    except msgspec.ValidationError:
        return []


def _said(items: Sequence[Item]) -> str:
    answers = [item for item in items if item.phase not in ASIDES]
    texts = "\n".join(text for item in answers if (text := item.text()))
    return texts or "".join(item.refusal() for item in answers)


def _reasoning_item(item: Item) -> WireItem:
    """The item without its id: nothing is stored under it, so a server that looked would not find it."""
    summary = [{"type": "summary_text", "text": part.text or ""} for part in item.summary or ()]
    return {"type": "reasoning", "summary": summary, "encrypted_content": item.encrypted_content}


def _message_item(item: Item) -> WireItem:
    phase = {"phase": item.phase} if item.phase in ("commentary", "final_answer") else {}
    if not (item.id or "").startswith("msg_") or len(item.id or "") > _LONGEST_ID:
        return {"type": "message", "role": "assistant", "content": item.text() or item.refusal(), **phase}
    content: list[dict[str, Any]] = [
        {"type": "refusal", "refusal": part.refusal}
        if part.refusal
        else {"type": "output_text", "text": part.text or "", "annotations": []}
        for part in item.parts()
    ]
    status = item.status if item.status in ("completed", "incomplete") else "completed"
    return {
        "type": "message", "id": item.id, "role": "assistant", "status": status, **phase, "content": content,
    }  # fmt: skip


def _content(message: Message) -> str | list[dict[str, Any]]:
    if not message.images:
        return message.content or ""
    text = [{"type": "input_text", "text": message.content}] if message.content else []
    return text + [
        {"type": "input_image", "image_url": _address(image), "detail": "auto"} for image in message.images
    ]


def _address(image: Image) -> str:
    return f"data:{image.media_type or 'image/png'};base64,{image.data}" if image.data else image.url


def _call_ids(message: Message, issuer: str) -> dict[str, str]:
    """The wire's id of each call: short enough, and no two alike."""
    ids: dict[str, str] = {}
    is_mine = message.issuer == issuer
    for call in message.tool_calls:
        own, given = call.id or "", (call.provider_data or {}).get("call_id") if is_mine else None
        id = _wire_id(given if isinstance(given, str) and given else own)
        ids[own] = id if id not in ids.values() else _hashed_id(own)
    return ids


def _wire_id(id: str) -> str:
    """An id as the wire knows it: the call's part of a pair, and never the name of an item."""
    call = id.partition("|")[0] or id
    if call.startswith("fc_"):
        call = f"call_{call.removeprefix('fc_')}"
    return call if call.strip() and len(call) <= _LONGEST_ID else _hashed_id(id)


def _hashed_id(id: str) -> str:
    return f"call_{hashlib.sha256(id.encode(errors='replace')).hexdigest()[:24]}"
