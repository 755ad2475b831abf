"""Copies of payloads: containers are new, what they hold is shared."""

from collections.abc import Callable
from functools import partial
from typing import Any, TypeVar

import msgspec

T = TypeVar("T")

_LEAVES = frozenset({str, int, float, bool, type(None), bytes})


def copier(value: dict[str, Any]) -> Callable[[], dict[str, Any]]:
    """What makes copies of a dict that nobody changes, each like `copied` would."""
    is_flat = _LEAVES.issuperset(map(type, value.values()))
    return value.copy if is_flat else partial(copied, value)


def copied(value: T) -> T:
    """A copy that can be changed without changing the original, however deep.

    Dicts, lists and tuples are made anew. All else is shared: locks, handles and clients cannot be copied,
    and text needs not be.
    """
    given: Any = value
    if type(given) is dict and _LEAVES.issuperset(map(type, given.values())):
        return given.copy()  # type: ignore[return-value]
    # Done in C where that is faithful: it would turn sets, enums and objects into something else.
    try:
        made: T = msgspec.to_builtins(value, builtin_types=(bytes,))
        if made == value:
            return made
    except (TypeError, ValueError, RecursionError):
        pass
    try:
        return _structure(value, {})  # type: ignore[no-any-return]
    except RecursionError:
        return value


def _structure(value: Any, made: dict[int, Any]) -> Any:
    kind = type(value)
    if kind in _LEAVES:
        return value
    if id(value) in made:
        return made[id(value)]
    if kind is dict:
        fields = made[id(value)] = {}
        fields.update((key, _structure(item, made)) for key, item in value.items())
        return fields
    if kind is list:
        items = made[id(value)] = []
        items.extend(_structure(item, made) for item in value)
        return items
    if kind is tuple:
        return tuple([_structure(item, made) for item in value])
    return value


def changed_paths(before: object, after: object, most: int = 20) -> list[str]:
    """Where two payloads differ, as JSON pointers, without what stands there."""
    found: list[str] = []
    _compare(before, after, "", found, most)
    return found


def _compare(before: Any, after: Any, path: str, found: list[str], most: int) -> None:
    if before is after or len(found) >= most or before == after:
        return
    if isinstance(before, dict) and isinstance(after, dict):
        for key in before.keys() | after.keys():
            place = f"{path}/{str(key).replace('~', '~0').replace('/', '~1')}"
            if key in before and key in after:
                _compare(before[key], after[key], place, found, most)
            elif len(found) < most:
                found.append(place)
    elif isinstance(before, list) and isinstance(after, list) and len(before) == len(after):
        for at, (one, other) in enumerate(zip(before, after, strict=True)):
            _compare(one, other, f"{path}/{at}", found, most)
    else:
        found.append(path)
