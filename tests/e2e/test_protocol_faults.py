"""Faults of the transport and of the model protocols, through the command line: one table.

The command runs in this process, which is the same code as in its own, and waits between tries take no
time. Each row says what the server does, how often it is asked, the exit code, stdout, and a word of stderr.
"""

import errno
import json
import os
import socket
import struct
import zlib
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import pytest

from hermes import discover
from hermes.cli import _waiting
from hermes.protocols import Deadlines
from simulators import anthropic_messages as messages
from simulators import bedrock_converse as converse
from simulators import chat_completions as chat
from simulators import codex_responses as responses
from simulators.faults import (
    HEAD,
    STOP,
    TOOLS,
    always,
    call,
    cuts,
    drips,
    event,
    first,
    in_turn,
    page,
    resets,
    stalls,
    stream,
    text,
)
from simulators.scripted import Handler, http_reply

KEY = "sk-test-0123456789abcdef"
CHAT, MESSAGES, RESPONSES = "custom/m", "anthropic/claude-sonnet-4-5", "openai/gpt-5"
CONVERSE = "bedrock/us.anthropic.claude-sonnet-4-5-20250929-v1:0"
HALF = "half an answer\n"
WHOLE = HEAD + text("hello ") + text("there") + STOP
SEARCH = '{"query": "scout"}'
FRAMES = [converse.frame(name, said) for name, said in converse.events([{"text": "so far"}], "end_turn")]
AT_NINE, AT_TEN = "20261115T090000Z", "20261115T100000Z"
LONG_AGO = "Sun, 06 Nov 1994 08:49:37 GMT"
HUGE = struct.pack(">II", 20 * 2**20, 0)


class Row(NamedTuple):
    begin: Callable[[], Handler]
    requests: int
    code: int
    out: str
    said: str = ""
    """What stderr says of the fault; nothing for a row that is no failure."""
    model: str = CHAT


def bytes_of(reply: bytes) -> Callable[[], Handler]:
    return in_turn(lambda _body: reply)


def frames(*last: bytes) -> Callable[[], Handler]:
    """The beginning of an answer of Bedrock, and then this."""
    return bytes_of(converse.event_reply(*FRAMES[:3], *last))


def cut(reply: Callable[[dict[str, Any]], bytes], share: float) -> Callable[[], Handler]:
    return in_turn(lambda body: reply(body)[: int(len(reply(body)) * share)])


def limited(**headers: object) -> Callable[[], Handler]:
    return in_turn(chat.fails(429, "slow down", **headers), chat.says("hello"))


def skewed(words: str) -> Callable[[], Handler]:
    return bytes_of(converse.fails(403, "InvalidSignatureException", words)({}, True))


BEGINS = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n"
ODD_EVENTS = (
    HEAD
    + b"\xef\xbb\xbf: a comment\r\nretry: 1\r\nid: 5\r\nevent: ping\r\n\r\n"
    + text("hello ").replace(b"\n", b"\r\n")
    + text("there").replace(b'"choices"', b'\ndata: "choices"')
    + b'data: {"object": "unknown.thing", "x": 1}\n\n'
    + STOP
)
NOT_HTTP = "sent something that is not HTTP"
TRANSPORT = {
    "slow, and within its limits": Row(always(drips([HEAD, text("hello"), STOP], 0.1)), 1, 0, "hello\n"),
    "a reset before headers": Row(first(resets(), chat.says("hello")), 2, 0, "hello\n"),
    "a byte at a time": Row(
        always(drips([bytes([byte]) for byte in WHOLE], 0)), 1, 0, "hello there\n"
    ),
    "an end that is not closed": Row(always(stalls(WHOLE)), 1, 0, "hello there\n"),
    "an end that is reset": Row(always(resets(WHOLE)), 1, 0, "hello there\n"),
    "a stop in the stream": Row(
        always(stalls(HEAD, text("half an answer"))), 1, 1, HALF, "nothing more from"
    ),
    "headers that never end": Row(always(stalls(b"HTTP/1.1 200 OK\r\ncontent-ty")), 3, 1, "", "no answer"),
    "two lengths": Row(
        bytes_of(BEGINS + b"content-length: 3\r\ncontent-length: 5\r\n\r\nabcde"), 1, 1, "", NOT_HTTP
    ),
    "a length and chunks": Row(
        bytes_of(BEGINS + b"content-length: 3\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n"),
        1, 1, "", NOT_HTTP,
    ),
    "a folded header": Row(bytes_of(BEGINS + b"x: a\r\n b\r\n\r\n" + text("hi") + STOP), 1, 0, "hi\n"),
    "a header of 70 KB": Row(
        bytes_of(BEGINS + b"x: " + b"a" * 70_000 + b"\r\n\r\n"), 1, 1, "", "headers that are too large"
    ),
    "a thousand interim replies": Row(
        bytes_of(b"HTTP/1.1 100 Continue\r\n\r\n" * 1000 + WHOLE), 1, 0, "hello there\n"
    ),
    "another protocol": Row(bytes_of(b"SSH-2.0-OpenSSH_9.6\r\n"), 1, 1, "", NOT_HTTP),
    "status 204": Row(
        bytes_of(b"HTTP/1.1 204 No Content\r\n\r\n"), 1, 1, "", "instead of an event stream and no text"
    ),
    "status 304": Row(bytes_of(b"HTTP/1.1 304 Not Modified\r\n\r\n"), 1, 1, "", "status 304"),
    "a redirect": Row(
        bytes_of(http_reply(302, b"", location="https://elsewhere.example/")),
        1, 1, "", "has moved: check the address that is set for it",
    ),
    "an empty body": Row(in_turn(page(b"", "application/json")), 3, 1, "", "sent an empty reply"),
    "a body of another shape": Row(
        in_turn(page(b"[]", "application/json")), 1, 1, "", "event 1 of the reply is malformed"
    ),
    "a body without a bottom": Row(
        in_turn(page(b'{"choices": ' + b"[" * 100_000, "application/json")), 1, 1, "", "is malformed"
    ),
    "a failure that is not UTF-8": Row(
        in_turn(page(b'{"error": {"message": "no caf\xe9"}}', "application/json", 400)),
        1, 1, "", "status 400): no caf\N{REPLACEMENT CHARACTER}",
    ),
    "a failure without a bottom": Row(
        in_turn(page(b"[" * 4000, "application/json", 400)), 1, 1, "", "status 400): [[["
    ),
}  # fmt: skip
PROTOCOL = {
    "a cut stream of Messages": Row(
        cut(messages.says("half an answer"), 0.7), 1, 1, "half an \n", "in the middle of its answer", MESSAGES
    ),
    "a cut stream of Responses": Row(
        cut(responses.says("half an answer"), 0.6), 1, 1, HALF, "in the middle of its answer", RESPONSES
    ),
    "comments, CRLF, a BOM and unknown events": Row(bytes_of(ODD_EVENTS), 1, 0, "hello there\n"),
    "a refused key inside of status 200": Row(
        in_turn(stream(f'data: {{"error": {{"code": 401, "message": "bad {KEY}"}}}}\n\n'.encode())),
        1, 1, "", "refused the key (status 401): bad [redacted]",
    ),
    "a failure after text": Row(
        in_turn(stream(text("half an answer"), b'data: {"error": {"code": 500, "message": "oops"}}\n\n')),
        1, 1, HALF, "the provider failed (status 500): oops",
    ),
    "no choices": Row(
        in_turn(stream(b'data: {"id": "c", "choices": []}\n\ndata: [DONE]\n\n')), 3, 1, "", "an empty reply"
    ),
    "neither text nor calls": Row(
        in_turn(stream(event({"content": None, "tool_calls": None}), STOP)), 4, 1, "", "answered with nothing"
    ),
    "calls without ids and with gaps": Row(
        in_turn(
            stream(*(call("web_search", SEARCH, id=id, index=at) for at, id in ((3, None), (7, ""))), TOOLS),
            chat.says("done"),
        ),
        2, 0, "done\n",
    ),
    "arguments that are no object": Row(
        in_turn(chat.calls(("web_search", '["scout"]')), chat.says("done")), 2, 0, "done\n"
    ),
    "arguments without a bottom": Row(
        in_turn(chat.calls(("web_search", '{"query": ' + "[" * 50_000)), chat.says("done")), 2, 0, "done\n"
    ),
    "an unknown tool": Row(in_turn(chat.calls(("rm_rf", "{}")), chat.says("done")), 2, 0, "done\n"),
    "a tool with a path and escapes in its name": Row(
        in_turn(chat.calls(("../../etc/\x1b[2Jpasswd\n", "{}")), chat.says("done")), 2, 0, "done\n"
    ),
    "an end for calls, and none": Row(in_turn(stream(text("hello"), TOOLS)), 1, 0, "hello\n"),
    "an ordinary end, and a call": Row(
        in_turn(stream(call("web_search", SEARCH, id="a"), STOP), chat.says("done")), 2, 0, "done\n"
    ),
    "an answer that opens without end": Row(
        in_turn(chat.says("[" * 50_000, chunks=2)), 1, 0, "[" * 50_000 + "\n"
    ),
    "a signature that is not taken back": Row(
        in_turn(
            messages.answers(
                messages.thinks("hm"), messages.uses("web_search", {"query": "scout"}, "t1"), stop="tool_use"
            ),
            messages.fails(400, "invalid_request_error", "Invalid `signature` in `thinking` block"),
            messages.says("done"),
        ),
        3, 0, "done\n", "", MESSAGES,
    ),
    "a frame with a wrong checksum": Row(
        frames(FRAMES[3][:-1] + b"x"), 1, 1, "so far\n", "its checksum is wrong", CONVERSE
    ),
    "a frame that is cut": Row(
        frames(FRAMES[3][:20]), 1, 1, "so far\n", "in the middle of a message", CONVERSE
    ),
    "a frame of 20 MB": Row(
        frames(HUGE + struct.pack(">I", zlib.crc32(HUGE))), 1, 1, "so far\n", "larger than", CONVERSE
    ),
    "a frame that is an exception": Row(
        frames(converse.frame("throttlingException", {"message": "too fast"}, kind="exception")),
        1, 1, "so far\n", "limits requests (status 429): too fast", CONVERSE,
    ),
    "a clock that is behind": Row(
        skewed(f"Signature expired: {AT_NINE} is now earlier than {AT_TEN} ({AT_TEN} - 5 min.)"),
        1, 1, "", "is 60 minutes behind", CONVERSE,
    ),
    "a clock that is ahead": Row(
        skewed(f"Signature not yet current: {AT_TEN} is still later than {AT_NINE} ({AT_NINE} + 5 min.)"),
        1, 1, "", "is 60 minutes ahead", CONVERSE,
    ),
    "a wait until a day that is past": Row(limited(retry_after=LONG_AGO), 2, 0, "hello\n"),
    "a wait of nothing": Row(limited(retry_after=0), 2, 0, "hello\n"),
    "a wait below nothing": Row(limited(retry_after=-5), 2, 0, "hello\n"),
    "a wait that is no number": Row(limited(retry_after="soon"), 2, 0, "hello\n"),
    "a wait in milliseconds": Row(limited(retry_after_ms=100), 2, 0, "hello\n"),
    "a wait for years": Row(limited(retry_after="Fri, 31 Dec 2100 23:59:59 GMT"), 1, 1, "", "come back in"),
    "overloaded": Row(in_turn(chat.fails(529, "overloaded")), 3, 1, "", "too busy (status 529)"),
    "unavailable": Row(in_turn(chat.fails(503, "busy")), 3, 1, "", "too busy (status 503)"),
    "too large": Row(in_turn(chat.fails(413, "too large")), 1, 1, "", "longer than the model can read"),
    "too long": Row(
        in_turn(chat.fails(400, "This model's maximum context length is 4096 tokens.")),
        1, 1, "", "longer than the model can read",
    ),
    "nothing left to spend": Row(in_turn(chat.fails(402, "pay")), 1, 1, "", "nothing left to spend"),
    "not allowed": Row(in_turn(chat.fails(403, "no")), 1, 1, "", "not allowed to do this"),
    "no such model": Row(in_turn(chat.fails(404, "no such model")), 1, 1, "", "has no such model (status"),
}  # fmt: skip


@pytest.mark.parametrize("row", (TRANSPORT | PROTOCOL).values(), ids=TRANSPORT | PROTOCOL)
def test_a_fault_is_told_as_text_and_as_data(row, stage, inside):
    stage.play(row.begin())
    code, out, err = inside.ask(row.model)
    assert (code, out, len(stage.requests)) == (row.code, row.out, row.requests), err
    assert (row.said in err, err.count("error: ")) == (True, 1 if row.code else 0), err
    stage.play(row.begin())
    as_data, told, also = inside.ask(row.model, "--json")
    answer = json.loads(told)
    assert (as_data, answer["answer"].strip()) == (row.code, row.out.strip())
    assert (answer["error"] is not None) == bool(row.code)
    assert answer["cost"] is None or answer["cost"] >= 0
    assert row.said in (f"{answer['error']['message']} {answer['error']['hint']}" if row.code else "")
    assert not row.code or (answer["error"]["type"] in vars(discover.module("hermes.errors")))
    assert KEY not in out + err + told + also


def test_every_call_of_a_turn_is_answered_once_and_in_its_order(stage, inside):
    asked = [
        call("web_search", json.dumps({"query": word}), id=id, index=index)
        for index, (word, id) in enumerate((("one", "same"), ("two", "same"), ("three", None)))
    ]
    stage.play(in_turn(stream(*asked, TOOLS), chat.says("done"))())
    assert inside.ask()[:2] == (0, "done\n")
    made, *results = json.loads(stage.requests[1].body)["messages"][-4:]
    ids = [each["id"] for each in made["tool_calls"]]
    assert len(set(ids)) == 3
    assert [json.loads(each["function"]["arguments"])["query"] for each in made["tool_calls"]] == [
        "one",
        "two",
        "three",
    ]
    assert [each["tool_call_id"] for each in results] == ids


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (("web_search", {"query": "x" * 2_000_000}), "longer than 1048576 characters"),
        (("rm_rf", "{}"), "there is no tool `rm_rf`"),
    ],
)
def test_a_model_is_told_what_is_wrong_with_its_call(stage, inside, given, words):
    stage.play(in_turn(chat.calls(given), chat.says("done"))())
    assert inside.ask()[:2] == (0, "done\n")
    told = json.loads(stage.requests[1].body)["messages"][-1]
    assert told["role"] == "tool"
    assert words in told["content"]


def test_usage_that_cannot_be_is_no_cost(stage, inside):
    usage = {"prompt_tokens": -5, "completion_tokens": 2.5, "total_tokens": 10**30}
    stage.play(in_turn(stream(text("hello"), event({}, "stop", usage=usage), b"data: [DONE]\n\n"))())
    told = json.loads(inside.ask(CHAT, "--json")[1])
    assert all(0 <= count < 1e12 for count in told["usage"].values())
    assert told["cost"] is None


def test_each_key_of_three_is_refused_once_and_a_key_without_rights_stops_there(stage, inside, monkeypatch):
    monkeypatch.setenv("CUSTOM_API_KEY", "sk-first-000000,sk-second-000000,sk-third-000000")
    stage.play(in_turn(chat.fails(401, "bad key"))())
    assert inside.ask()[0] == 1
    asked = [request.headers["authorization"] for request in stage.requests]
    assert len(asked) == len(set(asked)) == 3
    stage.play(in_turn(chat.fails(404, "no such model"))())
    assert inside.ask()[0] == 1
    assert len(stage.requests) == 1


@pytest.mark.parametrize("share", [0.2, 0.4, 0.6, 0.8, 0.95, 1])
def test_a_stream_cut_anywhere_is_whole_or_a_failure(stage, inside, share):
    stage.play(always(cuts(WHOLE[: int(len(WHOLE) * share)]))())
    code, out, _ = inside.ask()
    assert (code, out) == (0, "hello there\n") if share == 1 else code == 1
    assert "hello there\n".startswith(out.strip())


LOOKUPS = {
    "no such name": (socket.gaierror(socket.EAI_NONAME, "?"), 1, "no host is called `models.example`"),
    "no answer to the lookup": (socket.gaierror(socket.EAI_AGAIN, "?"), 3, "cannot be looked up now"),
}


@pytest.mark.parametrize(("error", "tries", "words"), LOOKUPS.values(), ids=LOOKUPS)
def test_a_name_that_leads_nowhere_is_told_apart(inside, monkeypatch, error, tries, words):
    asked = []

    def look_up(host, *_more, **_options):
        asked.append(host)
        raise error

    monkeypatch.setenv("CUSTOM_BASE_URL", "http://models.example/v1")
    monkeypatch.setattr(socket, "getaddrinfo", look_up)
    code, out, err = inside.ask()
    assert (code, out, len(asked)) == (1, "", tries)
    assert words in err
    assert "hint: " in err


CONNECTS = {
    "refused": (errno.ECONNREFUSED, "refused the connection"),
    "unroutable": (errno.ENETUNREACH, "there is no route to"),
}


@pytest.mark.parametrize(("code", "words"), CONNECTS.values(), ids=CONNECTS)
def test_a_server_that_cannot_be_reached_is_told_apart(inside, monkeypatch, code, words):
    def connect(*_):
        raise OSError(code, os.strerror(code))

    monkeypatch.setattr(socket.socket, "connect", connect)
    exit_code, out, err = inside.ask()
    assert (exit_code, out) == (1, "")
    assert words in err
    assert "hint: " in err


def test_a_long_silence_is_said_on_stderr(stage, inside, monkeypatch):
    monkeypatch.setattr(_waiting, "SAID_AFTER", (0.05, 0.1))
    stage.play(first(stalls(), chat.calls(("web_search", {"query": "scout"})), chat.says("hello"))())
    code, out, err = inside.ask()
    assert (code, out) == (0, "hello\n")
    assert err.count("no word from `custom/m`") == 2


def test_a_drip_that_never_ends_meets_the_limit_of_the_whole_call(stage, inside, monkeypatch):
    hasty = partial(Deadlines, connect=5.0)
    monkeypatch.setattr("hermes.app.runtime.Deadlines", lambda **given: hasty(**given | {"total": 0.4}))
    stage.play(always(drips([HEAD, *[text("drop ")] * 100], 0.05))())
    code, out, err = inside.ask()
    assert (code, set(out.split())) == (1, {"drop"})
    assert "no complete answer from" in err


YEAR = {"type": "object", "properties": {"year": {"type": "integer"}}, "required": ["year"]}


@pytest.mark.parametrize(
    ("answers", "code", "out", "asked"),
    [
        (['{"year": 1991}'], 0, '{"year": 1991}\n', 1),
        (["in 1991", '{"year": 1991}'], 0, '{"year": 1991}\n', 2),
        (["in 1991", "I said: 1991"], 1, "I said: 1991\n", 2),
        (["[" * 50_000, '{"year": 1991}'], 0, '{"year": 1991}\n', 2),
    ],
)
def test_an_answer_keeps_its_schema_or_is_a_failure(stage, inside, tmp_path, answers, code, out, asked):
    (tmp_path / "year.json").write_text(json.dumps(YEAR))
    stage.play(in_turn(*map(chat.says, answers))())
    told = inside.ask(CHAT, "--schema", str(tmp_path / "year.json"))
    assert (told[0], told[1], len(stage.requests)) == (code, out, asked), told[2]
    assert ("does not keep the schema" in told[2]) == bool(code)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (None, "cannot read"),
        (b"{oops", "is not JSON"),
        (b'"caf\xe9"', "is not JSON"),
        (b"[" * 50_000, "is not JSON"),
        (b"[]", "is not a JSON object"),
        (b'{"type": "nothing"}', "schema"),
    ],
)
def test_a_schema_that_is_none_is_refused_before_anything_is_sent(stage, inside, tmp_path, content, words):
    if content is not None:
        (tmp_path / "schema.json").write_bytes(content)
    stage.play(in_turn(chat.says("{}"))())
    code, out, err = inside.ask(CHAT, "--schema", str(tmp_path / "schema.json"))
    assert (code, out, stage.requests) == (2, "", [])
    assert words in err
    assert "\nhint: " in err
