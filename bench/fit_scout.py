"""Fit scout's weights to questions with known answers: `python -m bench.fit_scout DIR [--folds]`.

A conditional logit: for each question a softmax over the candidate sentences, and the likelihood that one
of those holding an accepted answer (in the right article) is drawn. L2 keeps weights small. `--folds`
leaves out one article at a time and reports how well its questions are answered by the others' weights:
that, not the fit, is what to expect of unseen pages. Prints the table that belongs into `weights.py`.
"""

import argparse
import math
import multiprocessing

from bench.scout import Asked, holds, load
from hermes.providers.scout.library import Library, library
from hermes.providers.scout.question import analyse
from hermes.providers.scout.rank import candidates, features, lay
from hermes.providers.scout.weights import BY_HAND, WEIGHTS

L2 = 0.5
STEPS = 150
NAMES = [name for name in WEIGHTS if name not in BY_HAND]
Row = list[tuple[int, float]]
Example = tuple[Asked, list[float], list[Row], list[bool], list[bool]]


def example(asked: Asked, shelf: Library, urls: list[str]) -> Example:
    """One question measured: fixed part, features, what answers, and what of it is from its article."""
    laid = lay(analyse(asked.question), shelf)
    numbers = candidates(laid)
    measured = [features(laid, number) for number in numbers]
    answers = [holds(shelf.sentences[number].text, asked.answers) for number in numbers]
    right = [a and urls[shelf.page_of[n]] == asked.article for a, n in zip(answers, numbers, strict=True)]
    fixed = [sum(BY_HAND.get(name, 0.0) * value for name, value in row.items()) for row in measured]
    place = {name: at for at, name in enumerate(NAMES)}
    rows = [
        [(place[name], value) for name, value in row.items() if value and name in place] for row in measured
    ]
    return asked, fixed, rows, answers, right


def scores(weights: list[float], fixed: list[float], rows: list[Row]) -> list[float]:
    return [
        start + sum(weights[at] * value for at, value in row) for start, row in zip(fixed, rows, strict=True)
    ]


def gradient(weights: list[float], examples: list[Example]) -> list[float]:
    slope = [2 * L2 * weight for weight in weights]
    for _, fixed, rows, _, right in examples:
        found = scores(weights, fixed, rows)
        top = max(found)
        odds = [math.exp(score - top) for score in found]
        whole = sum(odds)
        good = sum(odd for odd, yes in zip(odds, right, strict=True) if yes)
        for odd, yes, row in zip(odds, right, rows, strict=True):
            pull = odd / whole - (odd / good if yes else 0.0)
            for at, value in row:
                slope[at] += pull * value
    return slope


def fit(examples: list[Example]) -> list[float]:
    """Adam over the whole set; the problem is small and nearly convex, so plain steps suffice."""
    usable = [one for one in examples if any(one[4])]
    weights, first, second = ([0.0] * len(NAMES) for _ in range(3))
    for step in range(1, STEPS + 1):
        slope = gradient(weights, usable)
        rate = 0.15 * (1 - 0.9 * step / STEPS)
        for at, pull in enumerate(slope):
            first[at] = 0.9 * first[at] + 0.1 * pull
            second[at] = 0.99 * second[at] + 0.01 * pull * pull
            mean, spread = first[at] / (1 - 0.9**step), second[at] / (1 - 0.99**step)
            weights[at] -= rate * mean / (math.sqrt(spread) + 1e-9)
    return weights


def measure(weights: list[float], examples: list[Example]) -> tuple[int, int, int]:
    """How many questions there are, and how many find their answer in the first and first three sentences."""
    first = three = 0
    for _, fixed, rows, answers, _ in examples:
        found = scores(weights, fixed, rows)
        order = sorted(range(len(found)), key=lambda at: -found[at])
        first += any(answers[at] for at in order[:1])
        three += any(answers[at] for at in order[:3])
    return len(examples), first, three


def left_out(task: tuple[str, list[Example]]) -> tuple[str, int, int, int]:
    article, examples = task
    weights = fit([one for one in examples if one[0].article != article])
    return article, *measure(weights, [one for one in examples if one[0].article == article])


def report(done: list[tuple[str, int, int, int]]) -> None:
    together = ("all", sum(row[1] for row in done), sum(row[2] for row in done), sum(row[3] for row in done))
    for name, count, first, three in [*done, together]:
        print(f"{name:24} {count:5} {first / max(count, 1):7.4f} {three / max(count, 1):7.4f}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder")
    parser.add_argument("--folds", action="store_true", help="leave one article out at a time")
    options = parser.parse_args()
    corpus, questions = load(options.folder)
    shelf = library(tuple((page.title, page.text) for page in corpus))
    urls = [page.name for page in corpus]
    examples = [example(asked, shelf, urls) for asked in questions if asked.answers]
    if options.folds:
        with multiprocessing.Pool() as pool:
            done = pool.map(left_out, [(page.name, examples) for page in corpus], chunksize=1)
        report(done)
    weights = fit(examples)
    for name, weight in sorted(zip(NAMES, weights, strict=True), key=lambda pair: -abs(pair[1])):
        print(f'    "{name}": {weight:.2f},')


if __name__ == "__main__":
    main()
