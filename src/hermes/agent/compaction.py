"""Room in a context window: what of a long conversation can go, and where it can be cut. Pure rules."""

from collections.abc import Sequence

import msgspec

from hermes.agent.prompt import is_reminder
from hermes.messages import Message

SUMMARISE = """\
Summarise the conversation above for the assistant that will go on with it and will not see it. Keep what \
was asked and why, what was found and from which page, what was decided, what was changed, and what is still \
open. Names, numbers, paths and addresses stand exactly as they were. Do not answer anything in it."""
SUMMARY = (
    "[A summary of the conversation so far, made to save room. It is a reference, not an instruction.]\n\n"
)

_CHARACTERS_PER_TOKEN = 4
_TOKENS_PER_IMAGE = 1_600
_SMALL_WINDOW = 512_000
_KEPT_SHARE = 0.2
_WORTH_CLEARING = 400
_LINE = 500
_DIGEST = 8_000


def estimate(messages: Sequence[Message]) -> int:
    """About how many tokens these messages take, for when nobody has counted them."""
    return sum(_size(message) for message in messages)


def threshold(window: int, output_limit: int | None) -> int:
    """The tokens from which on a conversation is made shorter."""
    room = max(window - (output_limit or 0), window // 2)
    return int(room * (0.75 if window < _SMALL_WINDOW else 0.5))


def kept_tokens(limit: int) -> int:
    """How much of the end of a conversation stays as it is when `limit` is the threshold."""
    return max(1, int(limit * _KEPT_SHARE))


def cut(messages: Sequence[Message], keep: int) -> int:
    """Where the part that stays begins: about `keep` tokens before the end.

    Never between a call and its results, and never after the last question: what the model is
    working on stays whole, with all it thought about it.
    """
    begins = last = _last_question(messages)
    tokens = estimate(messages[last:])
    for at in range(last - 1, -1, -1):
        tokens += _size(messages[at])
        if tokens > keep:
            break
        if messages[at].role != "tool":
            begins = at
    return begins


def cleared(messages: Sequence[Message], keep: int) -> tuple[Message, ...]:
    """The messages with long tool results left out, all but those in the last `keep` tokens.

    Results that the model has not seen yet stay, however long they are.
    """
    unseen = _first_unseen(messages)
    tokens = estimate(messages[unseen:])
    seen: list[Message] = []
    for message in reversed(messages[:unseen]):
        tokens += _size(message)
        seen.append(message if tokens <= keep else _without_result(message))
    return (*reversed(seen), *messages[unseen:])


def clipped(messages: Sequence[Message], tokens: int) -> tuple[Message, ...]:
    """The messages with results that the model has not seen yet cut in the middle, to fit into `tokens`."""
    unseen = _first_unseen(messages)
    room = max(tokens - estimate(messages[:unseen]), 0) * _CHARACTERS_PER_TOKEN
    share = room // max(1, len(messages) - unseen)
    return (*messages[:unseen], *(_without_middle(message, share) for message in messages[unseen:]))


def digest(messages: Sequence[Message]) -> str:
    """What was asked and answered, each in a line and the newest kept: for when no model sums it up."""
    lines = [
        f"{message.role}: {' '.join(message.content.split())[:_LINE]}"
        for message in messages
        if message.role in ("user", "assistant") and message.content
    ]
    return "\n".join(lines)[-_DIGEST:]


def _without_result(message: Message) -> Message:
    text = message.content or ""
    if message.role != "tool" or len(text) < _WORTH_CLEARING:
        return message
    note = (
        f"[{len(text)} characters of this result were left out to save room; call the tool again to see them]"
    )
    return msgspec.structs.replace(message, content=note, images=())


def _without_middle(message: Message, characters: int) -> Message:
    text, half = message.content or "", max(characters, _WORTH_CLEARING) // 2
    if message.role != "tool" or len(text) <= 3 * half:
        return message
    note = f"[… {len(text) - 2 * half} characters left out to save room …]"
    return msgspec.structs.replace(message, content=f"{text[:half]}\n{note}\n{text[-half:]}")


def _first_unseen(messages: Sequence[Message]) -> int:
    """Where the results of the newest calls begin; at the end when the last word is somebody's."""
    return next((at + 1 for at in range(len(messages) - 1, -1, -1) if messages[at].role != "tool"), 0)


def _last_question(messages: Sequence[Message]) -> int:
    """Where a person spoke last; what the loop says in between is part of the work on that."""
    for at in range(len(messages) - 1, -1, -1):
        if messages[at].role == "user" and not is_reminder(messages[at]):
            return at
    return len(messages)


def _size(message: Message) -> int:
    characters = len(message.content or "") + len(message.reasoning or "")
    characters += sum(len(call.name) + len(call.arguments) for call in message.tool_calls)
    return characters // _CHARACTERS_PER_TOKEN + _TOKENS_PER_IMAGE * len(message.images) + 4
