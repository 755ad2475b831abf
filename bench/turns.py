"""What an agent costs per tool turn as its history grows, beside the same loop written by hand.

Hermes runs whole: dialogue, loop, toolbox, redaction, sessions on disk, transport and client. The loop
by hand keeps a list, encodes all of it for every turn, and reads the same streamed replies.
"""

import asyncio
import json
import os
import time
from typing import Annotated, Any

import aiohttp
from yarl import URL

from bench.calls import drop, new_session
from bench.measure import MICRO, Figure, Goal, Plan, cpu_per_unit, medians, sampler, settle
from bench.wires import KEY
from hermes.agent.approvals import Approvals
from hermes.agent.auxiliary import Auxiliary
from hermes.agent.budget import Limits
from hermes.agent.chain import Models
from hermes.agent.conversation import Conversation
from hermes.agent.guardrail import Thresholds
from hermes.agent.means import Means
from hermes.agent.prompt import SYSTEM
from hermes.agent.send import ModelClient
from hermes.agent.untrusted import Guard
from hermes.app.dialogue import Dialogue, Journal
from hermes.app.runtime import Runtime
from hermes.config import load
from hermes.messages import Message
from hermes.protocols import Endpoint, Request, ToolResult
from hermes.store import Session, new_session_id
from hermes.tools.base import Param, tool
from hermes.tools.toolbox import Toolbox
from hermes.transports.base import request_headers
from hermes.transports.chat_completions import Transport

LENGTHS = (10, 100, 400)
QUESTION = "Say the same words as often as you like, then answer."

_encode = json.JSONEncoder(separators=(",", ":")).encode


async def echo(_services: object, text: Annotated[str, Param("What to say.")]) -> ToolResult:
    """Say a text again."""
    return ToolResult(text=text)


TOOLS = (tool(echo, toolset="bench"),)


def measure_turn(plan: Plan) -> list[Figure]:
    per_turn = {turns: _measure_length(plan, turns) for turns in LENGTHS}
    figures = [
        Figure(
            name=f"turn.{turns}",
            what=f"a tool turn of {turns}, CPU",
            value=value * MICRO,
            floor=floor * MICRO,
            unit="µs",
        )
        for turns, (value, floor) in per_turn.items()
    ]
    shortest, longest = per_turn[LENGTHS[0]][0], per_turn[LENGTHS[-1]][0]
    growth = Figure(
        name="turn.growth",
        what=f"a turn of {LENGTHS[-1]} over one of {LENGTHS[0]}, CPU",
        value=longest * MICRO,
        floor=shortest * MICRO,
        unit="µs",
        goal=Goal(2),
    )
    return [*figures, growth]


def _measure_length(plan: Plan, turns: int) -> tuple[float, float]:
    home = os.path.join(plan.folder, f"turns-{turns}")
    environ = {"HERMES_HOME": home, "CUSTOM_BASE_URL": plan.server, "CUSTOM_API_KEY": KEY}
    with asyncio.Runner() as runner:
        runtime = Runtime(load(environ))
        endpoint = runtime.choose_model(f"custom/bench-tools-{turns}").endpoint
        session = runner.run(new_session())
        subjects = [
            sampler(runner, cpu_per_unit, lambda: run_hermes(runtime, endpoint, turns), turns),
            sampler(runner, cpu_per_unit, lambda: run_by_hand(session, endpoint), turns),
        ]
        settle()
        value, floor = medians(subjects, plan.rounds(max(5, 300 // turns), max(1, 60 // turns)))
        runner.run(session.close())
        runner.run(runtime.__aexit__())
    return value, floor


async def run_hermes(runtime: Runtime, endpoint: Endpoint, turns: int) -> str:
    """A new session that ends after so many tool turns; gives the answer."""
    journal = Journal(runtime.store(), runtime.config.redactor(), [])
    now = time.time()
    session = Session(
        id=new_session_id(now, os.urandom(4)),
        title="",
        created=now,
        updated=now,
        provider=endpoint.provider.name,
        model=endpoint.model,
        cwd="",
    )
    model = ModelClient(endpoint, Transport(), runtime.wire(endpoint.provider))
    means = Means(
        models=Models(model),
        auxiliary=Auxiliary(model),
        tools=Toolbox(TOOLS, None),
        guard=Guard(lambda _text: False),
        approvals=Approvals(),
        limits=Limits(calls=turns + 1),
        thresholds=Thresholds(warnings_enabled=False),  # the same call again and again is the point here
    )
    conversation = Conversation(session.id, (), journal)
    dialogue = Dialogue(session, conversation, means, journal, is_new=True)
    return (await dialogue.ask(QUESTION, drop)).text


async def run_by_hand(session: aiohttp.ClientSession, endpoint: Endpoint) -> str:
    """The same conversation without Hermes; gives the answer."""
    url, headers = URL(f"{endpoint.base_url}/chat/completions"), request_headers(endpoint)
    body = _first_body(endpoint)
    while True:
        async with session.post(url, data=_encode(body).encode(), headers=headers) as response:
            text, calls = _read_stream(await response.read())
        if not calls:
            return text
        body["messages"].append({"role": "assistant", "content": text or None, "tool_calls": calls})
        for call in calls:
            said = json.loads(call["function"]["arguments"])["text"]
            body["messages"].append({"role": "tool", "tool_call_id": call["id"], "content": said})


def _first_body(endpoint: Endpoint) -> dict[str, Any]:
    opening = (Message(role="system", content=SYSTEM), Message(role="user", content=QUESTION))
    specs = tuple(tool.spec for tool in TOOLS)
    request = Request(model=endpoint.model, messages=opening, tools=specs)
    return Transport().build_kwargs(request, endpoint.provider)


def _read_stream(reply: bytes) -> tuple[str, list[dict[str, Any]]]:
    texts: list[str] = []
    calls: list[dict[str, Any]] = []
    for line in reply.split(b"\n"):
        if not line.startswith(b"data: ") or line == b"data: [DONE]":
            continue
        for choice in json.loads(line[6:])["choices"]:
            delta = choice["delta"]
            texts.append(delta.get("content") or "")
            for piece in delta.get("tool_calls", ()):
                function = piece["function"]
                if "id" in piece:
                    named = {"name": function["name"], "arguments": ""}
                    calls.append({"id": piece["id"], "type": "function", "function": named})
                calls[-1]["function"]["arguments"] += function["arguments"]
    return "".join(texts), calls
