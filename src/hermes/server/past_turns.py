"""A stored session as the page shows it: its turns, each with the events that a run tells live."""

from collections.abc import Iterator, Sequence
from itertools import groupby
from operator import attrgetter
from typing import Any

import msgspec

from hermes.agent.past import by_question, citations
from hermes.agent.prompt import is_question
from hermes.messages import Citation, Message, ToolCall
from hermes.server.run_log import LONGEST_RESULT
from hermes.store import Happening
from hermes.store.events import Broke, ToolBegan, ToolEnded

_after = attrgetter("after")


class PastTurn(msgspec.Struct, frozen=True):
    """A question, how it went, and the answer. `events` have the shape of those of a run."""

    question: str
    answer: str
    citations: tuple[Citation, ...]
    events: tuple[dict[str, Any], ...]


def past_turns(messages: Sequence[Message], happenings: Sequence[Happening]) -> list[PastTurn]:
    """What was asked and answered, in order."""
    happened = {after: list(some) for after, some in groupby(sorted(happenings, key=_after), _after)}
    turns: list[PastTurn] = []
    number = 0
    for turn in by_question(messages):
        turns.append(
            PastTurn(
                question=(turn[0].content or "") if is_question(turn[0]) else "",
                answer=_answer(turn),
                citations=citations(turn),
                events=tuple(_events(turn, number, happened)),
            )
        )
        number += len(turn)
    return turns


def _answer(turn: Sequence[Message]) -> str:
    """What was said after the last tool; an answer that was cut and continued has several parts."""
    said: list[str] = []
    for message in turn:
        if message.role == "tool" or message.tool_calls:
            said = []
        elif message.role == "assistant":
            said.append(message.content or "")
    return "".join(said)


def _events(
    turn: Sequence[Message], before: int, happened: dict[int, list[Happening]]
) -> Iterator[dict[str, Any]]:
    calls = {call.id: call for message in turn for call in message.tool_calls}
    results = {message.tool_call_id: message for message in turn if message.role == "tool"}
    for number, message in enumerate(turn, before + 1):
        if message.role == "assistant" and message.tool_calls:
            if message.reasoning:
                yield {"type": "reasoning", "delta": message.reasoning}
            if message.content:
                yield {"type": "text", "delta": message.content}
        for happening in happened.get(number, ()):
            yield {"at": happening.at, **_event(happening, calls, results)}


def _event(
    happening: Happening, calls: dict[str | None, ToolCall], results: dict[str | None, Message]
) -> dict[str, Any]:
    told: dict[str, Any] = msgspec.to_builtins(happening.event)
    match happening.event:
        case ToolBegan(id):
            return {**told, "arguments": calls[id].arguments if id in calls else ""}
        case ToolEnded(id):
            result = results[id].content or "" if id in results else ""
            return {**told, "result": result[:LONGEST_RESULT]}
        case Broke(error, message, hint):
            return {"type": "failed", "error": {"type": error, "message": message, "hint": hint}}
        case _:
            return told
