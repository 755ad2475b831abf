"""What was learnt from labelled pages: weights of names, and trees over the features of a run.

The file beside this one holds it all; `make train-reader` makes it. The trees are turned into one
function when they are first needed, for Python runs that many times faster than a walk over nodes.
"""

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from math import exp
from typing import Any

import msgspec

from hermes.tools.web.reader.features import PAGE, SHARED
from hermes.tools.web.reader.names import name_tokens

UNIT = 32
"""Weights and leaves are kept as whole numbers of this fraction: a byte or two each."""
LEAF_UNIT = 1000
MOST_REMEMBERED = 20_000

_FILE = os.path.join(os.path.dirname(__file__), "model.bin")

Tree = tuple[float, ...]
"""Pairs, left before right: a feature and the most it may be to go left, or -1 and the value of a leaf."""


class Exit(msgspec.Struct, frozen=True, array_like=True):
    """A place among the trees where a run that is clear by then need not see the others."""

    trees: int
    """How many trees have been asked."""
    least: int
    """What they give together to a run that may still be wanted."""
    most: int
    """... and to one that may still not be."""
    below: int
    """What the other trees would add on average to a run below the least."""
    above: int


class Weights(msgspec.Struct, frozen=True, array_like=True):
    """The model as it is stored."""

    provenance: str
    features: tuple[str, ...]
    names: Mapping[str, tuple[int, int]]
    """How much a part of a class or an id speaks for content: near to a run, and far above it."""
    trees: tuple[Tree, ...]
    """Over the features of a run: what speaks for keeping it."""
    exits: tuple[Exit, ...]
    kinds: tuple[tuple[Tree, ...], ...]
    """Over the features of a page: what speaks for each kind."""


class Model:
    """Weighs names and runs."""

    def __init__(self, weights: Weights) -> None:
        self.features = weights.features
        self.provenance = weights.provenance
        self._weigh = _compiled(_weighing(weights), "weigh")
        self._kinds = _compiled(_guessing(weights.kinds), "guess")
        self._names = {name: (near / UNIT, far / UNIT) for name, (near, far) in weights.names.items()}
        self._known: dict[str, tuple[float, float]] = {}

    def names(self, text: str) -> tuple[float, float]:
        """What a class or an id says of the text near below it, and of that farther down."""
        found = self._known.get(text)
        if found is None:
            if len(self._known) >= MOST_REMEMBERED:
                self._known.clear()
            near = far = 0.0
            for token in name_tokens(text):
                if token in self._names:
                    weight = self._names[token]
                    near += weight[0]
                    far += weight[1]
            found = self._known[text] = (near, far)
        return found

    def odds(self, table: Sequence[Sequence[float]], shared: Sequence[float]) -> list[float]:
        """The probability of each run to be wanted, from its features in columns and those of its page."""
        return [1 / (1 + exp(-weight / LEAF_UNIT)) for weight in self._weigh(table, shared)]

    def kinds(self, page: Sequence[float]) -> list[float]:
        """The probability of each kind of page."""
        weights = [exp(weight / LEAF_UNIT) for weight in self._kinds(page)]
        total = sum(weights)
        return [weight / total for weight in weights]


@cache
def model() -> Model:
    """The model of this package, read once."""
    with open(_FILE, "rb") as file:
        return Model(msgspec.msgpack.decode(file.read(), type=Weights))


def _fractions(trees: Sequence[Tree]) -> frozenset[float]:
    """The features that are not always whole: Python compares numbers of one type much faster."""
    numbers = (pair for tree in trees for pair in zip(tree[::2], tree[1::2], strict=True))
    return frozenset(feature for feature, value in numbers if value % 1)


def _compiled(source: str, name: str) -> Callable[..., list[float]]:
    """A function that was written as text."""
    known: dict[str, Any] = {}
    exec(source, known)  # noqa: S102 - our own numbers
    found: Callable[..., list[float]] = known[name]
    return found


def _weighing(weights: Weights) -> str:
    """A function of the features of many runs and of their page: the sum of the trees for each run."""
    first = sum(name not in SHARED for name in weights.features)
    return "\n".join(
        (
            "def weigh(table, shared):",
            f"  {_numbered(first, len(weights.features))} = shared",
            "  found = []",
            f"  for {_numbered(0, first)} in zip(*table):",
            *_steps(weights, 0, "    "),
            "    found.append(weight)",
            "  return found",
        )
    )


def _steps(weights: Weights, at: int, indent: str) -> Iterator[str]:
    """The lines that ask the trees up to one exit and, of a run that is not clear then, those after it."""
    starts = (0, *(exit.trees for exit in weights.exits), len(weights.trees))
    trees = weights.trees[starts[at] : starts[at + 1]]
    yield f"{indent}weight {'+' if at else ''}= {_sum(trees, _fractions(weights.trees))}"
    if at < len(weights.exits):
        exit = weights.exits[at]
        yield f"{indent}if weight < {exit.least}: weight += {exit.below}"
        yield f"{indent}elif weight > {exit.most}: weight += {exit.above}"
        yield f"{indent}else:"
        yield from _steps(weights, at + 1, f"{indent}  ")


def _guessing(kinds: Sequence[Sequence[Tree]]) -> str:
    """A function of the features of a page: the sums of the trees of each kind."""
    sums = ",".join(_sum(trees, _fractions(trees)) for trees in kinds)
    return f"def guess(page):\n  {_numbered(0, len(PAGE))} = page\n  return [{sums}]"


def _numbered(first: int, last: int) -> str:
    """Names for the features from one to another."""
    return f"({''.join(f'x{index},' for index in range(first, last))})"


def _sum(trees: Sequence[Tree], fractions: frozenset[float]) -> str:
    return "+".join(_subtree(iter(tree), fractions) for tree in trees) or "0"


def _subtree(numbers: Iterator[float], fractions: frozenset[float]) -> str:
    feature, value = next(numbers), next(numbers)
    if feature < 0:
        return f"{value:.0f}"
    most = float(f"{value:.6g}") if feature in fractions else round(value)
    left = _subtree(numbers, fractions)
    return f"({left} if x{feature:.0f}<={most!r} else {_subtree(numbers, fractions)})"
