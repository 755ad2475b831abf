"""A history that every vendor accepts, made from one that may be broken: shared by all protocols."""

from collections.abc import Iterable, Sequence
from typing import Any

import msgspec

from hermes.messages import Message, with_ids

Results = dict[str, list[tuple[int, Message]]]

NO_RESULT = "no result: the call was interrupted before it ended"


def told(message: Message) -> Message:
    """The message for a model that sees nothing: a note stands where a picture was."""
    if not message.images:
        return message
    notes = (f"[a picture that you cannot see: {image.url or image.media_type}]" for image in message.images)
    text = "\n".join(part for part in (message.content, *notes) if part)
    return msgspec.structs.replace(message, content=text, images=())


class Repairer:
    """`repair` for a conversation that grows: what it saw before is not looked at again."""

    def __init__(self) -> None:
        self.repaired: list[Message] = []
        self._seen: tuple[Message, ...] = ()
        self._owes_nothing = False

    def take(self, messages: tuple[Message, ...]) -> int:
        """Make `repaired` of these messages; says how many at its start are what they were before."""
        size = len(self._seen)
        known = self._owes_nothing and messages[:size] == self._seen and _answers_itself(messages[size:])
        added = repair(messages[size:] if known else messages)
        last = self.repaired[-1:] if known else []
        kept = len(self.repaired) - len(last) if known else 0
        joined = _joined((*last, *added))
        self.repaired[kept:] = joined
        self._owes_nothing = not any(message.content is NO_RESULT for message in added)
        self._seen = messages
        return kept + len(last) if last and joined[0] is last[0] else kept


def _answers_itself(added: Sequence[Message]) -> bool:
    """Whether the results among these messages belong to calls among them."""
    called = {call.id for message in added for call in message.tool_calls}
    return all(message.tool_call_id in called for message in added if message.role == "tool")


def repair(messages: Sequence[Message]) -> tuple[Message, ...]:
    """The same conversation with every call answered right after it, once, and nothing left over.

    Results move next to their call, missing ones are filled in, orphans and repeats are dropped, turns
    without anything are dropped, and neighbours of one role are joined, unless a picture would leave
    its words. The given messages are never changed; one that needs no repair is passed on as the same object.
    """
    results = _results(messages)
    repaired: list[Message] = []
    for place, message in enumerate(messages):
        if message.role == "tool" or _is_empty(message):
            continue
        repaired.append(_with_sound_calls(message) if message.tool_calls else message)
        repaired.extend(_answer(call.id, place, results) for call in repaired[-1].tool_calls)
    return tuple(_joined(repaired))


def _results(messages: Iterable[Message]) -> Results:
    """Every tool result with its place, by the id of its call: an id may be used again in a later turn."""
    found: Results = {}
    for place, message in enumerate(messages):
        if message.role == "tool" and message.tool_call_id:
            found.setdefault(message.tool_call_id, []).append((place, message))
    return found


def _is_empty(message: Message) -> bool:
    """Whether nothing was said. A turn that only thought is kept: its maker may want the thoughts back."""
    thoughts = set(message.provider_data or ()) - {"model"}
    return not ((message.content or "").strip() or message.tool_calls or message.images or thoughts)


def _with_sound_calls(message: Message) -> Message:
    if message.role != "assistant":
        return msgspec.structs.replace(message, tool_calls=())
    ids = [call.id for call in message.tool_calls]
    if all(ids) and len(set(ids)) == len(ids) and all(call.name for call in message.tool_calls):
        return message
    first = {call.id or index: call for index, call in reversed(list(enumerate(message.tool_calls)))}
    kept = [
        call if call.name else msgspec.structs.replace(call, name="invalid_tool_call")
        for call in reversed(list(first.values()))
    ]
    return msgspec.structs.replace(message, tool_calls=with_ids(kept))


def _answer(id: str | None, called_at: int, results: Results) -> Message:
    """The first result that came after its call; one that came before it answers nothing."""
    waiting = results.get(id or "", [])
    while waiting:
        place, result = waiting.pop(0)
        if place > called_at:
            return result
    return Message(role="tool", tool_call_id=id, content=NO_RESULT, is_error=True)


def _joined(messages: Sequence[Message]) -> list[Message]:
    joined: list[Message] = []
    for message in messages:
        last = joined[-1] if joined else None
        if last is not None and last.role == message.role and _may_join(last, message):
            joined[-1] = _join(last, message)
        else:
            joined.append(message)
    return joined


def _join(one: Message, other: Message) -> Message:
    between = "\n\n" if one.role == "user" else "\n"
    text = between.join(part for part in (one.content, other.content) if part)
    return msgspec.structs.replace(
        other,
        content=text or None,
        images=(*one.images, *other.images),
        reasoning=other.reasoning or one.reasoning,
        **_joined_data(one, other),
    )


def _joined_data(one: Message, other: Message) -> dict[str, Any]:
    """The opaque data of two turns that become one. What the same issuer sealed in each goes on in order."""
    if one.provider_data is None or (other.provider_data is not None and one.issuer != other.issuer):
        return {}
    kept, added = one.provider_data, other.provider_data or {}
    lists = {key: [*kept[key], *added[key]] for key in kept if _are_lists(kept[key], added.get(key))}
    return {"provider_data": kept | added | lists, "issuer": one.issuer}


def _are_lists(one: object, other: object) -> bool:
    return isinstance(one, list) and isinstance(other, list)


def _may_join(one: Message, other: Message) -> bool:
    """Whether two neighbours of one role are one turn. A picture stays with the words it came with."""
    if one.role == "user":
        return not one.images and not other.images
    return one.role == "assistant" and not one.tool_calls
