"""What a person sees of a model server's faults, by the real command: one table.

Each row says what the server does, how often it is asked, the exit code, and what stands on stdout and on
stderr. A failure is never a success, what was said before it is shown once, and no key is shown at all.
"""

import subprocess
import sys
import time
from collections.abc import Callable
from typing import NamedTuple

import pytest

from simulators import chat_completions as chat
from simulators.faults import (
    HEAD,
    LONG_HEAD,
    STOP,
    TOOLS,
    always,
    call,
    cuts,
    in_turn,
    page,
    resets,
    stalls,
    stream,
    text,
)
from simulators.scripted import Handler

KEY = "sk-test-0123456789abcdef"
TITLE_AND_CLIPBOARD = "\x1b]0;owned\x07\x1b[2J\x1b]8;;http://e.example\x07link\x1b]52;c;ZXZpbA==\x07"
SEARCH = '{"query": "scout"}'


class Row(NamedTuple):
    begin: Callable[[], Handler]
    requests: int
    code: int
    out: str
    said: str = ""
    """What stderr says of the fault; nothing for a row that is no failure."""


HALF = "half an answer\n"
ROWS = {
    "a normal answer": Row(in_turn(chat.says("hello")), 1, 0, "hello\n"),
    "escapes for the terminal": Row(
        in_turn(chat.says(TITLE_AND_CLIPBOARD)),
        1, 0,
        r"\u001b]0;owned\u0007\u001b[2J\u001b]8;;http://e.example\u0007link\u001b]52;c;ZXZpbA==\u0007" + "\n",
    ),
    "a stream cut in an event": Row(
        always(cuts(HEAD, text("half an answer"), text("lost")[:-20])), 1, 1, HALF, "stopped before its end"
    ),
    "a reset in the stream": Row(
        always(resets(LONG_HEAD, text("half an answer"))), 1, 1, HALF, "cut the connection in the middle"
    ),
    "an end without a finish": Row(
        always(cuts(HEAD, text("half an answer"))), 1, 1, HALF, "stopped before its end"
    ),
    "a malformed event": Row(
        in_turn(stream(text("half an answer"), b"data: {oops\n\n", STOP)), 1, 1, HALF, "event 2 of the reply"
    ),
    "an event that is not UTF-8": Row(
        in_turn(stream(text("caf\x01").replace(b"\\u0001", b"\xe9"), STOP)),
        1, 0, "caf\N{REPLACEMENT CHARACTER}\n",
    ),
    "an empty stream": Row(in_turn(stream(b"data: [DONE]\n\n")), 3, 1, "", "sent an empty reply"),
    "a page instead of a stream": Row(
        in_turn(page(b"<html><h1>Log in first</h1></html>")), 1, 1, "", "<h1>Log in first</h1>"
    ),
    "two calls with one id": Row(
        in_turn(
            stream(
                call("web_search", SEARCH, id="same"), call("web_search", SEARCH, id="same", index=1), TOOLS
            ),
            chat.says("done"),
        ),
        2, 0, "done\n",
    ),
    "arguments that are cut": Row(
        in_turn(chat.calls(("web_search", '{"query": "sc')), chat.says("done")), 2, 0, "done\n"
    ),
    "arguments of two megabytes": Row(
        in_turn(chat.calls(("web_search", {"query": "x" * 2_000_000})), chat.says("done")), 2, 0, "done\n"
    ),
    "too many requests, twice": Row(
        in_turn(*[chat.fails(429, "slow down", retry_after="0.2")] * 2, chat.says("hello")), 3, 0, "hello\n"
    ),
    "too many requests, for an hour": Row(
        in_turn(chat.fails(429, "slow down", retry_after=3600)), 1, 1, "", "come back in 1 h"
    ),
    "status 500, always": Row(
        in_turn(chat.fails(500, "oops", retry_after_ms=50)),
        3, 1, "", "the provider failed (status 500): oops",
    ),
    "a refusal that repeats the key": Row(
        in_turn(chat.fails(401, f"bad key {KEY}")),
        1, 1, "", "refused the key (status 401): bad key [redacted]",
    ),
    "a server that never answers": Row(
        always(stalls()), 3, 1, "", "no answer from `http://127.0.0.1:"
    ),
}  # fmt: skip


@pytest.mark.parametrize("row", ROWS.values(), ids=ROWS)
def test_a_fault_is_told_on_stderr_and_by_the_exit_code(row, stage, hermes):
    stage.play(row.begin())
    began = time.monotonic()
    ran = subprocess.run(
        [sys.executable, "-m", "hermes", "chat", "-q", "hello?", "-m", "custom/m"],
        env=hermes.environment(
            CUSTOM_BASE_URL=f"{stage.url}/v1", CUSTOM_API_KEY=KEY, HERMES_MODEL_TIMEOUT="0.3"
        ),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=60,
        check=False,
    )
    out, err = ran.stdout.decode(), ran.stderr.decode()
    assert (ran.returncode, out, len(stage.requests)) == (row.code, row.out, row.requests), err
    assert time.monotonic() - began < 20
    complaints = err.count("error: ")
    assert (row.said in err, complaints) == (True, 1 if row.code else 0), err
    assert "Traceback" not in err
    assert KEY not in out + err


def test_the_table_has_a_row_for_each_fault_and_no_row_asks_more_than_thrice():
    assert len(ROWS) == 17
    assert all(row.requests <= 3 for row in ROWS.values())
    assert all(row.code == 1 for row in ROWS.values() if row.said)
