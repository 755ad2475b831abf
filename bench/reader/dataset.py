"""Labelled pages as numbers: the features, tokens, labels and weights of every run."""

import hashlib
from collections.abc import Callable, Sequence

import msgspec
import numpy as np
from scipy import sparse
from selectolax.lexbor import LexborDocumentOptions, LexborHTMLParser

from bench.reader.label import labels
from bench.reader.pages import Sample
from bench.reader.score import words
from hermes.tools.web.reader.cut import Cut, Element, cut
from hermes.tools.web.reader.features import KINDS, columns
from hermes.tools.web.reader.metadata import Head
from hermes.tools.web.reader.names import name_tokens
from hermes.tools.web.reader.signs import signs

NEAR = 3
MOST_NOISE = 3.0
"""How much the unwanted runs of a page may weigh against its gold."""
GROUPS = ("near", "far")
"""The groups of tokens, and the features that their weights fill."""


class Labelled(msgspec.Struct):
    """One page: a row for each run."""

    id: str
    kind: str
    domain: str
    cut: Cut
    features: np.ndarray
    page: list[float]
    labels: np.ndarray
    weights: np.ndarray
    tokens: dict[str, list[list[str]]]
    gold: list[str]


def read(sample: Sample) -> Labelled | None:
    """A page cut, labelled and weighed; None where it has no text or no gold."""
    tree = LexborHTMLParser(sample.html, options=LexborDocumentOptions.WO_EVENTS)
    head = Head(tree)
    if tree.body is None or sample.text is None:
        return None
    found = cut(tree.body, lambda _name: (0.0, 0.0))
    if not found.texts:
        return None
    about = signs(sample.url, head.data, head.fields.get("og:type", ""))
    page: list[float] = []

    def unlearnt(known: Sequence[float]) -> list[float]:
        page.extend(known)
        return [0.0] * len(KINDS)

    table, shared = columns(found, about, unlearnt)
    covered = np.array(labels(found.texts, sample.text))
    gold = words(sample.text)
    labelled = Labelled(
        id=sample.id,
        kind=sample.type,
        domain=sample.domain,
        cut=found,
        features=np.hstack([np.array(table, dtype=np.float64).T, np.tile(shared, (len(found.texts), 1))]),
        page=page,
        labels=covered,
        weights=_weights(np.array(found.words, dtype=float), covered, len(gold)),
        tokens=_tokens(found),
        gold=gold,
    )
    for element in found.containers:
        element.node = None
    found.inline.clear()
    found.loose.clear()
    found.frames.clear()
    return labelled


def _weights(counts: np.ndarray, covered: np.ndarray, gold: int) -> np.ndarray:
    """Words over words of the gold, so that every page counts the same."""
    share = counts / max(20, gold)
    noise = float((share * (1 - covered)).sum())
    if noise > MOST_NOISE:
        share = np.where(covered < 0.5, share * MOST_NOISE / noise, share)
    return np.minimum(share, 1.0) + 1e-4


def _tokens(found: Cut) -> dict[str, list[list[str]]]:
    """What the linear weights see of each run: names near and far."""
    names: dict[int, tuple[list[str], list[str]]] = {}
    for element in found.elements:
        if id(element) not in names:
            names[id(element)] = _chain(element)
    return {
        "near": [names[id(element)][0] for element in found.elements],
        "far": [names[id(element)][1] for element in found.elements],
    }


def _chain(element: Element) -> tuple[list[str], list[str]]:
    near: list[str] = []
    far: list[str] = []
    here: Element | None = element
    steps = 0
    while here is not None and here.tag:
        attributes = here.node.attributes
        for name in ("class", "id"):
            (near if steps < NEAR else far).extend(name_tokens(attributes.get(name) or ""))
        here, steps = here.parent, steps + 1
    return near, far


class Table:
    """All pages stacked; `rows(pages)` finds those of some pages again."""

    def __init__(self, pages: list[Labelled]) -> None:
        self.pages = pages
        self.starts = np.cumsum([0, *[len(page.labels) for page in pages]])
        self.features = np.concatenate([page.features for page in pages])
        self.labels = np.concatenate([page.labels for page in pages])
        self.weights = np.concatenate([page.weights for page in pages])
        self.vocabulary: dict[str, list[str]] = {}
        self.tokens: dict[str, sparse.csr_matrix] = {}
        self.spread: dict[str, sparse.csr_matrix] = {}
        domains = {name: at for at, name in enumerate(sorted({page.domain for page in pages}))}
        self.domains = np.array([domains[page.domain] for page in pages])
        for group in GROUPS:
            self._count(group)

    def _count(self, group: str) -> None:
        known: dict[str, int] = {}
        places: list[int] = []
        ends = [0]
        for page in self.pages:
            for row in page.tokens[group]:
                places.extend([known.setdefault(token, len(known)) for token in row])
                ends.append(len(places))
        counts = sparse.csr_matrix(
            (np.ones(len(places)), np.array(places, dtype=np.int32), np.array(ends)),
            shape=(len(ends) - 1, len(known)),
        )
        counts.sum_duplicates()
        owner = np.repeat(self.domains, np.diff(self.starts))
        belongs = sparse.csr_matrix((np.ones(len(owner)), (owner, np.arange(len(owner)))))
        self.vocabulary[group] = list(known)
        self.tokens[group] = counts
        self.spread[group] = ((belongs @ counts) > 0).astype(np.int32).tocsr()

    def rows(self, pages: Sequence[int]) -> np.ndarray:
        return np.concatenate([np.arange(self.starts[page], self.starts[page + 1]) for page in pages])

    def folds(self, pages: Sequence[int], count: int, salt: str) -> list[list[int]]:
        """The pages in so many parts, those of one domain always together."""
        parts: list[list[int]] = [[] for _ in range(count)]
        for page in pages:
            digest = hashlib.sha256((salt + self.pages[page].domain).encode()).digest()
            parts[int.from_bytes(digest) % count].append(page)
        return parts


def out_of_fold(
    table: Table,
    pages: Sequence[int],
    width: int,
    fit: Callable[[list[int]], Callable[[list[int]], np.ndarray]],
) -> np.ndarray:
    """Values for the rows of some pages, each by a model that has not seen the page's domain."""
    rows = table.rows(pages)
    place = {int(row): at for at, row in enumerate(rows)}
    found = np.zeros((len(rows), width))
    parts = table.folds(pages, 3, "x")
    for part in parts:
        seen = [page for other in parts if other is not part for page in other]
        at = [place[int(row)] for row in table.rows(part)]
        found[at] = fit(seen)(part)
    return found
