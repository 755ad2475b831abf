"""The rows of a search in a better order: by their words, or as a reranker says."""

import asyncio
import math
from collections.abc import Mapping, Sequence

from hermes.errors import Block
from hermes.protocols import Query, Reranker, SearchRow
from hermes.ranking.lexical import order, scores
from hermes.tools.web.filters import DAYS

LEXICAL = "lexical"
OFF = "off"
PATIENCE = 5.0
"""Seconds that a reranker has."""
_BY_WORDS = "the results are in the order of their words"


async def reordered(
    query: Query,
    rows: Sequence[SearchRow],
    name: str,
    rerankers: Mapping[str, Reranker],
    *,
    patience: float = PATIENCE,
) -> tuple[list[SearchRow], tuple[str, ...]]:
    """The rows, best first, as `name` ranks them; and what is to be known of that order."""
    judged = "" if name == LEXICAL else await _judged(query, rows, name, rerankers, patience)
    if not isinstance(judged, str):
        return [rows[at] for at in order(judged)], ()
    return [rows[at] for at in order(by_words(query, rows))], (judged,) if judged else ()


def by_words(query: Query, rows: Sequence[SearchRow]) -> list[float]:
    """The scores of rows by the words they show; new ones are worth more where a filter asks for them."""
    wanted = float(DAYS[query.freshness]) if query.freshness else None
    return scores(query.text, rows, half_life_days=wanted)


async def _judged(
    query: Query, rows: Sequence[SearchRow], name: str, rerankers: Mapping[str, Reranker], patience: float
) -> list[float] | str:
    """What a reranker says of the rows, or why it says nothing."""
    reranker = rerankers.get(name)
    if reranker is None:
        return f"`web.rerank` names `{name}`, which no enabled plugin offers here: {_BY_WORDS}"
    try:
        async with asyncio.timeout(patience):
            return _numbers(await reranker.rank(query, tuple(rows)), len(rows))
    except Block:
        raise
    except TimeoutError:
        return f"`{name}` did not rank the results within {patience:g} s: {_BY_WORDS}"
    except Exception as error:  # noqa: BLE001 - it is another author's code
        return f"`{name}` could not rank the results ({type(error).__name__}): {_BY_WORDS}"


def _numbers(given: Sequence[float], count: int) -> list[float]:
    numbers = [float(value) for value in given]
    if len(numbers) != count or not all(map(math.isfinite, numbers)):
        raise ValueError("a reranker gives one number for each row")
    return numbers
