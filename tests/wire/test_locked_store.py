"""Another process holds the lock of the sessions: an interrupt is not held up, and what was said is kept."""

import asyncio
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from hermes.app import Runtime, Terms
from hermes.errors import StoreLocked
from hermes.events import Failed, Notice, Text
from hermes.messages import Message
from hermes.store import Session, Store, database, sessions
from simulators.chat_completions import says
from simulators.model import stalls
from simulators.wires import WIRES

WIRE = WIRES["chat_completions"]
AT_ONCE = 0.5
HOLDER = Path(__file__).parent / "lock_holder.py"


class Holder:
    """A second process that has the file locked."""

    def __init__(self, path):
        command = [sys.executable, str(HOLDER), str(path)]
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        assert self._process.stdout.readline() == b"held\n"

    def let_go(self):
        self._process.communicate(timeout=10)


@pytest.fixture
async def path(tmp_path):
    path = tmp_path / "home" / "sessions.db"
    store = Store.open(str(path))
    await store.create(Session("s", "", 0, 0, "custom", "m", "/"))
    await store.close()
    return path


async def stopped(asked):
    began = time.monotonic()
    asked.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asked
    return time.monotonic() - began


@pytest.mark.parametrize("state", ["before the question is kept", "while the model speaks"])
async def test_an_interrupt_returns_at_once_and_what_was_said_is_kept_when_the_lock_goes(path, state):
    events = []
    script = stalls(says("so far so good " * 60), 0.6)
    async with WIRE.simulator(script) as server, Runtime(WIRE.settings(path.parent, server)) as runtime:
        dialogue = runtime.converse(Terms(model=WIRE.model, tools=()))
        holder = Holder(path) if state.startswith("before") else None
        asked = asyncio.create_task(dialogue.ask("why?", events.append))
        if holder is None:
            while not any(isinstance(event, Text) for event in events):
                await asyncio.sleep(0.01)
            holder = Holder(path)
        await asyncio.sleep(0.1)
        assert await stopped(asked) < AT_ONCE
        holder.let_go()
        session_id = events[-1].partial.session_id
    store = Store.open(str(path))
    kept = await store.messages(session_id)
    assert (await store.find(session_id)).status == "interrupted"
    await store.close()
    assert isinstance(events[-1], Failed)
    assert kept == events[-1].partial.messages
    assert [message.role for message in kept] == ["user", "assistant"][: len(kept)]


async def test_the_loop_goes_on_while_a_write_waits_and_its_order_is_kept(path):
    store = Store.open(str(path))
    holder = Holder(path)
    writes = [store.append("s", [Message("user", str(number))]) for number in range(3)]
    began = time.monotonic()
    await asyncio.sleep(0.1)
    assert time.monotonic() - began < 0.4
    assert not any(write.done() for write in writes)
    holder.let_go()
    await asyncio.gather(*writes)
    await store.append("s", [Message("user", "3")])
    assert [message.content for message in await store.messages("s")] == ["0", "1", "2", "3"]
    await store.close()


async def test_a_free_file_needs_no_thread(path):
    before = threading.active_count()
    store = Store.open(str(path))
    await store.append("s", [Message("user", "hello")])
    assert threading.active_count() == before
    await store.close()


async def test_a_lock_that_stays_is_said_and_closing_does_not_wait_for_ever(path, monkeypatch):
    monkeypatch.setattr(database, "BUSY_SECONDS", 0.3)
    monkeypatch.setattr(sessions, "_CLOSING_SECONDS", 0.6)
    store = Store.open(str(path))
    holder = Holder(path)
    writes = [store.append("s", [Message("user", str(number))]) for number in range(5)]
    began = time.monotonic()
    await store.close()
    assert time.monotonic() - began < 2
    outcomes = await asyncio.gather(*writes, return_exceptions=True)
    assert isinstance(outcomes[0], StoreLocked)
    assert isinstance(outcomes[-1], asyncio.CancelledError)
    holder.let_go()


async def test_a_session_that_could_not_be_saved_says_so(path, monkeypatch):
    monkeypatch.setattr(database, "BUSY_SECONDS", 0.2)
    events = []
    async with (
        WIRE.simulator(says("Fine.")) as server,
        Runtime(WIRE.settings(path.parent, server)) as runtime,
    ):
        dialogue = runtime.converse(Terms(model=WIRE.model, tools=()))
        holder = Holder(path)
        answer = await dialogue.ask("why?", events.append)
    holder.let_go()
    assert answer.text == "Fine."
    told = [event.message for event in events if isinstance(event, Notice)]
    assert len([words for words in told if "this session is not saved" in words]) == 1
