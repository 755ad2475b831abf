"""What it costs to write the newest turn of a growing conversation in each protocol, without a network.

The messages of older turns are the same objects every time and the transport has seen them, as in the loop.
"""

import asyncio
from collections.abc import Iterator
from functools import partial

from bench.measure import MICRO, Figure, Goal, Plan, Work, cpu_per_unit, medians, sampler, settle
from bench.wires import CHAT, VENDORS, Wire
from hermes.agent.prompt import SYSTEM
from hermes.messages import Message, ToolCall
from hermes.protocols import Endpoint, Request, ToolSpec

LENGTHS = (10, 100, 400)
NEWEST = 5
"""Turns that are measured together, the last ones of each conversation: one alone is too short."""

GOAL = Goal(2.5)
"""A turn costs what is new in it; the rest is copied bytes and the comparing of what was seen before."""

_SCHEMA = {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}
_TOOLS = (ToolSpec("echo", "Say a text again.", _SCHEMA),)
_MODELS = {"bedrock_converse": "us.anthropic.claude-sonnet-4-6"}


def measure_convert(plan: Plan) -> list[Figure]:
    return [figure for wire in (CHAT, *VENDORS) for figure in _measure_wire(plan, wire)]


def _measure_wire(plan: Plan, wire: Wire) -> Iterator[Figure]:
    """The longest conversation over the shortest, then the ones between."""
    settle()
    with asyncio.Runner() as runner:
        shortest, *between, longest = medians(
            [partial(_sample, runner, wire, turns) for turns in LENGTHS], plan.rounds(15, 3)
        )
    yield _growth(f"convert.{wire.name}", LENGTHS[-1], longest, shortest)
    for turns, value in zip(LENGTHS[1:-1], between, strict=True):
        yield _growth(f"convert.{wire.name}.{turns}", turns, value, shortest)


def _growth(name: str, turns: int, value: float, shortest: float) -> Figure:
    what = f"to write turn {turns} over turn {LENGTHS[0]}, CPU"
    return Figure(name=name, what=what, value=value * MICRO, floor=shortest * MICRO, unit="µs", goal=GOAL)


def _sample(runner: asyncio.Runner, wire: Wire, turns: int) -> float:
    return sampler(runner, cpu_per_unit, newest_turns(wire, turns), NEWEST)()


def endpoint_of(wire: Wire) -> Endpoint:
    """Where nothing is sent, and a model that vendors have, since its name decides what is written."""
    model = _MODELS.get(wire.name) or wire.provider.default_model or "bench"
    return wire.endpoint("http://127.0.0.1/v1", model)


def newest_turns(wire: Wire, turns: int) -> Work:
    """A new conversation, written turn by turn until only the newest turns are left for the work."""
    endpoint = endpoint_of(wire)
    transport = wire.transport()
    requests = growing_requests(endpoint, turns)

    def write(request: Request) -> bytes:
        return transport.encode(transport.build_kwargs(request, wire.provider), endpoint).body

    for request in requests[:-NEWEST]:
        write(request)

    async def work() -> bytes:
        *earlier, last = requests[-NEWEST:]
        for request in earlier:
            write(request)  # and let go of it, as the loop does once it is sent
        return write(last)

    return work


def growing_requests(endpoint: Endpoint, turns: int) -> list[Request]:
    """What is asked in each turn: all that was said, the last call and its result at the end."""
    said = [Message(role="system", content=SYSTEM), Message(role="user", content="Say it again and again.")]
    model, issuer = endpoint.model, endpoint.issuer
    requests = []
    for turn in range(turns):
        said += _call_and_result(f"call_{turn:06}", issuer)
        requests.append(Request(model=model, messages=tuple(said), tools=_TOOLS, issuer=issuer))
    return requests


def _call_and_result(id: str, issuer: str) -> tuple[Message, Message]:
    text = f"the same words again and again, {id}"
    call = ToolCall(id, "echo", f'{{"text": "{text}"}}')
    return (
        Message(
            role="assistant",
            tool_calls=(call,),
            finish_reason="tool_calls",
            provider_data={"model": "bench"},
            issuer=issuer,
        ),
        Message(role="tool", content=text, tool_call_id=id),
    )
