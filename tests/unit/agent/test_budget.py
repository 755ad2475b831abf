"""One counter each for calls, tokens, money and time."""

import pytest

from hermes.agent.budget import Budget, Limits
from hermes.messages import Usage


def spent(limits, *calls, clock=lambda: 0.0):
    budget = Budget(limits, clock)
    for usage, cost in calls:
        budget.begin_call()
        budget.end_call(usage, cost)
    return budget


TEN = Usage(prompt_tokens=6, completion_tokens=4, total_tokens=10)


@pytest.mark.parametrize(
    ("limits", "words"),
    [
        (Limits(), None),
        (Limits(calls=2), "2 model calls"),
        (Limits(calls=3), None),
        (Limits(tokens=20), "20 tokens"),
        (Limits(tokens=21), None),
        (Limits(dollars=0.02), "0.02 US dollars"),
        (Limits(dollars=0.03), None),
    ],
)
def test_a_limit_that_is_reached_is_named(limits, words):
    assert spent(limits, (TEN, 0.01), (TEN, 0.01)).exceeded() == words


def test_time_is_counted_from_the_beginning():
    now = iter((100.0, 104.9, 105.0))
    budget = Budget(Limits(seconds=5), lambda: next(now))
    assert (budget.exceeded(), budget.exceeded()) == (None, "5 seconds")


def test_the_cost_is_unknown_as_soon_as_one_price_is():
    assert spent(Limits(), (TEN, 0.5), (TEN, 0.25)).cost == 0.75
    assert spent(Limits(), (TEN, 0.5), (TEN, None)).cost is None
    assert spent(Limits(), (TEN, 0.5), (None, None)).cost is None
    assert spent(Limits()).cost is None


def test_what_is_asked_beside_in_the_middle_of_a_call_is_counted_beside_it():
    budget = Budget(Limits())
    budget.begin_call()
    budget.spend(Usage(5, 5, 10), 0.5)
    budget.end_call(Usage(10, 10, 20), 0.25)
    assert (budget.last_cost, budget.cost, budget.usage.total_tokens) == (0.25, 0.75, 30)
