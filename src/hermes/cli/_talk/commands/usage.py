"""Show tokens and cost: of the last answer, and of all since you began."""

from hermes.cli._happenings import usage_line
from hermes.cli._talk.talk import Talk
from hermes.events import Answer
from hermes.messages import Usage


async def run(talk: Talk, _words: str) -> None:
    if not talk.answers:
        talk.border.say("nothing has been answered yet")
        return
    costs = [_cost(talk, answer) for answer in talk.answers]
    known = [cost for cost in costs if cost is not None]
    total = sum((answer.usage for answer in talk.answers), Usage())
    last = talk.answers[-1]
    talk.border.say(f"last answer, by `{last.provider}/{last.model}`: {usage_line(last.usage, costs[-1])}")
    if len(costs) > 1:
        talk.border.say(
            f"all {len(costs)} answers: {usage_line(total, sum(known) if len(known) == len(costs) else None)}"
        )


def _cost(talk: Talk, answer: Answer) -> float | None:
    return (
        talk.runtime.price(answer.provider, answer.model, answer.usage)
        if answer.cost is None
        else answer.cost
    )
