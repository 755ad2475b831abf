"""Instructions hold for one response: they stand before what was said, and are not part of it.

A summary says by places which messages it stands for, so the places move with the instructions.
"""

from collections.abc import Sequence

import msgspec

from hermes.messages import Message


def instructed(instructions: str, said: Sequence[Message]) -> tuple[Message, ...]:
    """What was said, under instructions."""
    first = Message(role="system", content=instructions)
    return (first, *(_moved(message, 1, (0,)) for message in said))


def uninstructed(messages: Sequence[Message]) -> tuple[Message, ...]:
    """What was said, without the instructions that it stood under."""
    return tuple(_moved(message, -1) for message in messages[1:])


def _moved(message: Message, by: int, beside: tuple[int, ...] = ()) -> Message:
    """A message among others that have moved; a summary does not stand for what is put `beside` it."""
    if not message.replaces:
        return message
    kept = (*beside, *(at + by for at in message.besides if at + by >= 0))
    return msgspec.structs.replace(message, replaces=message.replaces + by, besides=kept)
