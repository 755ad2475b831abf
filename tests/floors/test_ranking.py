"""Floors of the ranking of search results: they may rise, never fall."""

import pytest
from bench.gains import ndcg, reciprocal
from bench.ranking import as_given, lexical, measure, read_cases, table

NDCG_FLOOR = 0.93
MRR_FLOOR = 0.97
CASES = read_cases()


def test_the_words_of_results_order_them_better_than_a_backend_that_knows_little():
    gain, place = measure(CASES, lexical())
    assert gain >= NDCG_FLOOR
    assert place >= MRR_FLOOR
    assert measure(CASES, as_given)[0] < 0.7


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.trap)
def test_no_trap_is_fallen_into_deeply(case):
    shown = [case.grades[at] for at in lexical()(case.query, case.rows)]
    assert ndcg(shown) >= 0.7
    assert max(shown[:3]) == max(case.grades)


def test_every_kind_of_evidence_is_worth_something():
    _, (_, whole, _), *less = table(CASES)
    assert all(gain < whole for _, gain, _ in less)


@pytest.mark.parametrize(
    ("grades", "gain", "place"),
    [([3, 2, 0], 1.0, 1.0), ([0, 0], 0.0, 0.0), ([], 0.0, 0.0), ([0, 1], 0.631, 0.5), ([1, 3], 0.71, 0.5)],
)
def test_scores_are_what_they_say(grades, gain, place):
    assert ndcg(grades) == pytest.approx(gain, abs=1e-3)
    assert reciprocal(grades) == place


def test_what_was_not_shown_counts_against_an_order():
    assert ndcg([0, 1], [1]) < ndcg([0, 1])
