"""Callbacks that rewrite what is about to be done: each sees what the one before it made."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from hermes.hooks.callee import Callee
from hermes.hooks.copying import copied
from hermes.hooks.host import Rewrite, Rewritten
from hermes.hooks.names import MIDDLEWARE_SCHEMA, OBSERVER_SCHEMA, PAYLOADS
from hermes.hooks.sequence import Round
from hermes.hooks.workers import Workers

_TRACED = ("source", "reason", "name")


class Rewriting:
    """One payload on its way through the callbacks of its kind. What is not returned has no effect."""

    def __init__(self, kind: str, payload: dict[str, Any], context: Mapping[str, Any]) -> None:
        self._payload_name = PAYLOADS[kind]
        self._original_name = f"original_{self._payload_name}"
        self._context = context
        self._original = payload
        self._payload = payload
        self._trace: list[dict[str, str]] = []
        self._rewrites: list[Rewrite] = []

    async def run(
        self,
        callees: Sequence[Callee],
        workers: Workers,
        clock: Callable[[], float],
        still_here: Callable[[], None],
    ) -> Rewritten:
        taking = (self._arguments, self._take)
        await Round(callees, self._context, *taking, workers, clock, still_here, goes_on=False).run()
        return Rewritten(self._payload, self._original, tuple(self._trace), tuple(self._rewrites))

    def _arguments(self, callee: Callee) -> dict[str, Any]:
        arguments = {
            "telemetry_schema_version": OBSERVER_SCHEMA,
            "middleware_schema_version": MIDDLEWARE_SCHEMA,
            **self._context,
            self._payload_name: copied(self._payload),
        }
        if callee.takes(self._original_name):
            arguments[self._original_name] = copied(self._original)
        return arguments

    def _take(self, callee: Callee, value: Any) -> None:
        if value is None:
            return
        payload = value.get(self._payload_name) if isinstance(value, dict) else None
        if not isinstance(payload, dict):
            callee.ignored(f"it returned something else than `{{{self._payload_name!r}: {{…}}}}`")
        elif callee.observes:
            callee.ignored("it may only observe, and what it returned had no effect")
        else:
            self._rewrites.append(Rewrite(callee.plugin, callee.name, self._payload, payload))
            self._trace.append(_entry(value))
            self._payload = payload


def _entry(value: Mapping[str, Any]) -> dict[str, str]:
    told = {key: value[key] for key in _TRACED if isinstance(value.get(key), str) and value[key]}
    return told or {"source": "plugin"}
