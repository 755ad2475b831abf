"""Turns of user and assistant in alternation, as the wires with content in blocks want them."""

from collections.abc import Sequence
from typing import Any, Literal

Block = dict[str, Any]
Turn = dict[str, Any]

CONTINUE = "Continue."


class Turns:
    """Turns that grow at the end. The first and the last are the user's: words stand in where none are.

    A turn that was given out never changes: when more is said in it, a new one takes its place.
    """

    def __init__(self, opening: Block, closing: Block) -> None:
        self._opening = opening
        self._closing = closing
        self._turns: list[Turn] = []

    def __bool__(self) -> bool:
        return bool(self._turns)

    def put(self, role: Literal["user", "assistant"], blocks: Sequence[Block]) -> None:
        """Say these blocks, in the turn that is open if it is this role's; no blocks are no turn."""
        if not blocks:
            return
        if self._turns and self._turns[-1]["role"] == role:
            self._turns[-1] = {"role": role, "content": [*self._turns[-1]["content"], *blocks]}
            return
        if not self._turns and role == "assistant":
            self._turns.append(_user_turn(self._opening))
        self._turns.append({"role": role, "content": list(blocks)})

    def end(self) -> tuple[int, int]:
        """The place of the last block: its turn and its place there; (-1, -1) when nothing is said."""
        return (len(self._turns) - 1, len(self._turns[-1]["content"]) - 1) if self._turns else (-1, -1)

    def whole(self) -> list[Turn]:
        """The turns so far, for a caller to change as a list."""
        if not self._turns:
            return [_user_turn(self._opening)]
        is_answered = self._turns[-1]["role"] == "assistant"
        return [*self._turns, _user_turn(self._closing)] if is_answered else list(self._turns)


def _user_turn(block: Block) -> Turn:
    return {"role": "user", "content": [block]}
