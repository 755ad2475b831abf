"""What happened in a turn is kept with what was said in it."""

import contextlib
import sqlite3

import pytest

from hermes.app import Runtime, Terms
from hermes.config import load
from hermes.errors import AuthFailed, ModelError
from hermes.events import Compacted, Failed, Notice, RetryWaiting, Switched, Text, ToolProgress, Used
from hermes.messages import Message, Usage
from hermes.store import Happening, Store, kept
from hermes.store.events import Broke, ToolBegan, ToolEnded
from hermes.store.schema import Schema, migrate
from hermes.store.tables import HISTORY
from simulators.chat_completions import ChatSimulator, calls, fails, says

KEY = "sk-live/0123456789+abcdef"
EVERY_KIND = [
    ToolBegan("1", "look"),
    ToolEnded("1", "look", 1200, False, 0.25, "local"),
    RetryWaiting("busy", 2.5, 1),
    Switched("a/b", "c/d", "it is down"),
    Compacted(12_000, 3_000, 11_000),
    Used(Usage(1, 2, 3), 0.25),
    Notice("by the way", "do so"),
    Broke("AuthFailed", "no key", "get one"),
]


async def test_events_come_back_as_they_were_in_their_places(store, session):
    await store.create(session("s"))
    first, *others = [Happening(float(at), event) for at, event in enumerate(EVERY_KIND)]
    await store.append("s", [Message("user", "q")], [first])
    await store.append("s", [Message("assistant", "a"), Message("user", "r")], others[:3])
    await store.mark("s", "done", others[3:])
    assert [(event.at, event.event) for event in await store.events("s")] == list(enumerate(EVERY_KIND))
    assert [event.after for event in await store.events("s")] == [0, 1, 1, 1, 3, 3, 3, 3]
    await store.delete("s")
    await store.create(session("s"))
    assert await store.events("s") == ()


@pytest.mark.parametrize("event", [Text("word"), ToolProgress("1", "look", "half")])
def test_what_a_message_holds_or_nobody_looks_for_is_not_kept(event):
    assert kept(event) is None


def test_a_failure_is_kept_by_its_name():
    assert kept(Failed(AuthFailed("no key", hint="get one"), None)) == EVERY_KIND[-1]


async def talk(home, *script):
    """Ask one question; the session as it is stored."""
    async with ChatSimulator(*script) as server:
        variables = {"HERMES_HOME": str(home), "HERMES_MODEL_LOCAL_SERVERS": "false"}
        config = load({**variables, "CUSTOM_BASE_URL": server.base_url, "CUSTOM_API_KEY": KEY})
        async with Runtime(config) as runtime:
            dialogue = runtime.converse(Terms(model="custom/m", tools=("file",)))
            with contextlib.suppress(ModelError):
                await dialogue.ask("why?", lambda _event: None)
            session = await runtime.store().latest()
            return await runtime.store().messages(session.id), await runtime.store().events(session.id)


async def test_a_turn_keeps_its_events_between_its_messages(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "notes.txt").write_text("The sky is blue.")
    script = calls(("read_file", {"path": "notes.txt"})), says("Blue.")
    messages, events = await talk(tmp_path / "home", *script)
    assert [message.role for message in messages] == ["user", "assistant", "tool", "assistant"]
    places = [(event.after, type(event.event)) for event in events]
    assert places == [(1, Used), (2, ToolBegan), (2, ToolEnded), (3, Used)]
    assert events[2].event.characters > 0
    assert [event.at for event in events] == sorted(event.at for event in events)


async def test_no_secret_is_written_with_an_event(tmp_path):
    _, events = await talk(tmp_path / "home", fails(401, f"the key {KEY} is wrong"))
    assert isinstance(events[-1].event, Broke)
    assert "[redacted]" in events[-1].event.message
    assert KEY.encode() not in b"".join(file.read_bytes() for file in (tmp_path / "home").glob("sessions*"))


@pytest.mark.parametrize("version", range(1, len(HISTORY.steps) + 1))
async def test_a_file_of_every_version_is_brought_up_to_date(path, version, tmp_path, session):
    (tmp_path / "home").mkdir()
    old = sqlite3.connect(path, isolation_level=None)
    migrate(old, Schema(HISTORY.noun, HISTORY.steps[:version]), "it")
    old.execute("INSERT INTO sessions VALUES ('s', 't', 0, 0, 'p', 'm', '/', 'done', 1)")
    said = '{"role":"user","content":"hello"}'
    old.execute("INSERT INTO messages (session, seq, created, body) VALUES ('s', 1, 0, ?)", (said,))
    old.close()
    store = Store.open(path)
    assert store.notices == []
    assert await store.messages("s") == (Message("user", "hello"),)
    await store.append("s", [Message("assistant", "hi")], [Happening(1.0, Notice("so"))])
    assert await store.events("s") == (Happening(1.0, Notice("so"), 1),)
    assert [hit.seq for hit in await store.search("hello", 5)] == [1]
    await store.close()
