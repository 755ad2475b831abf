"""Where a summary belongs in a session that others wrote to as well."""

from collections.abc import Sequence

import msgspec

from hermes.messages import Message


def placed(summary: Message, known: Sequence[str], rows: Sequence[str]) -> Message:
    """The summary in the places of the file, `rows`, where its writer's messages, `known`, are some of them.

    Both are the messages as they are stored, in order.
    """
    places = _places(known, rows)
    replaced = {places[at] for at in range(summary.replaces) if at in places and at not in summary.besides}
    end = max(replaced, default=-1) + 1
    besides = tuple(at for at in range(end) if at not in replaced)
    return msgspec.structs.replace(summary, replaces=end, besides=besides)


def _places(known: Sequence[str], rows: Sequence[str]) -> dict[int, int]:
    """Where each known message stands among the rows; one that is not found is left out."""
    places: dict[int, int] = {}
    start = 0
    for at, body in enumerate(known):
        try:
            places[at] = rows.index(body, start)
        except ValueError:
            continue
        start = places[at] + 1
    return places
