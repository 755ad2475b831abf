"""A conversation on a real terminal: typed into a pty, read back from a terminal emulator."""

import asyncio
import json
import re
import stat
import sys

import pytest

from hermes.store import Store
from simulators.chat_completions import ChatSimulator, calls, says
from simulators.model import stalls
from simulators.screens import Screen
from simulators.scripted import ScriptedServer

PROMPT = r"^>$"
ASK = ("chat", "-m", "custom/m")


@pytest.fixture
def talk(hermes):
    """Opens a screen on which `hermes chat` talks to a server."""

    def start(server, *more, columns=80, lines=40, **variables):
        env = hermes.environment(
            CUSTOM_BASE_URL=server.base_url, CUSTOM_API_KEY="sk-own-0123456789", **variables
        )
        return Screen(*ASK, *more, env=env, cwd=hermes.home.parent, columns=columns, lines=lines)

    return start


async def test_markdown_streams_and_a_tool_call_ends_as_one_line(talk):
    script = (
        calls(("web_search", {"query": "hermes scout"}), text="I will **look**."),
        says("# Found\n\nIt is `here`, see [1].\n\n- one\n- two\n", chunks=20),
    )
    async with ChatSimulator(*script) as server, talk(server) as screen:
        await screen.shows(PROMPT)
        screen.type("where?\r")
        await screen.shows(r"^\[1\] .*hermes://docs")
        shown = await screen.shows(r"^>$")
        screen.type("\x04")
        assert await screen.ends() == 0
    assert re.search(
        r"^I will look\.\n· web_search hermes scout: [\d,]+ characters by local, [\d.]+ m?s$", shown, re.M
    )
    assert re.search(r"^Found\n\nIt is here, see \[1\]\.\n\n• one\n• two\n\n\[1\] ", shown, re.M)
    assert "**" not in shown
    assert server.refusals == []


async def test_ctrl_c_stops_an_answer_and_keeps_it_and_a_second_one_leaves(talk, hermes):
    script = (stalls(says("It began well and then", chunks=10), 0.8), says("Again."))
    async with ChatSimulator(*script) as server, talk(server) as screen:
        await screen.shows(PROMPT)
        screen.type("go on\r")
        await screen.shows("It began well")
        screen.press_ctrl_c()
        await screen.shows("stopped; what was said is kept")
        await screen.shows(PROMPT)
        screen.type("half a thought")
        await screen.shows("> half a thought$")
        screen.press_ctrl_c()
        await screen.shows(PROMPT)
        screen.press_ctrl_c()
        assert await screen.ends() == 130
    assert "Traceback" not in screen.raw
    _, (asked, answer) = await _kept(hermes)
    assert (asked.content, answer.role) == ("go on", "assistant")
    assert answer.content.startswith("It began well")


async def _kept(hermes):
    """The session used last, and what was said in it."""
    store = Store.open(str(hermes.home / "sessions.db"))
    try:
        session = await store.latest()
        return session, await store.messages(session.id)
    finally:
        await store.close()


async def test_lines_history_and_completion_at_the_prompt(talk, hermes):
    async with ChatSimulator(says("Yes.")) as server:
        async with talk(server) as screen:
            await screen.shows(PROMPT)
            screen.type("one \\\rtwo\x1b\rthree sk-own-0123456789")
            await screen.shows(r"> one\n… two\n… three")
            screen.type("\r")
            await screen.shows(r"Yes\.[\s\S]*^>$")
            screen.type("\x1b[200~pasted\nlines\x1b[201~")
            await screen.shows(r"> pasted\n… lines$")
            screen.type("\r")
            await screen.shows(r"lines\nYes\.[\s\S]*^>$")
            screen.type("/rea\t")
            await screen.shows("> /reasoning$")
            screen.type("\r")
            await screen.shows("without thoughts")
            screen.type("\x04")
            assert await screen.ends() == 0
        async with talk(server) as screen:
            await screen.shows(PROMPT)
            screen.type("\x1b[A\x1b[A")
            await screen.shows(r"> pasted\n… lines$")
            screen.type("\x1b[A\x1b[A")
            await screen.shows(r"> one\n… two\n… three \[redacted\]$")
            screen.type("\x03\x03")
            assert await screen.ends() == 130
    asked = [body["messages"][-1]["content"] for body in server.bodies]
    assert asked == ["one \ntwo\nthree sk-own-0123456789", "pasted\nlines"]
    file = hermes.home / "history"
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert "sk-own" not in file.read_text()


COMPLETED = {"/sessions 2\t": r"^> /sessions 2\d", "/model sco\t": r"^> /model scout/"}


async def test_words_with_a_slash(talk, hermes):
    async with (
        ChatSimulator(says("First."), says("Second."), says("Third.")) as server,
        talk(server) as screen,
    ):
        await screen.shows(PROMPT)
        for typed, told in (
            ("/hepl", r"unknown command `/hepl`\nhint: did you mean .*`/help`"),
            ("/undo", "nothing has been asked"),
            ("one?", r"^First\."),
            ("two?", r"^Second\."),
            ("/retry", r"^Third\."),
            ("/undo", "taken back: two\\?"),
            ("/usage", r"all 3 answers: 30 tokens in, 15 out"),
            ("/tools none", "no tool is offered"),
            ("/export talk.md", "wrote `talk.md`"),
            ("/sessions", r"^\d{8}-\d{6}-\w{6} .*one\?"),
            ("/new", "a new session"),
            ("/sessions 2\t", r"^> /sessions \d{8}-\d{6}-\w{6}\ngoing on with .*: one\? \(2 messages\)"),
            ("/model sco\t", r"^> /model scout/scout-1\nanswering with `scout/scout-1`"),
        ):
            screen.type(typed)
            await screen.shows(COMPLETED.get(typed, f"^> {re.escape(typed)}$"))
            screen.type("\r")
            await screen.shows(rf"{told}[\s\S]*^>$")
        screen.type("/exit\r")
        assert await screen.ends() == 0
    _, kept = await _kept(hermes)
    assert [message.content for message in kept] == ["one?", "First."]
    asked = [message["content"] for message in server.bodies[2]["messages"] if message["role"] != "system"]
    assert asked == ["one?", "First.", "two?"]
    assert "## Question\n\none?" in (hermes.home.parent / "talk.md").read_text()


def _piece(text, finish=None):
    choice = {"index": 0, "delta": {"content": text}, "finish_reason": finish}
    body = {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m", "choices": [choice]}
    return f"data: {json.dumps(body)}\n\n".encode()


async def test_words_come_as_they_are_written_and_a_resize_changes_none_that_was_read(hermes):
    resized = asyncio.Event()

    async def reply(exchange):
        await exchange.send(
            b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n"
        )
        await exchange.send(*(_piece(f"word{number} ") for number in range(20)))
        await resized.wait()
        await exchange.send(*(_piece(f"word{number} ") for number in range(20, 50)))
        await exchange.send(_piece("", "stop"), b"data: [DONE]\n\n")
        exchange.close()

    async with ScriptedServer(reply) as server:
        env = hermes.environment(CUSTOM_BASE_URL=f"{server.url}/v1")
        async with Screen(*ASK, "-q", "words", env=env, cwd=hermes.home.parent, columns=40) as screen:
            before = await screen.shows("word18")
            screen.resize(70, 40)
            resized.set()
            assert await screen.ends() == 0
    assert screen.text.startswith(before)
    rows = screen.text.partition("word0")[2].splitlines()
    assert max(map(len, rows[:3])) <= 40
    assert 60 < max(map(len, rows[3:])) <= 70


async def test_what_a_model_says_cannot_work_the_terminal(talk):
    evil = "\x1b[2J\x1b]52;c;ZXZpbA==\x07 \x9b31m a\u202eb c\u200bd &#x1b;[8m ![x](https://evil.example/?q=1)"
    script = (
        calls(("web_search", {"query": "\x1b]0;title\x07 \u202equery"})),
        says(f"Look: {evil} end", chunks=9),
    )
    async with ChatSimulator(*script) as server, talk(server, "-q", "hi") as screen:
        await screen.shows("end$")
        assert await screen.ends() == 0
    for wrong in ("\x1b[2J", "\x1b]", "\x9b", "\u202e", "\u200b", "\x07", "\x1b[8m"):
        assert wrong not in screen.raw
    for right in (
        "\\u001b[2J",
        "\\u001b]52;c;ZXZpbA==\\u0007",
        "a\\u202eb",
        "c\\u200bd",
        "(picture: x, evil.example)",
    ):
        assert right in re.sub(r"\s+", " ", screen.text).replace("\n", " ")


@pytest.mark.parametrize("variables", [{"NO_COLOR": "1"}, {"TERM": "dumb"}])
async def test_a_terminal_without_attributes_is_sent_none(talk, variables):
    script = (calls(("web_search", {"query": "x"})), says("It is **bold**.\n"))
    async with ChatSimulator(*script) as server, talk(server, "-q", "hi", columns=40, **variables) as screen:
        shown = await screen.shows("bold")
        assert await screen.ends() == 0
    assert "It is **bold**." in shown
    assert "\x1b" not in screen.raw


async def test_a_file_is_attached_and_thoughts_are_folded(talk, hermes):
    (hermes.home.parent / "notes.md").write_text("Remember the milk.")
    script = (
        calls(("web_search", {"query": "milk"}), reasoning_content="let me see the milk"),
        says("Noted."),
    )
    async with ChatSimulator(*script) as server, talk(server) as screen:
        await screen.shows(PROMPT)
        screen.type("what is in @no\t")
        await screen.shows("@notes.md$")
        screen.type(" then?\r")
        await screen.shows(r"· with `notes\.md`\n· thought for 0 s\n· web_search milk: .*\nNoted\.[\s\S]*^>$")
        screen.type("/reasoning\r")
        await screen.shows(r"^let me see the milk$")
        screen.type("see @missing/file.md\r")
        await screen.shows("error: there is no file `missing/file.md`")
        screen.type("\x04")
        assert await screen.ends() == 0
    asked = server.bodies[0]["messages"][-1]["content"]
    assert asked.startswith("what is in @notes.md then?\n\n`notes.md`:\n\n```\nRemember the milk.\n```")
    assert len(server.bodies) == 2


async def test_hermes_alone_holds_a_conversation(hermes):
    env = hermes.environment(NO_COLOR="1")
    async with Screen(env=env, cwd=hermes.home.parent) as screen:
        await screen.shows(PROMPT)
        screen.type("\x04")
        assert await screen.ends() == 0


async def test_hermes_alone_in_a_pipe_answers_what_it_is_given_and_else_helps(hermes):
    asked = await hermes(stdin=b"What is scout?")
    assert asked.code == 0
    assert "scout" in asked.out
    assert "[1]" in asked.out
    helped = await hermes()
    assert (helped.code, helped.out[:13]) == (0, "Usage: hermes")


async def test_the_prompt_waits_for_no_server(hermes):
    async def hang(exchange):
        await exchange.client_left()

    async with ScriptedServer(hang) as server:
        variables = {"HERMES_MODEL_LOCAL_SERVERS": "true", "OLLAMA_HOST": f"127.0.0.1:{server.port}"}
        env = hermes.environment(**variables)
        async with Screen("chat", env=env, cwd=hermes.home.parent) as screen:
            await screen.shows(r"still looking for model servers on this machine\n>$")
            screen.type("What is scout?\r")
            await screen.shows(r"answering with `scout/scout-1`[\s\S]*\[1\][\s\S]*^>$")
            screen.type("\x04")
            assert await screen.ends() == 0


EVIL = "evil\x1b]52;c;ZXZpbA==\x07\x9b2J\u202e\u200b\x1b[2J"
EVERY_COMMAND = """
import sys
from hermes.cli._shell import run
for line in sys.argv[1].split("\\n"):
    run(line.split("\\t"))
"""


async def test_no_command_lets_a_strangers_text_work_the_terminal(hermes):
    folder = hermes.home.parent
    (folder / f"{EVIL}.md").write_text(f"# {EVIL}\n\nThe evil word {EVIL} is here.\n")
    async with ChatSimulator(says(f"Answer {EVIL}")) as server:
        asked = await hermes("chat", "-q", f"ask {EVIL}", *ASK[1:], CUSTOM_BASE_URL=server.base_url)
    assert asked.code == 0
    session = (await _kept(hermes))[0].id
    commands = (
        ("index", "add", f"{EVIL}.md"), ("index", "list"), ("index", "search", "evil"),
        ("search", "evil word"), ("extract", f"hermes://{EVIL}"), ("x", EVIL), ("tools", EVIL), (EVIL,),
        ("sessions", "list"), ("sessions", "show", session, "--full"), ("sessions", "search", "evil"),
        ("sessions", "export", session), ("models", EVIL), ("plugins", "check", EVIL),
        ("config", "get", EVIL),
        ("chat", "-q", "What is the evil word?", "-m", "scout"),
    )  # fmt: skip
    lines = "\n".join("\t".join(words) for words in commands)
    program = (sys.executable, "-c", EVERY_COMMAND, lines)
    async with Screen(env=hermes.environment(), cwd=folder, program=program, columns=120) as screen:
        assert await screen.ends() == 0
    for obeyed in ("\x1b]", "\x07", "\x9b", "\x1b[2J", "\u202e", "\u200b"):
        assert obeyed not in screen.raw
    assert screen.raw.count("\\u202e") > len(commands)
    assert "Traceback" not in screen.raw
