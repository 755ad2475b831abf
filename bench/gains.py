"""How good an order is, as a number."""

import math
from collections.abc import Sequence

DEPTH = 10
GOOD = 2
"""The lowest grade that counts as found for MRR, where any is so good."""


def ndcg(grades: Sequence[int], others: Sequence[int] = ()) -> float:
    """Discounted gain of the grades in the order shown, as a share of the best order.

    `others` are the grades of what was not shown.
    """
    best = _gain(sorted((*grades, *others), reverse=True))
    return _gain(grades) / best if best else 0.0


def _gain(grades: Sequence[int]) -> float:
    return sum((2**grade - 1) / math.log2(2 + at) for at, grade in enumerate(grades[:DEPTH]))


def reciprocal(grades: Sequence[int]) -> float:
    """One over the place of the first good one; nothing when there is none."""
    good = min(GOOD, max(grades, default=0))
    return next((1 / at for at, grade in enumerate(grades[:DEPTH], start=1) if grade >= good > 0), 0.0)
