"""Who comes before whom: by priority, then by registration, then as `before` and `after` ask."""

from collections.abc import Sequence

from hermes.errors import ConfigError
from hermes.hooks.callee import Callee


def ordered(callees: Sequence[Callee]) -> tuple[Callee, ...]:
    """The callees of one kind, outermost first. Wishes that contradict each other are an error."""
    by_priority = sorted(callees, key=lambda callee: callee.options.priority)
    placed: list[Callee] = []
    for callee in by_priority:
        _place(callee, by_priority, placed, ())
    return tuple(placed)


def _place(
    callee: Callee, callees: Sequence[Callee], placed: list[Callee], waiting: tuple[Callee, ...]
) -> None:
    """Place a callee after those that must come before it."""
    if callee in waiting:
        names = ", ".join(f"`{one.title}`" for one in waiting)
        raise ConfigError(
            f"the callbacks {names} want to come before each other",
            hint="disable one of them with `hermes plugins disable NAME`",
        )
    if callee in placed:
        return
    for other in callees:
        if other is not callee and _comes_first(other, callee):
            _place(other, callees, placed, (*waiting, callee))
    placed.append(callee)


def _comes_first(one: Callee, other: Callee) -> bool:
    return _names(other.options.after, one) or _names(one.options.before, other)


def _names(wanted: Sequence[str], callee: Callee) -> bool:
    return callee.plugin in wanted or callee.name in wanted
