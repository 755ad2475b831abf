"""The time for an answer is over while something runs: it is cut, what was said is kept and summed up."""

import os
import time

import msgspec
import pytest

from hermes.agent import loop
from hermes.app import Runtime, Terms
from hermes.events import Notice, Text
from simulators.model import stalls
from simulators.wires import WIRES

SHORT = {"HERMES_AGENT_MAX_SECONDS": "0.6"}
WORDS = "so far so good " * 60


@pytest.fixture(params=WIRES)
def wire(request):
    return WIRES[request.param]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


async def asked(wire, folder, server, **variables):
    """The answer to one question, what happened, and what the session keeps of it."""
    events = []
    async with Runtime(wire.settings(folder / "home", server, **SHORT, **variables)) as runtime:
        dialogue = runtime.converse(Terms(model=wire.model, tools=("file", "terminal")))
        answer = await dialogue.ask("why?", events.append)
        stored = await runtime.store().messages(answer.session_id)
    assert server.refusals == []
    assert stored == answer.messages
    assert (answer.complete, answer.finish_reason) == (False, "incomplete")
    assert [event for event in events if isinstance(event, Notice) and "0.6 seconds" in event.message]
    return answer, events, stored


async def test_a_model_that_still_speaks_is_cut_and_asked_to_sum_up(wire, folder):
    async with wire.simulator(stalls(wire.says(WORDS), 0.6), wire.says("In short: good.")) as server:
        answer, events, stored = await asked(wire, folder, server)
    assert [message.role for message in stored] == ["user", "assistant", "user", "assistant"]
    assert stored[1].finish_reason == "incomplete"
    assert WORDS.startswith(stored[1].content)
    assert answer.text == f"{stored[1].content}\n\nIn short: good."
    assert "".join(event.delta for event in events if isinstance(event, Text)) == answer.text


async def test_a_model_that_has_not_begun_is_cut_as_well(wire, folder):
    async with wire.simulator(stalls(wire.says(WORDS), 0), wire.says("Nothing.")) as server:
        answer, _, stored = await asked(wire, folder, server)
    assert [message.role for message in stored] == ["user", "user", "assistant"]
    assert answer.text == "Nothing."


async def test_a_tool_that_still_runs_is_ended_and_what_is_done_is_kept(wire, folder):
    (folder / "notes.txt").write_text("The sky is blue.")
    sleeps = {"command": "echo $$ > pid; exec sleep 30"}
    script = wire.calls(("read_file", {"path": "notes.txt"}), ("terminal", sleeps)), wire.says("It is blue.")
    async with wire.simulator(*script) as server:
        answer, _, stored = await asked(wire, folder, server)
    with pytest.raises(ProcessLookupError):
        os.kill(int((folder / "pid").read_text()), 0)
    assert [message.role for message in stored] == ["user", "assistant", "tool", "tool", "user", "assistant"]
    assert "The sky is blue." in stored[2].content
    assert "interrupted" in stored[3].content
    assert answer.text == "It is blue."


async def test_a_wait_before_another_try_ends_with_the_time(wire, folder):
    async with wire.simulator(wire.fails(429, retry_after=20), wire.says("Nothing.")) as server:
        answer, _, _ = await asked(wire, folder, server, HERMES_MODEL_PATIENCE="30")
    assert answer.text == "Nothing."


async def test_a_summary_that_does_not_end_either_leaves_what_was_said(wire, folder, monkeypatch):
    monkeypatch.setattr(loop, "_GRACE_SECONDS", 0.2)
    script = stalls(wire.says("first words " * 60), 0.6), stalls(wire.says("last words " * 60), 0.6)
    began = time.monotonic()
    async with wire.simulator(*script) as server:
        answer, _, stored = await asked(wire, folder, server)
    assert time.monotonic() - began < 5
    assert answer.text.startswith("first words")
    assert "\n\nlast words" in answer.text
    assert [message.role for message in stored] == ["user", "assistant", "user", "assistant"]
    assert msgspec.json.encode(server.bodies[-1]).count(b"first words") > 1
