"""A talk of 400 tool turns on each wire: nothing is refused, nothing is lost, and no message ever changes."""

import itertools

import pytest

from hermes.app import Runtime, Terms
from hermes.events import Compacted
from simulators.wires import WIRES

QUESTIONS, ROUNDS = 4, 100
LOOK = ("read_file", {"path": "notes.txt"})


@pytest.fixture(params=WIRES)
def wire(request):
    return WIRES[request.param]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "notes.txt").write_text("The sky is blue.\n")
    return tmp_path


async def talk(wire, server, home, *questions, **variables):
    """Ask one after the other in one session; returns the answers and all events."""
    events, answers = [], []
    config = wire.settings(home, server, HERMES_AGENT_MAX_TURNS="500", **variables)
    async with Runtime(config) as runtime:
        dialogue = runtime.converse(Terms(model=wire.model, tools=("file",)))
        for question in questions:
            answers.append(await dialogue.ask(question, events.append))
        stored = await runtime.store().messages(answers[0].session_id)
    return answers, events, stored


def assert_only_grows(sent):
    for earlier, later in itertools.pairwise(sent):
        assert later[: len(earlier)] == earlier


async def test_four_hundred_tool_turns_are_accepted_and_kept(wire, folder):
    script = [*[wire.calls(LOOK)] * ROUNDS, wire.says("It is blue.")] * QUESTIONS
    async with wire.simulator(*script) as server:
        server.checks_every = 1 + ROUNDS // 4
        asked = [f"what is it, {number}?" for number in range(QUESTIONS)]
        answers, _, stored = await talk(wire, server, folder / "home", *asked)
        assert server.refusals == []
    assert [answer.text for answer in answers] == ["It is blue."] * QUESTIONS
    assert len(stored) == QUESTIONS * (2 + 2 * ROUNDS)
    assert stored == answers[-1].messages
    assert all("The sky is blue." in message.content for message in stored if message.role == "tool")
    assert_only_grows([wire.messages(body) for body in server.bodies])
