"""Which words belong together: a noun with its verb, a word with another for much the same."""

from functools import lru_cache

from hermes.providers.scout.lexicon import DERIVED
from hermes.providers.scout.synonyms import GROUPS
from hermes.ranking.lexicon import IRREGULAR
from hermes.ranking.words import term


@lru_cache(maxsize=50_000)
def root(stem: str) -> str:
    """A coarser key that a noun, its verb and its adjective tend to share: `invent`, `invention`."""
    if len(stem) < 6 or not stem.isascii() or stem[0].isdigit():
        return stem
    for _ in range(2):
        for ending, instead in DERIVED.get(stem[-1], ()):
            if stem.endswith(ending) and len(stem) - len(ending) >= 4:
                stem = stem[: -len(ending)] + instead
                break
    return stem[:-1] if len(stem) > 4 and stem[-1] in "ei" else stem


_LINES = tuple(f" {line} " for line in GROUPS.split("\n"))


@lru_cache(maxsize=5_000)
def synonyms(stem: str) -> frozenset[str]:
    """The stems a hand-kept table holds for much the same, without the stem itself.

    Only the lines that can hold it are read: the words of a stem begin with its first two letters, or are
    irregular.
    """
    irregular = (f" {form} " for form, base in IRREGULAR.items() if base == stem)
    beginnings = (f" {stem[:2]}", *irregular)
    lines = (line for line in _LINES if any(beginning in line for beginning in beginnings))
    groups = (frozenset(map(term, line.split())) for line in lines)
    return frozenset().union(*(group for group in groups if stem in group)) - {stem}
