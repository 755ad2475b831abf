import asyncio
import json
import os
import pty
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from hermes.agent.prompt import LIMIT_REACHED
from hermes.cli import _shell
from hermes.cli._border import inert
from hermes.cli._transcript import when
from hermes.events import Compacted, Notice
from hermes.messages import Message, ToolCall
from hermes.store import Happening, Session, Store
from hermes.store.events import ToolEnded

ROWS = [
    {"title": "RFC [9114]", "url": "https://rfc.example/9114", "description": "HTTP/3 uses QUIC."},
    {"title": "Unrelated", "url": "https://other.example/", "description": "Nothing."},
]
PAGES = [
    {"url": "https://gone.example/", "title": "", "content": "", "error": "404"},
    {"url": "https://quic.example/", "title": "QUIC", "content": "QUIC is a transport."},
]
TALK = [
    Message("user", "What is\nHTTP/3?"),
    Message("assistant", tool_calls=(ToolCall("1", "web_search", '{"query": "```http/3"}'),)),
    Message("tool", json.dumps({"success": True, "data": {"web": ROWS}}), tool_call_id="1"),
    Message("assistant", "Reading.", tool_calls=(ToolCall("2", "web_extract", "{}"),)),
    Message("tool", json.dumps({"results": PAGES}), tool_call_id="2"),
    Message("user", LIMIT_REACHED),
    Message("assistant", "HTTP/3 uses QUIC. [1] QUIC is a transport. [3] \x1b]52;c;ZXZpbA==\x07\x9b2J\u202e"),
    Message("user", "And the weather?"),
    Message("tool", "long line\n" * 50, is_error=True),
    Message("assistant", "I cannot say."),
]
EVENTS = [
    Happening(1_794_752_730.0, ToolEnded("9", "look", 1200, False, 0.25, "local")),
    Happening(1_794_752_731.0, Compacted(12_000, 3_000, 12_000)),
    Happening(1_794_752_732.0, Notice("by \x1b[2J the way")),
]


@pytest.fixture
def home(tmp_path, monkeypatch) -> Path:
    monkeypatch.setenv("HERMES_HOME", str(tmp_path / "home"))
    return tmp_path / "home"


@pytest.fixture
def talks(home) -> Path:
    async def fill() -> None:
        store = Store.open(str(home / "sessions.db"), lambda: 1_794_752_730.0)
        await store.create(Session("20261115-142530-a1b2c3", "HTTP/3", 0, 0, "scout", "extractive", "/"))
        await store.append("20261115-142530-a1b2c3", TALK)
        await store.mark("20261115-142530-a1b2c3", "done", EVENTS)
        await store.create(Session("20261115-090000-ffffff", "early", 0, 1, "scout", "extractive", "/"))
        await store.close()

    asyncio.run(fill())
    return home


@pytest.fixture
def hermes(capsys):
    def run(*arguments: str) -> tuple[int, str, str]:
        code = _shell.run(["sessions", *arguments])
        said = capsys.readouterr()
        return code, said.out, said.err

    return run


@pytest.mark.parametrize("arguments", [["list"], ["search", "anything"]])
def test_without_sessions_stdout_is_empty_and_nothing_is_made(hermes, home, arguments):
    code, out, err = hermes(*arguments)
    assert (code, out) == (0, "")
    assert len(err.splitlines()) == 1
    assert not (home / "sessions.db").exists()


def test_list_is_newest_first(hermes, talks):
    code, out, err = hermes("list")
    first, second = out.splitlines()
    assert (code, err) == (0, "")
    assert first.startswith(f"20261115-142530-a1b2c3\t{when(1_794_752_730)}\t")
    assert first.split("\t")[2:] == ["10", "done", "HTTP/3"]
    assert second.split("\t")[-3:] == ["0", "open", "early"]
    assert len(hermes("list", "-n", "1")[1].splitlines()) == 1


def test_json_is_one_object(hermes, talks, tmp_path, monkeypatch):
    listed = json.loads(hermes("list", "--json")[1])
    assert [session["messages"] for session in listed["sessions"]] == [10, 0]
    shown = json.loads(hermes("show", "HTTP/3", "--json")[1])
    assert shown["session"]["status"] == "done"
    assert shown["messages"][6]["content"] == TALK[6].content
    found = json.loads(hermes("search", "weather", "--json")[1])
    assert [(hit["seq"], hit["role"]) for hit in found["hits"]] == [(8, "user")]
    assert json.loads(hermes("export", "HTTP/3", "--format", "json")[1]) == shown
    monkeypatch.setenv("HERMES_HOME", str(tmp_path / "empty"))
    assert json.loads(hermes("list", "--json")[1]) == {"sessions": []}


def test_show_cuts_what_tools_brought_unless_full(hermes, talks):
    brief, full = hermes("show", "20261115-14")[1], hermes("show", "20261115-14", "--full")[1]
    assert brief.count("long line") == 4
    assert "more characters, shown with `--full`" in brief
    assert full.count("long line") == 50
    assert '→ web_search {"query": "```http/3"}' in brief
    assert "[tool (failed)]" in brief
    assert inert(TALK[6].content) in brief


def test_events_are_shown_in_their_places_when_all_is(hermes, talks):
    brief, full = hermes("show", "20261115-14")[1], hermes("show", "20261115-14", "--full")[1]
    assert "look ended" not in brief
    assert "look ended with 1,200 characters by local, 250 ms" in full.rpartition("I cannot say.")[2]
    assert "shortened, from 12,000 tokens to about 3,000" in full
    shown = json.loads(hermes("show", "HTTP/3", "--json")[1])
    assert [(event["after"], event["event"]["type"]) for event in shown["events"]] == [
        (10, "tool_finished"),
        (10, "compacted"),
        (10, "notice"),
    ]


def test_search_prints_where_and_what(hermes, talks):
    code, out, _ = hermes("search", "weather")
    assert (code, out) == (0, "20261115-142530-a1b2c3\t8\tuser\tAnd the weather?\n")


def test_markdown_has_questions_calls_answers_and_sources(hermes, talks):
    out = hermes("export", "HTTP/3")[1]
    headings = [line for line in out.splitlines() if line.startswith("#")]
    assert headings == [
        "# HTTP/3",
        "## Question",
        "## Answer",
        "## Sources",
        "## Question",
        "## Answer",
    ]
    assert LIMIT_REACHED not in out
    assert 'Called `web_search`:\n\n````json\n{"query": "```http/3"}\n````\n' in out
    sources = out.split("## Sources\n\n")[1].split("\n\n")[0]
    assert sources.splitlines() == [
        r"- [1] [RFC \[9114\]](<https://rfc.example/9114>)",
        "- [3] [QUIC](<https://quic.example/>)",
    ]


def test_sources_that_are_not_cited_are_listed_as_seen(hermes, home):
    async def fill() -> None:
        store = Store.open(str(home / "sessions.db"))
        await store.create(Session("s", "", 0, 0, "p", "m", "/"))
        found = Message("tool", json.dumps({"data": {"web": [*ROWS, ROWS[0]]}}))
        await store.append("s", [Message("user", "q"), found, Message("assistant", "no marks")])
        await store.close()

    asyncio.run(fill())
    out = hermes("export", "s")[1]
    assert out.startswith("# s\n")
    assert out.endswith(
        "## Sources\n\n"
        "- [RFC \\[9114\\]](<https://rfc.example/9114>)\n"
        "- [Unrelated](<https://other.example/>)\n"
    )


def test_export_to_a_file_is_whole_and_raw(hermes, talks, tmp_path):
    target = tmp_path / "talk.md"
    code, out, err = hermes("export", "HTTP/3", "-o", str(target))
    assert (code, out, err) == (0, "", f"wrote `{target}`\n")
    assert TALK[6].content in target.read_bytes().decode()
    code, out, err = hermes("export", "HTTP/3", "-o", str(tmp_path / "no" / "where.md"))
    assert (code, out) == (1, "")
    assert "where.md" in err


@pytest.mark.parametrize("act", [["show"], ["export"], ["delete", "--yes"]])
def test_an_unknown_session_is_a_usage_error_with_near_ones(hermes, talks, act):
    code, out, err = hermes(*act, "20261115-142530-a1b2c4")
    assert (code, out) == (2, "")
    assert "unknown session" in err
    assert "did you mean `20261115-142530-a1b2c3`" in err


def test_delete_needs_a_yes_when_nobody_can_be_asked(hermes, talks):
    code, out, err = hermes("delete", "early")
    assert (code, out) == (2, "")
    assert "`--yes`" in err
    assert len(hermes("list")[1].splitlines()) == 2


def test_delete_is_all_or_nothing(hermes, talks):
    assert hermes("delete", "early", "nope", "--yes")[0] == 2
    assert len(hermes("list")[1].splitlines()) == 2
    code, out, err = hermes("delete", "early", "early", "HTTP/3", "--yes")
    assert (code, out) == (0, "")
    assert err == "deleted `20261115-090000-ffffff`\ndeleted `20261115-142530-a1b2c3`\n"
    assert hermes("list")[1] == ""


def test_a_newer_file_is_refused(hermes, talks):
    db = sqlite3.connect(talks / "sessions.db")
    db.execute("PRAGMA user_version = 9")
    db.close()
    code, out, err = hermes("list")
    assert (code, out) == (1, "")
    assert "hint: upgrade hermes" in err


def test_a_damaged_file_is_said(hermes, talks):
    (talks / "sessions.db").write_bytes(b"garbage" * 1000)
    code, out, err = hermes("list")
    assert (code, out) == (0, "")
    assert "warning: the session history was damaged: it is kept as" in err


def in_terminal(home: Path, *arguments: str, typed: bytes = b"") -> tuple[int, str]:
    """The exit code and what a terminal receives."""
    ours, theirs = pty.openpty()
    command = [sys.executable, "-m", "hermes", "sessions", *arguments]
    environment = {**os.environ, "HERMES_HOME": str(home)}
    with subprocess.Popen(command, stdin=theirs, stdout=theirs, stderr=theirs, env=environment) as process:
        os.close(theirs)
        os.write(ours, typed)
        received = b""
        try:
            while chunk := os.read(ours, 65536):
                received += chunk
        except OSError:  # how Linux says that the other end is closed
            pass
    os.close(ours)
    return process.returncode, received.decode().replace("\r\n", "\n")


@pytest.mark.parametrize("act", [["show"], ["show", "--json"], ["export"]])
def test_a_terminal_is_never_sent_what_it_would_obey(talks, act):
    code, screen = in_terminal(talks, *act, "HTTP/3")
    assert code == 0
    assert not {"\x1b", "\x07", "\x9b", "\u202e"} & set(screen)
    assert "\\u001b]52;c;ZXZpbA==\\u0007\\u009b2J\\u202e" in screen
    assert "long line" in screen or act == ["export"]


@pytest.mark.parametrize(("typed", "left"), [(b"y\n", 1), (b"n\n", 2)])
def test_delete_asks_on_a_terminal(talks, hermes, typed, left):
    code, screen = in_terminal(talks, "delete", "early", typed=typed)
    assert code == 0
    assert "delete 1 for good?" in screen
    assert len(hermes("list")[1].splitlines()) == left
