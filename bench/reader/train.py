"""Train the page reader: `python -m bench.reader.train DIR [--folds]`, or `make train-reader DATA=DIR`.

DIR holds labelled pages (see `pages`). Every run of every page is cut, labelled by its gold text and
described by the package's own code, so nothing differs between training and use. Linear weights for
names and the kinds of pages come first; trees over the features then learn with values that
were made without the page's own domain. The result is written into the package as `model.bin`. With
`--folds` nothing is written: four parts, split by domain, are each read by a model of the other three.
"""

import argparse
import hashlib
from collections import Counter
from collections.abc import Sequence
from math import floor
from pathlib import Path

import lightgbm
import msgspec
import numpy as np

from bench.reader.dataset import GROUPS, Labelled, Table, out_of_fold, read
from bench.reader.fit import Kinds, Linear, boost, filled
from bench.reader.pages import load
from bench.reader.score import words
from hermes.tools.web.reader import model as shipped
from hermes.tools.web.reader.choose import choose, expected
from hermes.tools.web.reader.features import KINDS, NAMES, SHARED

FOLDS = 4
EXITS = (10, 20, 40, 70)
"""After how many trees a run may be clear."""
LIKELY, UNLIKELY = 0.15, 0.7
RARE = 0.001
"""How many of the likely runs may be taken for clear ones, and of the unlikely."""


class Trained(msgspec.Struct):
    linear: Linear
    kinds: Kinds
    trees: lightgbm.Booster
    exits: tuple[shipped.Exit, ...]
    integral: frozenset[int]
    """The features that are whole numbers."""


def train(table: Table, pages: list[int]) -> Trained:
    """Linear weights, kinds and trees from some pages of the table."""
    tokens = out_of_fold(table, pages, len(GROUPS), lambda seen: Linear(table, seen))
    guesses = out_of_fold(table, pages, len(KINDS), lambda seen: Kinds(table, seen))
    features = filled(table, pages, tokens, guesses)
    trees = boost(table, pages, features)
    integral = np.flatnonzero((features == np.round(features)).all(0))
    return Trained(
        Linear(table, pages), Kinds(table, pages), trees, exits(trees, features), frozenset(integral.tolist())
    )


def exits(trees: lightgbm.Booster, features: np.ndarray) -> tuple[shipped.Exit, ...]:
    """Where and how far from the middle a run is clear, by what all trees say of it."""
    final = np.asarray(trees.predict(features, raw_score=True))
    odds = 1 / (1 + np.exp(-final))
    found = []
    for count in EXITS:
        first = np.asarray(trees.predict(features, raw_score=True, num_iteration=count))
        least = np.quantile(first[odds >= LIKELY], RARE)
        most = np.quantile(first[odds <= UNLIKELY], 1 - RARE)
        rest = final - first
        values = (least, most, rest[first < least].mean(), rest[first > most].mean())
        found.append(shipped.Exit(count, *(round(float(value) * shipped.LEAF_UNIT) for value in values)))
    return tuple(found)


def judge(table: Table, trained: Trained, pages: list[int]) -> list[tuple[str, float]]:
    """The kind and the F1 of pages, as the model reads them."""
    features = filled(table, pages, trained.linear(pages), trained.kinds(pages))
    model = shipped.Model(weights(trained, ""))
    first = len(NAMES) - len(SHARED)
    found, at = [], 0
    for number in pages:
        page = table.pages[number]
        rows = features[at : at + len(page.labels)]
        at += len(rows)
        own = model.odds(rows[:, :first].T.tolist(), rows[0, first:].tolist())
        kept = choose(page.cut, own, expected(page.cut.words, own))
        found.append((page.kind, _f1(page, kept)))
    return found


def _f1(page: Labelled, kept: Sequence[bool]) -> float:
    ours = Counter(
        word for text, is_kept in zip(page.cut.texts, kept, strict=True) if is_kept for word in words(text)
    )
    theirs = Counter(page.gold)
    return 2 * (ours & theirs).total() / max(1, ours.total() + theirs.total())


def folds(table: Table) -> None:
    """Print the F1 of each kind over pages that the model has not seen."""
    found: list[tuple[str, float]] = []
    everything = list(range(len(table.pages)))
    for part in table.folds(everything, FOLDS, ""):
        held = set(part)
        trained = train(table, [page for page in everything if page not in held])
        found += judge(table, trained, part)
    for kind in ("", *KINDS):
        scores = [f1 for of, f1 in found if kind in ("", of)]
        low = sum(f1 < 0.5 for f1 in scores) / len(scores)
        print(
            f"{kind or 'all':14} {len(scores):5} pages  F1 {np.mean(scores):.4f}  under 0.5 {low:.3f}",
            flush=True,
        )


def weights(trained: Trained, provenance: str) -> shipped.Weights:
    """The model as the package keeps it."""
    near, far = trained.linear.tokens("near"), trained.linear.tokens("far")
    groups = _trees(trained.kinds.trees, frozenset())
    return shipped.Weights(
        provenance=provenance,
        features=NAMES,
        names={name: (near.get(name, 0), far.get(name, 0)) for name in sorted({*near, *far})},
        trees=tuple(_trees(trained.trees, trained.integral)),
        exits=trained.exits,
        kinds=tuple(tuple(groups[kind :: len(KINDS)]) for kind in range(len(KINDS))),
    )


def _trees(booster: lightgbm.Booster, integral: frozenset[int]) -> list[shipped.Tree]:
    return [_tree(tree["tree_structure"], integral) for tree in booster.dump_model()["tree_info"]]


def _tree(node: dict, integral: frozenset[int]) -> shipped.Tree:
    if "split_feature" not in node:
        return -1, round(node["leaf_value"] * shipped.LEAF_UNIT)
    feature, most = node["split_feature"], node["threshold"]
    most = floor(most) if feature in integral else float(f"{most:.6g}")
    return (
        feature,
        most,
        *(number for side in ("left_child", "right_child") for number in _tree(node[side], integral)),
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder")
    parser.add_argument("--folds", action="store_true", help="measure by cross-validation, write nothing")
    options = parser.parse_args()
    pages = [page for sample in load(options.folder) if (page := read(sample)) is not None]
    table = Table(pages)
    if options.folds:
        folds(table)
        return
    digest = hashlib.sha256("".join(page.id for page in pages).encode()).hexdigest()[:12]
    provenance = f"{len(pages)} labelled pages, set {digest}, `make train-reader`"
    data = msgspec.msgpack.encode(weights(train(table, list(range(len(pages)))), provenance))
    target = Path(shipped.__file__).with_name("model.bin")
    target.write_bytes(data)
    print(f"{target.name}: {len(data)} bytes, sha256 {hashlib.sha256(data).hexdigest()[:16]}; {provenance}")


if __name__ == "__main__":
    main()
