"""Bad input and bad servers, through the real command: words and a hint, never a traceback."""

import asyncio
import json
import os
import signal
import sqlite3
import sys
import time
from pathlib import Path

import pytest

from simulators.chat_completions import ChatSimulator, calls, fails, says
from simulators.scripted import ScriptedServer

KEY = "sk-test-0123456789abcdef"


def settings(server, **more):
    return {"CUSTOM_BASE_URL": server.base_url, "CUSTOM_API_KEY": KEY, **more}


@pytest.mark.parametrize(
    ("arguments", "stdin", "words"),
    [
        (["chat", "-q", ""], b"", "the question is empty"),
        (["chat", "-q", "  \n "], b"", "the question is empty"),
        (["chat"], b"", "the question is empty"),
        (["chat", "-q", "x"], b"\x7fELF\0\0\0", "not text"),
        (["chat", "-q", "x"], b"caf\xe9", "not UTF-8"),
        (["chat", "-q", "x", "-m", "scuot"], b"", "unknown model `scuot`"),
        (["chat", "-q", "x", "-m", "nope/m"], b"", "unknown provider `nope`"),
        (["chat", "-q", "x", "-m", "custom/m"], b"", "needs a base URL"),
        (["chat", "-q", "x", "--tools", "webb"], b"", "unknown tool `webb`"),
        (["chat", "-q", "x", "-r", "nosuch"], b"", "nosuch"),
        (["chat", "-q", "x", "-c"], b"", "no session"),
        (["search", "x", "--backend", "locl"], b"", "unknown web backend `locl`"),
        (["extract", "hermes://docs/x.md", "--backend", "gogle"], b"", "unknown web backend `gogle`"),
        (["caht"], b"", "unknown command `caht`"),
        (["chat", "--josn"], b"", "--josn"),
        (["search"], b"", "missing argument"),
        (["chat", "-q", "x", "--json", "--json-lines"], b"", "exclude each other"),
        (["index", "add", "no-such-file"], b"", "no-such-file"),
    ],
)
async def test_a_users_mistake_gets_words_and_a_hint(hermes, arguments, stdin, words):
    outcome = await hermes(*arguments, stdin=stdin)
    assert outcome.code == 2
    assert outcome.out == ""
    assert words in outcome.err
    assert "\nhint: " in outcome.err


async def test_near_names_are_offered(hermes):
    assert "`scout`" in (await hermes("chat", "-q", "x", "-m", "scuot")).err
    assert "`local`" in (await hermes("search", "x", "--backend", "locl")).err
    assert "`chat`" in (await hermes("caht")).err


async def test_a_question_of_a_megabyte_is_answered(hermes):
    outcome = await hermes("chat", stdin=b"how do I add a provider? " * 42_000)
    assert outcome.code == 0
    assert outcome.out


async def test_standard_input_is_the_tail_of_the_question(hermes):
    async with ChatSimulator(says("ok")) as server:
        outcome = await hermes(
            "chat", "-q", "sum up:", "-m", "custom/m", stdin=b"the text\n", **settings(server)
        )
        assert outcome.out == "ok\n"
        assert server.bodies[0]["messages"][-1]["content"] == "sum up:\n\nthe text"
        assert server.headers[0]["authorization"] == f"Bearer {KEY}"


async def test_a_model_on_loopback_searches_and_cites(hermes):
    search = calls(("web_search", {"query": "add a provider"}))
    async with ChatSimulator(search, says("One file is enough. [1]")) as server:
        outcome = await hermes("chat", "-q", "how?", "-m", "custom/m", "--json", **settings(server))
        assert outcome.code == 0
        answer = outcome.json()
        assert answer["answer"] == "One file is enough. [1]"
        assert answer["citations"][0]["url"].startswith("hermes://docs/")
        assert answer["usage"]["total_tokens"] == 30
        assert server.refusals == []


async def test_a_failure_under_json_is_still_one_object(hermes):
    async with ChatSimulator(fails(401, f"bad key {KEY}")) as server:
        outcome = await hermes("chat", "-q", "hello?", "-m", "custom/m", "--json", **settings(server))
    assert outcome.code == 1
    error = outcome.json()["error"]
    assert error["type"] == "AuthFailed"
    assert "CUSTOM_API_KEY" in error["hint"]
    assert KEY not in outcome.out + outcome.err


async def test_a_server_that_is_not_there_is_said(hermes):
    outcome = await hermes("chat", "-q", "x", "-m", "custom/m", CUSTOM_BASE_URL="http://127.0.0.1:9/v1")
    assert outcome.code == 1
    assert "127.0.0.1:9" in outcome.err
    assert "hint: " in outcome.err


async def test_a_key_the_model_repeats_is_nowhere(hermes):
    async with ChatSimulator(says(f"your key is {KEY}, yes")) as server:
        outcome = await hermes("chat", "-q", f"is it {KEY}?", "-m", "custom/m", **settings(server))
    assert outcome.code == 0
    assert "[redacted]" in outcome.out
    assert KEY not in outcome.out + outcome.err
    for path in hermes.home.rglob("*"):
        assert not path.is_file() or KEY.encode() not in path.read_bytes(), path


@pytest.mark.parametrize("mode", [[], ["--json"], ["--json-lines"]])
@pytest.mark.parametrize("key", [KEY, "sk-another-0123456789"])
async def test_a_key_that_a_model_says_in_pieces_is_in_no_output(hermes, mode, key):
    keys = {"CUSTOM_API_KEY": f"{KEY},sk-another-0123456789"}
    async with ChatSimulator(says(f"It is {key}, I think.", reasoning=f"{key} it is")) as server:
        outcome = await hermes(
            "chat", "-q", "hi", "-m", "custom/m", *mode, CUSTOM_BASE_URL=server.base_url, **keys
        )
    assert outcome.code == 0
    shown = outcome.out + outcome.err
    if mode == ["--json-lines"]:
        shown += "".join(json.loads(line).get("delta", "") for line in outcome.out.splitlines())
    assert key not in shown
    assert "It is [redacted], I think." in shown


@pytest.mark.parametrize("mode", [[], ["--json"], ["--json-lines"]])
async def test_ctrl_c_keeps_the_partial_answer_once(hermes, mode):
    head = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n"
    piece = b'data: {"choices": [{"delta": {"content": "so far so good "}}]}\n\n'
    streaming = asyncio.Event()

    async def stall(exchange):
        await exchange.send(head, piece)
        streaming.set()
        await exchange.client_left()

    async with ScriptedServer(stall) as server:
        process = await hermes.start(
            "chat", "-q", "x", "-m", "custom/m", *mode, CUSTOM_BASE_URL=f"{server.url}/v1"
        )
        process.stdin.close()
        await asyncio.wait_for(streaming.wait(), 20)
        await asyncio.sleep(0.2)
        process.send_signal(signal.SIGINT)
        out, err = await asyncio.wait_for(process.communicate(), 10)
    assert process.returncode == 130
    assert b"Traceback" not in err
    assert b"interrupted" in err
    if mode == ["--json"]:
        assert json.loads(out)["answer"] == "so far so good "
        assert json.loads(out)["error"]["type"] == "Interrupted"
    elif not mode:
        assert out.count(b"so far so good") == 1
    shown = await hermes("sessions", "list", "--json")
    [session] = shown.json() if isinstance(shown.json(), list) else shown.json()["sessions"]
    assert "so far so good" in (await hermes("sessions", "show", session["id"])).out


async def test_ctrl_c_ends_a_running_tool_and_the_session_goes_on(hermes):
    started = hermes.home.parent / "started"
    sleeps = {"command": "echo $$ > started; exec sleep 30"}
    async with ChatSimulator(calls(("terminal", sleeps)), says("Here again.")) as server:
        asked = "chat", "-q", "x", "-m", "custom/m", "--tools", "terminal"
        process = await hermes.start(*asked, **settings(server))
        process.stdin.close()
        while not (started.exists() and started.read_text()):
            await asyncio.sleep(0.02)
        began = time.monotonic()
        process.send_signal(signal.SIGINT)
        _, err = await asyncio.wait_for(process.communicate(), 10)
        assert time.monotonic() - began < 2  # with the interpreter's own end
        assert (process.returncode, b"Traceback" in err) == (130, False)
        with pytest.raises(ProcessLookupError):
            os.kill(int(started.read_text()), 0)
        outcome = await hermes("chat", "-c", "-q", "still there?", "-m", "custom/m", **settings(server))
        assert (outcome.code, outcome.out, server.refusals) == (0, "Here again.\n", [])


@pytest.mark.skipif(not os.path.exists("/proc/self/maps"), reason="needs /proc to see what is loaded")
@pytest.mark.parametrize("delay", [0, 0.03, 0.06, 0.1, 0.2])
async def test_ctrl_c_at_any_moment_leaves_without_a_traceback(hermes, delay):
    process = await hermes.start("chat", "-q", "How do I add a provider?")
    process.stdin.close()
    while process.returncode is None and "msgspec" not in Path(f"/proc/{process.pid}/maps").read_text():
        await asyncio.sleep(0.002)  # the interpreter's own start is not ours to guard
    await asyncio.sleep(delay)
    if process.returncode is None:
        process.send_signal(signal.SIGINT)
    _, err = await asyncio.wait_for(process.communicate(), 20)
    assert process.returncode in (0, 130)
    assert b"Traceback" not in err
    assert process.returncode == 0 or b"interrupted" in err


async def test_a_closed_stdout_is_no_failure(hermes):
    read, write = os.pipe()
    os.close(read)
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "hermes", "search", "backend", "-n", "50"),
        stdin=asyncio.subprocess.DEVNULL,
        stdout=write,
        stderr=asyncio.subprocess.PIPE,
        env=hermes.environment(),
    )
    os.close(write)
    _, err = await asyncio.wait_for(process.communicate(), 30)
    assert b"Traceback" not in err
    assert b"Broken" not in err
    assert process.returncode == 0


@pytest.mark.parametrize("closed", ["<&-", ">&- 2>&-", "<&- >&- 2>&-"])
async def test_closed_streams_are_nobody_to_talk_to(hermes, closed):
    process = await asyncio.create_subprocess_shell(
        f'"$PYTHON" -m hermes chat -q "How do I add a provider?" {closed}',
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        env=hermes.environment(PYTHON=sys.executable),
    )
    _, err = await asyncio.wait_for(process.communicate(), 30)
    assert (process.returncode, b"Traceback" in err) == (0, False)


async def test_a_locale_that_cannot_write_the_answer_replaces_what_it_cannot(hermes, tmp_path):
    (tmp_path / "snow.md").write_text("# Snow\n\nThe snow sign is ❄, said Ada Holm.\n")
    await hermes("index", "add", str(tmp_path / "snow.md"))
    outcome = await hermes(
        "chat", "-q", "Who said what the snow sign is?", PYTHONIOENCODING="iso-8859-1:strict"
    )
    assert outcome.code == 0
    assert "The snow sign is ?, said Ada Holm." in outcome.out


async def test_a_home_that_cannot_be_written_does_not_stop_the_answer(hermes):
    outcome = await hermes("chat", "-q", "How do I add a provider?", HERMES_HOME="/proc/nowhere")
    assert outcome.code == 0
    assert "[1]" in outcome.out
    assert "not saved" in outcome.err


async def test_a_home_that_cannot_be_read_is_said(hermes):
    hermes.home.write_text("a file where the home should be")
    outcome = await hermes("chat", "-q", "How do I add a provider?")
    assert outcome.code == 2
    assert str(hermes.home) in outcome.err
    assert "hint: " in outcome.err


@pytest.mark.parametrize("name", ["index.db", "sessions.db"])
async def test_a_corrupt_file_is_said_set_aside_and_rebuilt(hermes, name):
    hermes.home.mkdir(mode=0o700)
    (hermes.home / name).write_bytes(b"this is no database at all" * 500)
    outcome = await hermes("chat", "-q", "How do I add a provider?")
    assert outcome.code == 0
    assert "[1]" in outcome.out
    assert f"{name}.corrupt-" in outcome.err
    assert [path for path in hermes.home.iterdir() if path.name.startswith(f"{name}.corrupt-")]
    with sqlite3.connect(hermes.home / name) as fresh:
        assert fresh.execute("PRAGMA quick_check").fetchone() == ("ok",)
    fresh.close()


async def test_a_broken_config_names_the_file_and_the_line(hermes):
    hermes.home.mkdir(mode=0o700)
    (hermes.home / "config.yaml").write_text("model:\n  provider: custom\nagent:\n  max_turns: many\n")
    outcome = await hermes("chat", "-q", "x")
    assert outcome.code == 2
    assert "config.yaml:4" in outcome.err
    assert "agent.max_turns" in outcome.err
