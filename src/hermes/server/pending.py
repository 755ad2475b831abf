"""Turns that wait for the caller to run a tool: what of them the caller does not send back.

A caller sends the call and its result, but neither what was searched and read before it, nor what a
provider sealed. Both are kept for a while. Without them a turn goes on all the
same, and knows less.
"""

import hashlib
from collections import OrderedDict
from collections.abc import Callable

import msgspec

from hermes.agent.prompt import is_question
from hermes.app import Terms
from hermes.events import Answer
from hermes.messages import Message
from hermes.server.asked import Asked
from hermes.server.sources import SearchResult

MOST = 512
SECONDS = 1_800.0


class Waiting(msgspec.Struct, frozen=True, eq=False):
    terms: Terms
    pages: tuple[SearchResult, ...]
    until: float


class Pending:
    """The turns that wait, the oldest first; an old one is forgotten."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._waiting: OrderedDict[str, Waiting] = OrderedDict()

    def keep(self, asked: Asked, answer: Answer, terms: Terms, pages: tuple[SearchResult, ...]) -> None:
        """Keep a turn that ended with calls for the caller."""
        if answer.finish_reason != "tool_calls":
            return
        waiting = Waiting(terms, pages, self._clock() + SECONDS)
        for call in answer.messages[-1].tool_calls:
            self._waiting[_name(asked, call.id)] = waiting
        while len(self._waiting) > MOST:
            self._waiting.popitem(last=False)

    def resume(self, asked: Asked) -> tuple[Asked, tuple[SearchResult, ...]]:
        """What is asked, with all that the turn knew; and the pages that it had seen."""
        names = (_name(asked, result.tool_call_id) for result in asked.results)
        waiting = next((self._waiting[name] for name in names if name in self._waiting), None)
        if waiting is None or waiting.until < self._clock():
            return asked, ()
        told = asked.terms.history
        history = (*told[: _after_question(told)], *_of_turn(waiting.terms.history))
        terms = msgspec.structs.replace(asked.terms, history=history, sources=waiting.terms.sources)
        return msgspec.structs.replace(asked, terms=terms), waiting.pages


def _name(asked: Asked, call_id: str | None) -> str:
    """A call by its id and all that was said up to the question: an id alone may come again elsewhere."""
    history = asked.terms.history
    question = Message(role="user", content=asked.question, images=asked.images)
    said = history[: _after_question(history)] if asked.results else (*history, question)
    return f"{call_id} {hashlib.sha256(msgspec.json.encode(said)).hexdigest()}"


def _after_question(history: tuple[Message, ...]) -> int:
    """The place after the last question of the user."""
    return next((at for at in range(len(history), 0, -1) if is_question(history[at - 1])), 0)


def _of_turn(history: tuple[Message, ...]) -> tuple[Message, ...]:
    return history[_after_question(history) :]
