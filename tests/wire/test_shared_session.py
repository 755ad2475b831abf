"""Several processes in one session, some of which sum up: no turn is lost, none is told to a model twice."""

import asyncio
import subprocess
import sys
import tempfile
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from hermes.config import load
from hermes.store import Session, Store
from wire import talker

TALKER = Path(talker.__file__)


class Talker:
    """A process that has taken the session up."""

    def __init__(self, path):
        command = [sys.executable, str(TALKER), str(path)]
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        assert self._process.stdout.readline() == "ok\n"

    def does(self, line):
        self._process.stdin.write(f"{line}\n")
        self._process.stdin.flush()
        assert self._process.stdout.readline() == "ok\n"

    def leaves(self):
        self._process.communicate(timeout=10)


async def begin(path):
    store = Store.open(str(path))
    await store.create(Session("s", "", 0, 0, "custom", "m", "/"))
    await store.close()


async def taken_up(path):
    """What a model is sent of the session when it is taken up again, in words."""
    store = Store.open(str(path))
    conversation = await talker.take_up(store, load({}).redactor())
    await store.close()
    return conversation, talker.words(conversation.messages[1:])


async def test_a_summary_stands_for_its_own_process_words_alone(tmp_path):
    path = tmp_path / "sessions.db"
    await begin(path)
    first = Talker(path)
    first.does("say a1")
    second = Talker(path)
    second.does("say b1")
    first.does("say a2")
    second.does("say b2")
    first.does("sum 2")
    first.does("say a3")
    second.does("say b3")
    conversation, words = await taken_up(path)
    assert words == ["a1", "a2", "b1", "b2", "a3", "b3"]
    second.does("sum 3")
    assert sorted((await taken_up(path))[1]) == ["a1", "a2", "a3", "b1", "b2", "b3"]
    for process in (first, second):
        process.leaves()
    said = [message.content for message in conversation.history if not message.replaces]
    assert sorted(said) == ["a1", "a2", "a3", "b1", "b2", "b3"]


async def play(folder, steps):
    """Two talkers, each with a connection of its own, take turns; a third takes up what they leave."""
    path = Path(folder) / "sessions.db"
    await begin(path)
    redact = load({}).redactor()
    stores = [Store.open(str(path)) for _ in range(2)]
    talkers = [await talker.take_up(store, redact) for store in stores]
    said = []
    for number, (who, sums_up) in enumerate(steps):
        known = len(talkers[who].messages) - 1
        if sums_up is None:
            said.append(f"{who}:{number}")
            await talker.act(talkers[who], f"say {said[-1]}")
        elif known >= 2:
            await talker.act(talkers[who], f"sum {2 + sums_up % (known - 1)}")
        if number % 5 == 4:
            talkers[who] = await talker.take_up(stores[who], redact)
        assert sorted((await taken_up(path))[1]) == sorted(said)
    for store in stores:
        await store.close()


@settings(deadline=None, max_examples=40)
@given(st.lists(st.tuples(st.integers(0, 1), st.none() | st.integers(0, 9)), max_size=16))
def test_whoever_sums_up_whenever_every_word_reaches_the_model_once(steps):
    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(play(folder, steps))
