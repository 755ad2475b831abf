"""The ranking of search results as a number: `python -m bench.ranking [DIR]`.

Prints nDCG@10 and MRR over the queries of `tests/floors/ranking`, in the order that the backend gave, by the
lexical ranking, and by that ranking without each kind of evidence. With DIR, as `bench.scout` takes it, the
same over paragraphs: ten that a plain BM25 finds for a question, right where they hold its answer.
"""

import argparse
import math
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import msgspec

from bench.gains import DEPTH, ndcg, reciprocal
from bench.scout import holds, load
from hermes.protocols import SearchRow
from hermes.ranking.lexical import WEIGHTS, order, scores
from hermes.ranking.words import terms

QUERIES = Path(__file__).parents[1] / "tests" / "floors" / "ranking" / "queries.txt"

Order = Callable[[str, Sequence[SearchRow]], Sequence[int]]


class Case(msgspec.Struct, frozen=True):
    """A query with its rows in the order of a backend, and how good each is, from 0 to 3."""

    query: str
    trap: str
    rows: list[SearchRow]
    grades: list[int]


def read_cases(path: Path = QUERIES) -> list[Case]:
    """The cases of a file; its head says how they are written."""
    cases: list[Case] = []
    for line in path.read_text(encoding="utf-8").splitlines():
        if line.startswith("? "):
            trap, _, query = line.removeprefix("? [").partition("] ")
            cases.append(Case(query, trap, [], []))
        elif line and not line.startswith("#"):
            grade, title, url, date, description = line.split(" | ")
            cases[-1].rows.append(SearchRow(title, url, description, date))
            cases[-1].grades.append(int(grade))
    return cases


def measure(cases: Sequence[Case], by: Order) -> tuple[float, float]:
    """Mean nDCG@10 and MRR of an order."""
    shown = [[case.grades[at] for at in by(case.query, case.rows)] for case in cases]
    count = max(1, len(shown))
    return sum(map(ndcg, shown)) / count, sum(map(reciprocal, shown)) / count


def as_given(_: str, rows: Sequence[SearchRow]) -> Sequence[int]:
    return range(len(rows))


def lexical(weights: Mapping[str, float] = WEIGHTS) -> Order:
    return lambda query, rows: order(scores(query, rows, weights=weights))


def paragraphs(folder: str) -> list[Case]:
    """The questions of a data folder, each with the ten paragraphs that a plain BM25 finds for it."""
    corpus, questions = load(folder)
    found = [
        (page.name, SearchRow(page.title, f"file:///{page.name}.md", part.strip()))
        for page in corpus
        for part in re.split(r"\n\s*\n", page.text)
        if len(part) > 80
    ]
    plain = _Bm25([row.description for _, row in found])
    cases: list[Case] = []
    for asked in questions:
        if not asked.answers:
            continue
        best = plain.best(asked.question)
        right = [found[n][0] == asked.article and holds(found[n][1].description, asked.answers) for n in best]
        if any(right):
            cases.append(
                Case(asked.question, asked.article, [found[n][1] for n in best], list(map(int, right)))
            )
    return cases


class _Bm25:
    """The plainest ranking of texts."""

    def __init__(self, texts: Sequence[str]) -> None:
        self._bags = [Counter(terms(text)) for text in texts]
        self._sizes = [bag.total() for bag in self._bags]
        self._mean = sum(self._sizes) / len(self._sizes)
        self._seen = Counter(stem for bag in self._bags for stem in bag)

    def best(self, query: str) -> list[int]:
        values = [0.0] * len(self._bags)
        for stem in set(terms(query)) & self._seen.keys():
            rarity = math.log(1 + (len(self._bags) - self._seen[stem] + 0.5) / (self._seen[stem] + 0.5))
            for at, bag in enumerate(self._bags):
                if stem in bag:
                    norm = 1.2 * (0.25 + 0.75 * self._sizes[at] / self._mean)
                    values[at] += rarity * bag[stem] * 2.2 / (bag[stem] + norm)
        return order(values)[:DEPTH]


def table(cases: Sequence[Case]) -> list[tuple[str, float, float]]:
    """The backend's order, the ranking, and the ranking without each kind of evidence."""
    rows = [("as given", *measure(cases, as_given)), ("lexical", *measure(cases, lexical()))]
    for name in WEIGHTS:
        less = {other: weight for other, weight in WEIGHTS.items() if other != name}
        rows.append((f"without {name}", *measure(cases, lexical(less))))
    return rows


def show(heading: str, cases: Sequence[Case]) -> None:
    print(f"{heading}: {len(cases)} queries\n{'':18} nDCG@10     MRR")
    for name, gain, place in table(cases):
        print(f"{name:18} {gain:7.4f} {place:7.4f}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", nargs="?")
    options = parser.parse_args()
    show("search results", read_cases())
    if options.folder:
        show("paragraphs", paragraphs(options.folder))


if __name__ == "__main__":
    main()
