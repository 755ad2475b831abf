"""Which runs of a page its gold text covers, and how far."""

from collections import Counter
from collections.abc import Sequence

from bench.reader.score import words

GRAM = 4


def labels(texts: Sequence[str], gold: str) -> list[float]:
    """For each run the share of its words that the gold covers; repeats count as often as in the gold."""
    runs = [words(text) for text in texts]
    wanted = words(gold)
    matched = _aligned([word for run in runs for word in run], wanted)
    budget = Counter(wanted)
    found, at = [], 0
    for run in runs:
        hits = matched[at : at + len(run)]
        at += len(run)
        share = sum(hits) / len(run) if run else 0.0
        found.append(share)
        if share >= 0.5:
            budget -= Counter(run)
    grams = set(zip(*(wanted[shift:] for shift in range(GRAM)), strict=False))
    for index, run in enumerate(runs):
        if found[index] < 0.5 and len(run) >= GRAM:
            inside = [gram in grams for gram in zip(*(run[shift:] for shift in range(GRAM)), strict=False)]
            left = (Counter(run) & budget).total() / len(run)
            if sum(inside) >= 0.8 * len(inside) and left >= 0.8:
                found[index] = left
                budget -= Counter(run)
    return found


def _aligned(page: list[str], gold: list[str]) -> list[bool]:
    """Which words of the page lie on its longest common subsequence with the gold, in coherent stretches."""
    pairs = _common(page, gold)
    matched = [False] * len(page)
    gold_of = dict(pairs)
    for here, there in pairs:
        after, before = gold_of.get(here + 1), gold_of.get(here - 1)
        matched[here] = after == there + 1 or before == there - 1
    for here, _ in pairs:
        if (
            not matched[here]
            and (here == 0 or matched[here - 1])
            and (here + 1 == len(page) or matched[here + 1])
        ):
            matched[here] = True
    return matched


def _common(page: list[str], gold: list[str]) -> list[tuple[int, int]]:
    """A longest common subsequence as pairs of places: bits of one integer stand for the gold's words."""
    masks: dict[str, int] = {}
    for at, word in enumerate(gold):
        masks[word] = masks.get(word, 0) | 1 << at
    full = (1 << len(gold)) - 1
    state, states = full, []
    for word in page:
        mask = masks.get(word, 0)
        if mask:
            taken = state & mask
            state = ((state + taken) | (state - taken)) & full
        states.append(state)
    pairs = []
    row, column = len(page), len(gold)
    while row and column:
        if states[row - 1] >> (column - 1) & 1:
            column -= 1
            continue
        row -= 1
        if not row or states[row - 1] >> (column - 1) & 1:
            column -= 1
            pairs.append((row, column))
    return pairs
