"""A talk of 400 tool turns on each wire: nothing is refused, nothing is lost, and no message ever changes."""

import itertools
import os

import msgspec
import pytest

from hermes.agent.compaction import SUMMARISE
from hermes.app import Runtime, Terms
from hermes.events import Compacted
from simulators.wires import THOUGHT, WIRES

QUESTIONS, ROUNDS = 5, 80
"""Each request repeats all before it, and to check every one takes minutes: one in nine is, the last of
every question among them; with `HERMES_TEST_EVERY_REQUEST=1` all are."""
LOOK = ("read_file", {"path": "notes.txt"})


@pytest.fixture(params=WIRES)
def wire(request):
    used = WIRES[request.param]
    as_it_was = dict(used.usage)
    yield used
    used.usage.update(as_it_was)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "notes.txt").write_text("The sky is blue.\n")
    return tmp_path


async def talk(wire, server, home, *questions, **variables):
    """Ask one after the other in one session; returns the answers and all events."""
    events = []
    config = wire.settings(home, server, HERMES_AGENT_MAX_TURNS="500", **variables)
    async with Runtime(config) as runtime:
        dialogue = runtime.converse(Terms(model=wire.model, tools=("file",)))
        answers = [await dialogue.ask(question, events.append) for question in questions]
        stored = await runtime.store().messages(answers[0].session_id)
    return answers, events, stored


def assert_only_grows(sent):
    for earlier, later in itertools.pairwise(sent):
        assert later[: len(earlier)] == earlier


async def test_four_hundred_tool_turns_are_accepted_and_kept(wire, folder):
    script = [*[wire.calls(LOOK)] * ROUNDS, wire.says("It is blue.")] * QUESTIONS
    async with wire.simulator(*script) as server:
        server.checks_every = 1 if os.environ.get("HERMES_TEST_EVERY_REQUEST") else (ROUNDS + 1) // 9
        asked = [f"what is it, {number}?" for number in range(QUESTIONS)]
        answers, _, stored = await talk(wire, server, folder / "home", *asked)
        assert server.refusals == []
    assert [answer.text for answer in answers] == ["It is blue."] * QUESTIONS
    assert len(stored) == QUESTIONS * (2 + 2 * ROUNDS)
    assert stored == answers[-1].messages
    assert all("The sky is blue." in message.content for message in stored if message.role == "tool")
    assert_only_grows([wire.messages(body) for body in server.bodies[::9]])


async def test_what_matters_is_remembered_at_the_end(wire, folder):
    keeps = {"action": "add", "text": "The user likes the sky."}
    script = [*[wire.calls(LOOK), wire.says("It is blue.")] * 4, wire.calls(("memory", keeps))]
    async with wire.simulator(*script) as server:
        async with Runtime(wire.settings(folder / "home", server)) as runtime:
            dialogue = runtime.converse(Terms(model=wire.model, tools=("file", "memory")))
            for number in range(4):
                answer = await dialogue.ask(f"what is it, {number}?", lambda _event: None)
            await dialogue.end(lambda _event: None)
            stored = await runtime.store().messages(answer.session_id)
        assert server.refusals == []
    assert "The user likes the sky." in (folder / "home" / "memory.md").read_text()
    assert stored == answer.messages


class Script:
    """Replies one after the other, but a summary to whoever asks for one; every call is counted."""

    def __init__(self, wire, *replies):
        self._wire = wire
        self._summary = wire.says("They asked about the sky.")
        self._replies = iter(replies)
        self.summaries = 0

    def __call__(self, body, *rest):
        written = msgspec.json.encode(body).decode()
        self._wire.usage.update(dict.fromkeys(self._wire.counted, len(written) // 4))
        if SUMMARISE[:60] in written:
            self.summaries += 1
            return self._summary(body, *rest)
        return next(self._replies)(body, *rest)


PAGES = [("read_file", {"path": f"page{number}.txt"}) for number in range(4)]


@pytest.fixture
def pages(folder):
    for number in range(4):
        words = f"Page {number} begins. " + "All work and no play.\n" * 250 + f"Page {number} ends."
        (folder / f"page{number}.txt").write_text(words)
    return folder


async def test_a_talk_that_outgrows_its_window_goes_on(wire, pages):
    rounds = [wire.calls(*PAGES)] * 4
    script = Script(wire, *[*rounds, wire.says("Done.")] * 3)
    async with wire.simulator(script) as server:
        asked = [f"{name} " + "Think of this. " * 900 for name in ("first", "second", "third")]
        answers, events, stored = await talk(
            wire, server, pages / "home", *asked, HERMES_MODEL_CONTEXT_WINDOW="16000"
        )
        assert server.refusals == []
    assert [answer.text for answer in answers] == ["Done."] * 3
    assert sum(isinstance(event, Compacted) for event in events) >= 3
    assert script.summaries >= 1
    kept = [message for message in stored if not message.replaces]
    assert len(kept) == 3 * (2 + 4 * 5)
    assert all("ends." in message.content for message in kept if message.role == "tool")
    for body in server.bodies:
        assert_open_loop_is_whole(wire, body)


def assert_open_loop_is_whole(wire, body):
    """The newest results are there, and every thought since the question; old results may have gone."""
    since_asked = msgspec.json.encode(wire.messages(body)).decode().rpartition("Think of this.")[2]
    if "page0.txt" in since_asked and SUMMARISE[:60] not in since_asked:
        assert all(f"Page {number} ends." in since_asked for number in range(4))
        rounds = since_asked.count("page0.txt")
        assert since_asked.count(THOUGHT) == (0 if wire is WIRES["chat_completions"] else rounds)
