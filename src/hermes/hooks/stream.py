"""Callbacks that see an answer piece by piece, and may give another piece in its place."""

from collections.abc import Mapping, Sequence
from typing import Any, Literal

from hermes.errors import Block
from hermes.hooks.callee import Callee
from hermes.hooks.names import MIDDLEWARE_SCHEMA, OBSERVER_SCHEMA

Sort = Literal["text", "reasoning"]


class Pieces:
    """The pieces of one answer on their way to whoever reads it.

    A callback is called for each piece, and at the end once more with an empty one and `final`, so that it
    can hold back what it has not seen whole. It runs where the answer arrives, so it must not wait.
    """

    def __init__(self, callees: Sequence[Callee], context: Mapping[str, Any]) -> None:
        self._callees = [callee for callee in callees if callee.wants(context)]
        self._context = context

    def pass_on(self, sort: Sort, piece: str) -> str:
        """The piece as it leaves the last callback."""
        for callee in self._callees:
            piece = self._changed(callee, sort, piece, final=False)
        return piece

    def end(self, sort: Sort) -> str:
        """What the callbacks still held back."""
        rest = ""
        for callee in self._callees:
            rest = self._changed(callee, sort, rest, final=False) if rest else ""
            rest += self._changed(callee, sort, "", final=True)
        return rest

    def _changed(self, callee: Callee, sort: Sort, piece: str, *, final: bool) -> str:
        if callee.is_left_out():
            return piece
        arguments = {
            "telemetry_schema_version": OBSERVER_SCHEMA,
            "middleware_schema_version": MIDDLEWARE_SCHEMA,
            **self._context,
            "delta": piece,
            "kind": sort,
            "final": final,
            "ctx": self._context,
        }
        try:
            value = callee.callback(**callee.fitting(arguments))
        except Block as block:
            raise block.by(callee.plugin, callee.name) from None
        except Exception as error:
            callee.failed(error)
            if callee.is_closed:
                raise callee.block("it failed") from error
            return piece
        callee.succeeded()
        if value is None:
            return piece
        if not isinstance(value, str) or callee.observes:
            callee.ignored("it returned something else than text, or may only observe")
            return piece
        return value
