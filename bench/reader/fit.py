"""Fitting: linear weights for tokens, boosted trees for runs and for kinds of page. One thread, one seed."""

from collections.abc import Sequence

import lightgbm
import numpy as np
from scipy import sparse
from scipy.optimize import minimize

from bench.reader.dataset import GROUPS, Table
from hermes.tools.web.reader.features import KINDS, NAMES
from hermes.tools.web.reader.model import UNIT

LEAST_DOMAINS = 6
RIDGE = 0.3
LEAST_WEIGHT = 3
"""Of the unit that weights are stored in: what is lighter is left out."""
TREES = 120
KIND_TREES = 40

_COMMON = {
    "verbose": -1,
    "num_threads": 1,
    "seed": 7,
    "deterministic": True,
    "force_row_wise": True,
}
_RUNS = {
    **_COMMON,
    "objective": "cross_entropy",
    "learning_rate": 0.085,
    "num_leaves": 31,
    "min_data_in_leaf": 60,
    "min_sum_hessian_in_leaf": 0.2,
    "feature_fraction": 0.5,
    "bagging_fraction": 0.8,
    "bagging_freq": 1,
    "lambda_l2": 2.0,
    "max_bin": 127,
}
_KINDS = {
    **_COMMON,
    "objective": "multiclass",
    "num_class": len(KINDS),
    "learning_rate": 0.12,
    "num_leaves": 6,
    "min_data_in_leaf": 8,
    "feature_fraction": 0.5,
    "lambda_l2": 3.0,
}


class Linear:
    """Weights of tokens: how much each speaks for content, all fitted together."""

    def __init__(self, table: Table, pages: Sequence[int]) -> None:
        self.table = table
        rows = table.rows(pages)
        domains = sorted({int(table.domains[page]) for page in pages})
        self.columns = {
            group: np.flatnonzero(np.asarray(table.spread[group][domains].sum(0)).ravel() >= LEAST_DOMAINS)
            for group in GROUPS
        }
        parts = [table.tokens[group][rows][:, self.columns[group]] for group in GROUPS]
        found = _ridge(sparse.hstack(parts).tocsr(), table.labels[rows], table.weights[rows])
        found = np.round(found * UNIT)
        found[np.abs(found) < LEAST_WEIGHT] = 0
        ends = np.cumsum([part.shape[1] for part in parts])[:-1]
        self.weights = dict(zip(GROUPS, np.split(found, ends), strict=True))

    def __call__(self, pages: list[int]) -> np.ndarray:
        rows = self.table.rows(pages)
        return np.array(
            [
                self.table.tokens[group][rows][:, self.columns[group]] @ self.weights[group] / UNIT
                for group in GROUPS
            ]
        ).T

    def tokens(self, group: str) -> dict[str, int]:
        """The tokens that weigh something."""
        names = self.table.vocabulary[group]
        pairs = zip(self.columns[group], self.weights[group], strict=True)
        return {names[at]: int(weight) for at, weight in pairs if weight}


def _ridge(tokens: sparse.csr_matrix, labels: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Logistic regression on soft labels, with small weights preferred."""
    inputs = sparse.hstack([tokens, np.ones((tokens.shape[0], 1))]).tocsr()
    turned = inputs.T.tocsr()

    def loss(b: np.ndarray) -> tuple[float, np.ndarray]:
        scores = inputs @ b
        wrong = 1 / (1 + np.exp(-scores)) - labels
        slope = turned @ (weights * wrong)
        slope[:-1] += RIDGE * b[:-1]
        value = float((weights * (np.logaddexp(0, scores) - labels * scores)).sum())
        return value + 0.5 * RIDGE * float(b[:-1] @ b[:-1]), slope

    start = np.zeros(inputs.shape[1])
    return minimize(loss, start, jac=True, method="L-BFGS-B", options={"maxiter": 60}).x[:-1]


class Kinds:
    """The kind of a page, from what is known of it as a whole."""

    def __init__(self, table: Table, pages: Sequence[int]) -> None:
        self.table = table
        kinds = [KINDS.index(table.pages[page].kind) for page in pages]
        self.trees = lightgbm.train(_KINDS, lightgbm.Dataset(self._inputs(pages), kinds), KIND_TREES)

    def _inputs(self, pages: Sequence[int]) -> np.ndarray:
        return np.array([self.table.pages[page].page for page in pages])

    def __call__(self, pages: list[int]) -> np.ndarray:
        sizes = [len(self.table.pages[page].labels) for page in pages]
        return np.repeat(self.trees.predict(self._inputs(pages)), sizes, axis=0)


def filled(table: Table, pages: Sequence[int], linear: np.ndarray, kinds: np.ndarray) -> np.ndarray:
    """The features of some pages, with what the linear weights and the kinds say put in."""
    found = table.features[table.rows(pages)].copy()
    for at, name in enumerate(GROUPS):
        found[:, NAMES.index(name)] = linear[:, at]
    for at, kind in enumerate(KINDS):
        found[:, NAMES.index(f"kind-{kind}")] = kinds[:, at]
    return found


def boost(table: Table, pages: Sequence[int], features: np.ndarray) -> lightgbm.Booster:
    rows = table.rows(pages)
    weights = table.weights[rows]
    data = lightgbm.Dataset(features, table.labels[rows], weight=weights / weights.mean())
    return lightgbm.train(_RUNS, data, TREES)
