"""File names by pattern: `*`, `?` and `[…]` inside a name, `**` for any folders."""

import re
from collections.abc import Callable, Sequence
from fnmatch import translate


def matcher(pattern: str) -> Callable[[str], bool]:
    """Whether a relative path fits; a pattern without `/` is held against the name alone."""
    parts = [None if part == "**" else re.compile(translate(part)) for part in pattern.split("/") if part]
    if "/" not in pattern.strip("/") and parts and parts[0] is not None:
        parts.insert(0, None)
    return lambda path: _fits(path.strip("/").split("/"), parts)


def _fits(names: Sequence[str], parts: Sequence[re.Pattern[str] | None]) -> bool:
    """Which prefixes of the pattern the names read so far can be; one step for each name."""
    reached = _past_any({0}, parts)
    for name in names:
        stepped = {at for at in reached if at < len(parts) and parts[at] is None}
        for at in reached:
            part = parts[at] if at < len(parts) else None
            if part is not None and part.fullmatch(name):
                stepped.add(at + 1)
        reached = _past_any(stepped, parts)
    return len(parts) in reached


def _past_any(reached: set[int], parts: Sequence[re.Pattern[str] | None]) -> set[int]:
    """`**` may stand for no folder at all."""
    for at, part in enumerate(parts):
        if at in reached and part is None:
            reached.add(at + 1)
    return reached
