"""`Agent` as a Python program uses it: stopped, asked for consent, with files and with pictures."""

import asyncio
import base64
import json
import time
from pathlib import Path

import pytest

import hermes
from hermes.app.pictures import LARGEST
from hermes.config import load
from hermes.errors import Interrupted, UsageError
from hermes.events import Done, Notice
from hermes.providers.base import Registry
from hermes.store import Store
from simulators import anthropic_messages, bedrock_converse, chat_completions, codex_responses
from simulators.chat_completions import ChatSimulator, calls, says
from simulators.scripted import ScriptedServer

PIECE = (
    b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n"
    b'data: {"choices": [{"delta": {"content": "so far "}}]}\n\n'
)
PNG = b"\x89PNG\r\n\x1a\n" + b"not much of a picture"
KINDS = {
    "image/png": PNG,
    "image/jpeg": b"\xff\xd8\xff\xe0\0\x10JFIF",
    "image/gif": b"GIF89a..",
    "image/webp": b"RIFF\n\0\0\0WEBPVP8 ",
}
WIRES = {
    "custom": (chat_completions.ChatSimulator, chat_completions, "custom/m", {}),
    "anthropic": (
        anthropic_messages.MessagesSimulator,
        anthropic_messages,
        "anthropic",
        {"ANTHROPIC_API_KEY": "sk-vendor-0123456789"},
    ),
    "openai": (
        codex_responses.ResponsesSimulator,
        codex_responses,
        "openai",
        {"OPENAI_API_KEY": "sk-vendor-0123456789"},
    ),
    "bedrock": (
        bedrock_converse.ConverseSimulator,
        bedrock_converse,
        "bedrock/anthropic.claude-sonnet-4-5-20250929-v1:0",
        {"AWS_BEARER_TOKEN_BEDROCK": bedrock_converse.API_KEY},
    ),
}


@pytest.fixture
def home(tmp_path):
    return tmp_path / "home"


@pytest.fixture
def work(tmp_path, monkeypatch):
    folder = tmp_path / "work"
    folder.mkdir()
    monkeypatch.chdir(folder)
    return folder


def settings(home, **variables):
    return load({"HERMES_HOME": str(home), "HERMES_MODEL_LOCAL_SERVERS": "false", **variables})


async def test_cancel_from_another_task_stops_the_run_and_the_next_question_is_accepted(home):
    streaming = asyncio.Event()
    answer = says("Here I am.")

    async def serve(exchange):
        if not streaming.is_set():
            await exchange.send(PIECE)
            streaming.set()
            await exchange.client_left()
        else:
            body = json.loads(exchange.request.body)
            assert chat_completions.refusal(exchange.request.path, body) is None
            await exchange.send(answer(body))
            exchange.close()

    async with ScriptedServer(serve) as server:
        config = settings(home, CUSTOM_BASE_URL=f"{server.url}/v1")
        async with hermes.Agent("custom/m", config=config) as agent:
            run = asyncio.ensure_future(agent.run("one?"))
            await asyncio.wait_for(streaming.wait(), 10)
            await asyncio.sleep(0.05)
            began = time.monotonic()
            agent.cancel()
            with pytest.raises(Interrupted):
                await run
            assert time.monotonic() - began < 0.5
            later = await agent.run("two?")
    said = [(message.role, message.content, message.finish_reason) for message in later.messages]
    assert said == [
        ("user", "one?", None),
        ("assistant", "so far ", "incomplete"),
        ("user", "two?", None),
        ("assistant", "Here I am.", "stop"),
    ]


async def test_cancel_while_a_tool_runs_leaves_every_call_answered(home, work):
    script = calls(("terminal", {"command": "sleep 30"})), says("Back again.")
    async with ChatSimulator(*script) as server:
        config = settings(home, CUSTOM_BASE_URL=server.base_url, PATH="/usr/bin:/bin")
        async with hermes.Agent("custom/m", tools=["terminal"], config=config) as agent:
            seen: list[object] = []
            run = asyncio.ensure_future(_collect(agent.stream("wait"), seen))
            async with asyncio.timeout(10):
                while not any(type(event).__name__ == "ToolStarted" for event in seen):
                    await asyncio.sleep(0.01)
            began = time.monotonic()
            agent.cancel()
            with pytest.raises(Interrupted):
                await run
            assert time.monotonic() - began < 0.7
            assert type(seen[-1]).__name__ == "Failed"
            answer = await agent.run("and now?")
        assert server.refusals == []
    assert answer.text == "Back again."
    assert [message.role for message in answer.messages] == ["user", "assistant", "tool", "user", "assistant"]


async def test_cancel_with_nothing_to_stop_does_nothing(home):
    async with hermes.Agent(model="scout", config=settings(home)) as agent:
        agent.cancel()
        assert (await agent.run("What is scout?")).complete


@pytest.mark.parametrize(("answer", "consents"), [("once", True), ("deny", False), (True, False)])
async def test_approve_is_asked_before_a_dangerous_command(home, work, answer, consents):
    (work / "old").mkdir()
    asked = []

    async def approve(wanted):
        asked.append(wanted)
        return answer

    async with ChatSimulator(calls(("terminal", {"command": "rm -r old"})), says("ok")) as server:
        config = settings(home, CUSTOM_BASE_URL=server.base_url, PATH="/usr/bin:/bin")
        async with hermes.Agent("custom/m", tools=["terminal"], config=config, approve=approve) as agent:
            await agent.run("clean up")
    assert [(wanted.tool, wanted.action) for wanted in asked] == [("terminal", "rm -r old")]
    assert asked[0].reason
    assert (work / "old").exists() is not consents


async def test_a_consent_for_the_session_outlasts_a_closed_agent(home, work):
    asked = []

    async def approve(wanted):
        asked.append(wanted.action)
        return "session"

    script = [
        turn
        for name in ("a", "b")
        for turn in (calls(("terminal", {"command": f"rm -r {name}"})), says("ok"))
    ]
    (work / "a").mkdir()
    (work / "b").mkdir()
    async with ChatSimulator(*script) as server:
        config = settings(home, CUSTOM_BASE_URL=server.base_url, PATH="/usr/bin:/bin")
        agent = hermes.Agent("custom/m", tools=["terminal"], config=config, approve=approve)
        for question in ("one", "two"):
            async with agent:
                await agent.run(question)
    assert asked == ["rm -r a"]
    assert not (work / "b").exists()


@pytest.mark.parametrize(("command", "is_kept"), [("rm -r old", True), ("rm -r old sk-very-secret-1", False)])
async def test_always_is_kept_in_the_settings_but_a_key_never_is(home, work, command, is_kept):
    async def approve(_wanted):
        return "always"

    script = calls(("terminal", {"command": command})), says("ok")
    async with ChatSimulator(*script) as server:
        variables = {"CUSTOM_BASE_URL": server.base_url, "CUSTOM_API_KEY": "sk-very-secret-1"}
        config = settings(home, **variables, PATH="/usr/bin:/bin")
        async with hermes.Agent("custom/m", tools=["terminal"], config=config, approve=approve) as agent:
            events = [event async for event in agent.stream("clean up")]
    told = [event.message for event in events if isinstance(event, Notice)]
    assert load({"HERMES_HOME": config.home}).approvals.allow == ((command,) if is_kept else ())
    assert told == ([] if is_kept else ["`rm -r old [redacted]` is allowed in this run only: it holds a key"])


async def test_without_approve_the_answer_is_no(home, work):
    (work / "old").mkdir()
    async with ChatSimulator(calls(("terminal", {"command": "rm -r old"})), says("ok")) as server:
        config = settings(home, CUSTOM_BASE_URL=server.base_url, PATH="/usr/bin:/bin")
        async with hermes.Agent("custom/m", tools=["terminal"], config=config) as agent:
            await agent.run("clean up")
    assert (work / "old").exists()


async def test_the_toolset_file_reads_and_changes_a_real_file(home, work):
    (work / "notes.txt").write_text("the sky is green\n")
    script = (
        calls(("read_file", {"path": "notes.txt"})),
        calls(("patch", {"path": "notes.txt", "old": "green", "new": "blue"})),
        says("Mended."),
    )
    async with ChatSimulator(*script) as server:
        config = settings(home, CUSTOM_BASE_URL=server.base_url)
        async with hermes.Agent("custom/m", tools=["file"], config=config) as agent:
            answer = await agent.run("mend it")
        offered = {tool["function"]["name"] for tool in server.bodies[0]["tools"]}
        assert server.refusals == []
    assert offered == {"read_file", "write_file", "patch", "list_files", "search_files"}
    assert "the sky is green" in server.bodies[1]["messages"][-1]["content"]
    assert (work / "notes.txt").read_text() == "the sky is blue\n"
    assert answer.text == "Mended."


async def test_an_agent_without_tools_named_offers_those_of_the_settings(home, work):
    async with ChatSimulator(says("ok")) as server:
        config = settings(home, CUSTOM_BASE_URL=server.base_url, HERMES_AGENT_TOOLS="memory, read_file")
        async with hermes.Agent("custom/m", config=config) as agent:
            await agent.run("hi")
    assert [tool["function"]["name"] for tool in server.bodies[0]["tools"]] == ["memory", "read_file"]


@pytest.mark.parametrize("name", WIRES)
async def test_a_picture_reaches_the_model_on_every_wire_and_stays_in_the_session(home, tmp_path, name):
    simulator, wire, model, keys = WIRES[name]
    (tmp_path / "cat.bin").write_bytes(PNG)
    picture = hermes.read_image(str(tmp_path / "cat.bin"))
    async with simulator(wire.says("A cat."), wire.says("Grey.")) as server:
        variable = Registry().load(name).base_url_env[0]
        config = settings(home, **{variable: server.base_url}, **keys)
        async with hermes.Agent(model, tools=[], config=config) as agent:
            answer = await agent.run("What is this?", images=[picture])
            await agent.run("Of which colour?")
        assert server.refusals == []
    assert all(base64.b64encode(PNG).decode() in str(body) for body in server.bodies)
    assert answer.messages[0].images == (picture,)
    store = Store.open(str(home / "sessions.db"))
    assert (await store.messages(answer.session_id))[0].images == (picture,)
    await store.close()


async def test_a_model_that_sees_nothing_is_told_in_words_and_so_is_the_caller(home, tmp_path):
    (tmp_path / "cat.png").write_bytes(PNG)
    picture = hermes.read_image(str(tmp_path / "cat.png"))
    async with hermes.Agent(model="scout", config=settings(home)) as agent:
        plain = await agent.run("What is scout?")
        events = [event async for event in agent.stream("What is scout?", images=[picture])]
    assert any(isinstance(event, Notice) and "takes no pictures" in event.message for event in events)
    assert isinstance(events[-1], Done)
    assert events[-1].answer.text == plain.text


@pytest.mark.parametrize("kind", KINDS)
def test_a_picture_is_known_by_its_content_whatever_its_name(tmp_path, kind):
    path = tmp_path / "picture.txt"
    path.write_bytes(KINDS[kind])
    image = hermes.read_image(str(path))
    assert (image.media_type, base64.b64decode(image.data)) == (kind, KINDS[kind])


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "is empty"),
        (b"hello", "holds no picture"),
        (b"<svg xmlns='http://www.w3.org/2000/svg'/>", "holds no picture"),
        (b"RIFF\0\0\0\0WAVEfmt ", "holds no picture"),
        (None, "No such file"),
    ],
)
def test_what_is_no_picture_is_refused_in_words(tmp_path, content, words):
    path = tmp_path / "cat.png"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(UsageError, match=words) as raised:
        hermes.read_image(str(path))
    assert raised.value.hint


def test_a_picture_may_have_twenty_megabytes_and_not_one_byte_more(tmp_path: Path):
    path = tmp_path / "large.png"
    path.write_bytes(PNG.ljust(LARGEST, b"\0"))
    assert hermes.read_image(str(path)).media_type == "image/png"
    path.write_bytes(PNG.ljust(LARGEST + 1, b"\0"))
    with pytest.raises(UsageError, match="larger than 20 MB"):
        hermes.read_image(str(path))


async def _collect(events, seen):
    async for event in events:
        seen.append(event)  # what came before an error is kept
