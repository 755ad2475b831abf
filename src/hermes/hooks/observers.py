"""Callbacks that are told what happens. What they answer is the asker's business."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from hermes.hooks.callee import Callee
from hermes.hooks.copying import copied
from hermes.hooks.host import Heard
from hermes.hooks.names import OBSERVER_SCHEMA
from hermes.hooks.sequence import Round
from hermes.hooks.workers import Workers

_COPIED = (dict, list)


async def tell(
    callees: Sequence[Callee],
    payload: Mapping[str, Any],
    workers: Workers,
    clock: Callable[[], float],
    still_here: Callable[[], None],
) -> tuple[Heard, ...]:
    """Tell everybody; gives what each answered, in their order. A policy that fails raises `Block`."""
    heard: list[Heard] = []

    def arguments(_callee: Callee) -> dict[str, Any]:
        own = {key: copied(value) if type(value) in _COPIED else value for key, value in payload.items()}
        return {"telemetry_schema_version": OBSERVER_SCHEMA, **own}

    def take(callee: Callee, value: Any) -> None:
        if value is None:
            return
        if callee.observes:
            callee.ignored("it may only observe, and what it returned had no effect")
        else:
            heard.append(Heard(callee.plugin, callee.name, value))

    await Round(callees, payload, arguments, take, workers, clock, still_here, goes_on=True).run()
    return tuple(heard)
