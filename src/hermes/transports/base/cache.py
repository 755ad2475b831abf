"""Where a prompt cache is told to end: a pure plan over the history, placed by each protocol."""

from collections.abc import Sequence

from hermes.messages import Message

LOOKBACK = 18
"""Vendors look back twenty blocks for an earlier mark; two are left for what a turn adds of its own."""


def marked_messages(messages: Sequence[Message]) -> tuple[int, ...]:
    """The messages whose end is marked: the last one, and the one that was last in the call before.

    The second mark lets this call read what the last call wrote. When a turn added more than a
    vendor looks back over, it moves up to stay in sight of the first.
    """
    if not messages:
        return ()
    last = len(messages) - 1
    asked = next((at for at in range(last, -1, -1) if messages[at].role == "assistant"), 0) - 1
    if asked < 0 or messages[asked].role == "system":
        return (last,)
    return (max(asked, last - LOOKBACK), last)
