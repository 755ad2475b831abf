"""Hermes in pipes: what comes in, what goes out, and who may leave in the middle."""

import asyncio
import os
import resource
import signal
import sys

import pytest

from simulators.chat_completions import ChatSimulator, says
from simulators.faults import HEAD, always, drips, in_turn, stream, text
from simulators.scripted import ScriptedServer

ASKED = '"$PYTHON" -m hermes chat -q "How do I add a provider?"'
full_device = pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs a device that is full")


@full_device
@pytest.mark.parametrize("mode", ["", "--json"])
async def test_a_full_disk_behind_stdout_is_said(hermes, mode):
    outcome = await hermes.shell(f"{ASKED} {mode} > /dev/full")
    assert outcome.code == 1
    assert "error: standard output cannot be written: no space left on device\nhint: " in outcome.err


@pytest.mark.parametrize(
    "deaf", [pytest.param("2> /dev/full", marks=full_device), "2> >(exec <&-; sleep 0.05)", "2>&-"]
)
async def test_nobody_who_hears_the_remarks_is_no_reason_to_keep_the_answer(hermes, deaf):
    outcome = await hermes.shell(f"exec bash -c '{ASKED} {deaf}'")
    assert outcome.code == 0
    assert "[1] " in outcome.out


async def test_a_reader_that_leaves_after_the_first_event_is_no_failure(hermes):
    outcome = await hermes.shell(f"bash -c '{ASKED} --json-lines | head -1; exit $PIPESTATUS'")
    assert outcome.code == 0
    assert outcome.out.count("\n") == 1
    assert '"type":"started"' in outcome.out
    assert "Traceback" not in outcome.err


@pytest.mark.parametrize("ended", [signal.SIGTERM, signal.SIGHUP])
async def test_a_signal_that_ends_it_keeps_what_was_said(hermes, ended):
    if signal.getsignal(ended) is signal.SIG_IGN:
        pytest.skip("whoever started the tests has it ignored, as `nohup` does, and that is passed on")
    streaming, left = asyncio.Event(), asyncio.Event()

    async def stall(exchange):
        await exchange.send(HEAD, text("so far so good "))
        streaming.set()
        await exchange.client_left()
        left.set()

    async with ScriptedServer(stall) as server:
        process = await hermes.start("chat", "-q", "x", "-m", "custom/m", CUSTOM_BASE_URL=f"{server.url}/v1")
        process.stdin.close()
        await asyncio.wait_for(streaming.wait(), 20)
        await asyncio.sleep(0.2)
        process.send_signal(ended)
        out, err = await asyncio.wait_for(process.communicate(), 10)
        await asyncio.wait_for(left.wait(), 5)
    assert (process.returncode, out) == (128 + ended, b"so far so good \n")
    assert b"error: stopped by a signal" in err
    [session] = (await hermes("sessions", "list", "--json")).json()["sessions"]
    assert session["status"] == "interrupted"


async def test_a_disk_that_is_full_costs_the_session_and_not_the_answer(hermes):
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "hermes", "chat", "-q", "How do I add a provider?"),
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        env=hermes.environment(),
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (8192, 8192)),
    )
    out, err = await asyncio.wait_for(process.communicate(), 30)
    assert process.returncode == 0
    assert b"[1] " in out
    assert b"this session is not saved" in err
    assert b"Traceback" not in err


@pytest.mark.parametrize("locale", ["C", "en_US.ISO-8859-1"])
async def test_a_poor_locale_takes_the_question_and_gets_an_answer(hermes, locale):
    async with ChatSimulator(says("Schnee ❄")) as server:
        outcome = await hermes(
            *("chat", "-q", "was ist ein Schneestern ❄?", "-m", "custom/m"),
            LC_ALL=locale, PYTHONCOERCECLOCALE="0", PYTHONUTF8="0", CUSTOM_BASE_URL=server.base_url,
        )  # fmt: skip
        assert server.bodies[0]["messages"][-1]["content"] == "was ist ein Schneestern ❄?"
        as_data = await hermes(
            "chat", "-q", "was?", "-m", "custom/m", "--json",
            PYTHONIOENCODING="ascii:strict", CUSTOM_BASE_URL=server.base_url,
        )  # fmt: skip
    assert outcome.code == 0
    assert outcome.out.startswith("Schnee ")
    assert as_data.json()["answer"] == "Schnee ❄"


@pytest.fixture
def pipe(inside, monkeypatch):
    """Run the command with these bytes on standard input."""

    def run(data, *arguments):
        read, write = os.pipe()
        with open(read) as stdin, open(write, "wb") as sink:
            os.set_blocking(write, False)
            sink.write(data[:60_000])
            sink.flush()
            sink.close()
            monkeypatch.setattr(sys, "stdin", stdin)
            return inside(*arguments)

    return run


@pytest.mark.parametrize(
    ("option", "piped", "sent"),
    [
        ([], b"the question\n", "the question"),
        (["-q", "sum up:"], b"\xef\xbb\xbfthe text\r\n", "sum up:\n\nthe text"),
        (["-q", "hello"], b"", "hello"),
    ],
)
def test_standard_input_is_the_question_or_its_tail(stage, pipe, option, piped, sent):
    stage.play(in_turn(says("ok"))())
    code, out, _ = pipe(piped, "chat", "-m", "custom/m", *option)
    assert (code, out) == (0, "ok\n")
    assert f'"content":"{sent}"'.replace("\n", "\\n") in stage.requests[0].body.decode()


@pytest.mark.parametrize(
    ("piped", "words"),
    [(b"\x7fELF\0\0", "is not text"), (b"caf\xe9", "is not UTF-8"), (b"x" * 50_000, "longer than 40,000")],
)
def test_what_cannot_be_a_question_is_refused_before_anything_is_sent(stage, pipe, monkeypatch, piped, words):
    monkeypatch.setattr("hermes.cli._question.LARGEST", 40_000)
    stage.play(in_turn(says("ok"))())
    code, out, err = pipe(piped, "chat", "-q", "what is this?", "-m", "custom/m")
    assert (code, out, stage.requests) == (2, "", [])
    assert words in err
    assert "\nhint: " in err


@pytest.mark.parametrize(
    "variables", [{}, {"NO_COLOR": "1"}, {"TERM": "dumb"}, {"COLUMNS": "40"}, {"FORCE_COLOR": "1"}]
)
def test_a_pipe_gets_the_answer_alone_and_plain(stage, inside, monkeypatch, variables):
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    answer = "# A heading\n\nA **bold** line that is far longer than forty columns of a terminal. [1]"
    stage.play(in_turn(says(answer))())
    code, out, err = inside.ask()
    assert (code, out.partition("\n\n[1]")[0].strip()) == (0, answer)
    assert "\x1b" not in out + err


def test_an_answer_appears_when_it_is_whole(stage, inside):
    stage.play(
        always(drips([HEAD, text("one "), text("two "), stream(text("three"))({})[len(HEAD) :]], 0.02))()
    )
    code, out, err = inside.ask()
    assert (code, out) == (1, "one two three\n")
    assert "stopped before its end" in err
