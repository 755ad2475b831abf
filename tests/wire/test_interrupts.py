"""An interrupt in every state, on every wire: back at once, what was said is kept, and the talk goes on."""

import asyncio
import os
import socket
import time

import msgspec
import pytest

import hermes
from hermes.agent.compaction import SUMMARISE
from hermes.app import Runtime, Terms
from hermes.errors import Interrupted
from hermes.events import Failed, RetryWaiting, Text
from simulators.model import stalls
from simulators.wires import WIRES

AT_ONCE = 0.5
WORDS = "so far so good " * 60
PATIENT = {"HERMES_MODEL_PATIENCE": "30"}


@pytest.fixture(params=WIRES)
def wire(request):
    return WIRES[request.param]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


class Talk:
    """One session with a simulated model, in a home of its own."""

    def __init__(self, wire, home):
        self.wire = wire
        self.home = home
        self.events = []
        self.session_id = ""

    def terms(self, **more):
        return Terms(model=self.wire.model, tools=("file", "terminal"), **more)

    async def interrupted(self, dialogue, question, when):
        """Ask, and stop it when that has come about; says how long it took to return."""
        asked = asyncio.create_task(dialogue.ask(question, self.events.append))
        await asyncio.wait_for(when(self), 20)
        began = time.monotonic()
        asked.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asked
        took = time.monotonic() - began
        assert isinstance(self.events[-1], Failed)
        assert isinstance(self.events[-1].error, Interrupted)
        self.session_id = self.events[-1].partial.session_id
        return took

    async def goes_on(self, *before):
        """Another process takes the session up again: its model accepts all that was said."""
        async with self.wire.simulator(self.wire.says("Here I am.")) as server:
            async with Runtime(self.wire.settings(self.home, server)) as runtime:
                store = runtime.store()
                history = await store.messages(self.session_id)
                session = await store.find(self.session_id)
                assert session.status == "interrupted"
                dialogue = runtime.converse(self.terms(session=session, history=history))
                answer = await dialogue.ask("and now?", self.events.append)
            assert server.refusals == []
        assert answer.text == "Here I am."
        assert answer.messages[: len(history)] == history
        return history


async def until(condition):
    while not condition():
        await asyncio.sleep(0.01)


def heard(kind):
    return lambda talk: until(lambda: any(isinstance(event, kind) for event in talk.events))


def stalled(server):
    return lambda _talk: server.stalled.wait()


STATES = {
    "waiting for headers": lambda wire: stalls(wire.says(WORDS), 0),
    "streaming text": lambda wire: stalls(wire.says(WORDS), 0.6),
    "streaming a call": lambda wire: stalls(wire.calls(("read_file", {"path": WORDS})), 0.8),
    "waiting to ask again": lambda wire: wire.fails(429, retry_after=20),
}


@pytest.mark.parametrize("state", STATES)
async def test_an_interrupt_while_the_model_is_asked(wire, folder, state):
    talk = Talk(wire, folder / "home")
    async with wire.simulator(STATES[state](wire), wire.says("Fine.")) as server:
        async with Runtime(wire.settings(talk.home, server, **PATIENT)) as runtime:
            dialogue = runtime.converse(talk.terms())
            when = heard(RetryWaiting) if "again" in state else stalled(server)
            if state == "streaming text":
                when = heard(Text)
            assert await talk.interrupted(dialogue, "why?", when) < AT_ONCE
            history = await runtime.store().messages(talk.session_id)
            assert (await talk.goes_on())[: len(history)] == history
            again = await dialogue.ask("once more?", talk.events.append)
            assert again.text == "Fine."
        assert server.refusals == []
    assert [message.role for message in history] == ["user", "assistant"][: len(history)]
    said = "".join(event.delta for event in talk.events if isinstance(event, Text))
    if state == "streaming text":
        assert history[1].content
        assert said.startswith(history[1].content)
    else:
        assert len(history) == 1


async def test_an_interrupt_while_it_connects(wire, folder):
    talk = Talk(wire, folder / "home")
    with socket.socket() as deaf, socket.socket() as first, socket.socket() as second:
        deaf.bind(("127.0.0.1", 0))
        deaf.listen(0)
        for filler in (first, second):
            filler.setblocking(False)
            filler.connect_ex(deaf.getsockname())
        url = f"http://127.0.0.1:{deaf.getsockname()[1]}/v1"
        async with Runtime(wire.settings(talk.home, url)) as runtime:
            dialogue = runtime.converse(talk.terms())
            took = await talk.interrupted(dialogue, "why?", lambda _talk: asyncio.sleep(0.2))
    assert took < AT_ONCE
    await talk.goes_on()


async def test_an_interrupt_while_a_tool_runs_ends_the_tool_and_keeps_what_is_done(wire, folder):
    (folder / "notes.txt").write_text("The sky is blue.")
    talk = Talk(wire, folder / "home")
    sleeps = {"command": "echo $$ > pid; exec sleep 30"}
    script = wire.calls(("read_file", {"path": "notes.txt"}), ("terminal", sleeps)), wire.says("Fine.")
    async with wire.simulator(*script) as server:
        async with Runtime(wire.settings(talk.home, server)) as runtime:
            dialogue = runtime.converse(talk.terms())
            began = lambda _talk: until(lambda: (folder / "pid").exists() and (folder / "pid").read_text())  # noqa: E731
            assert await talk.interrupted(dialogue, "why?", began) < AT_ONCE
            history = await talk.goes_on()
            assert (await dialogue.ask("once more?", talk.events.append)).text == "Fine."
        assert server.refusals == []
    with pytest.raises(ProcessLookupError):
        os.kill(int((folder / "pid").read_text()), 0)
    assert [message.role for message in history] == ["user", "assistant", "tool", "tool"]
    assert "The sky is blue." in history[2].content
    assert "interrupted" in history[3].content


TIGHT = {
    "a window": (SUMMARISE[:60], {"HERMES_MODEL_CONTEXT_WINDOW": "8000"}),
    "a budget": ("The limit of", {"HERMES_AGENT_MAX_TURNS": "2"}),
}


@pytest.mark.parametrize("limit", TIGHT)
async def test_an_interrupt_while_it_sums_up(wire, folder, limit):
    talk = Talk(wire, folder / "home")
    asks_for_summary, settings = TIGHT[limit]
    first = wire.says("Indeed. " * 700) if limit == "a window" else wire.calls(("list_files", {"path": "."}))

    def reply(body, *rest):
        if server.stalled.is_set():
            return wire.says("Fine.")(body, *rest)
        is_summary = asks_for_summary in msgspec.json.encode(body).decode()
        return (stalls(first, 0) if is_summary else first)(body, *rest)

    async with wire.simulator(reply) as server:
        async with Runtime(wire.settings(talk.home, server, **settings)) as runtime:
            dialogue = runtime.converse(talk.terms())
            if limit == "a window":
                await dialogue.ask("Think of this. " * 1_700, talk.events.append)
            assert await talk.interrupted(dialogue, WORDS, stalled(server)) < AT_ONCE
            before = await runtime.store().messages(talk.session_id)
            assert (await talk.goes_on())[: len(before)] == before
            assert (await dialogue.ask("once more?", talk.events.append)).text == "Fine."
        assert server.refusals == []


async def test_an_agent_is_cancelled_from_beside(wire, folder):
    async with wire.simulator(stalls(wire.says(WORDS), 0.6), wire.says("Fine.")) as server:
        async with hermes.Agent(wire.model, tools=[], config=wire.settings(folder / "home", server)) as agent:
            asked = asyncio.create_task(agent.run("why?"))
            await asyncio.wait_for(server.stalled.wait(), 20)
            began = time.monotonic()
            agent.cancel()
            with pytest.raises(Interrupted):
                await asked
            assert time.monotonic() - began < AT_ONCE
            assert (await agent.run("again?")).text == "Fine."
        assert server.refusals == []
