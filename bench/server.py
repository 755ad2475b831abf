"""A model provider on loopback that costs next to nothing: it reads as little as it can, and replies
with prepared bytes. Run as a module it prints its port, and serves until its stdin is closed.

The model's name says what it answers: `bench` a short text, `bench-burst-N` a text of N chunks,
`bench-paced-N` the same with each chunk in a network write of its own, `bench-tools-N` a call of the
tool `echo` until the request holds N results, and then a short text.
"""

import asyncio
import contextlib
import itertools
import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from functools import cache
from typing import Any, NamedTuple

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
PATH = b"POST /v1/chat/completions "
SHORT = 20
PACE = 0.0002
"""Seconds between two paced chunks: enough for a reader to fall asleep in between."""
BURSTS = (1, 4, 16, 2, 8, 32, 3, 12)
"""Chunks per network write, over and over."""

_LENGTH = re.compile(rb"\r\ncontent-length: *(\d+)\r\n", re.IGNORECASE)
_MODEL = re.compile(rb'"model":"bench(?:-(burst|paced|tools)-(\d+))?"')
_STREAMED = b'"stream":true'
_TOOL_RESULT = b'"role":"tool"'
_CALL_ID = b"call_000000"
_USAGE = {"prompt_tokens": 120, "completion_tokens": 40, "total_tokens": 160}
_CALL = {
    "index": 0,
    "id": _CALL_ID.decode(),
    "type": "function",
    "function": {"name": "echo", "arguments": '{"text": "the same words again and again"}'},
}


class Reply(NamedTuple):
    """The network writes of one answer, and the seconds between them."""

    writes: Sequence[bytes]
    pause: float = 0.0


class Connection(asyncio.Protocol):
    """One kept-alive connection; requests are answered in order."""

    def __init__(self) -> None:
        self._received = bytearray()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.WriteTransport)
        self._write = transport.write

    def data_received(self, data: bytes) -> None:
        self._received += data
        while (request := self._take()) is not None:
            reply = reply_to(*request)
            for piece in reply.writes:
                self._write(piece)
                if reply.pause:
                    # In place: the loop's own timers are a millisecond coarse, and a paced reader is alone.
                    time.sleep(reply.pause)

    def _take(self) -> tuple[bytes, bytes] | None:
        """Head and body of the next whole request."""
        end = self._received.find(b"\r\n\r\n")
        if end < 0:
            return None
        size = _LENGTH.search(self._received, 0, end + 2)
        stop = end + 4 + (int(size[1]) if size else 0)
        if len(self._received) < stop:
            return None
        head, body = bytes(self._received[:end]), bytes(self._received[end + 4 : stop])
        del self._received[:stop]
        return head, body


def reply_to(head: bytes, body: bytes) -> Reply:
    model = _MODEL.search(body)
    if not head.startswith(PATH) or model is None:
        return _not_found()
    kind, count = model[1] or b"burst", int(model[2] or SHORT)
    is_streamed = _STREAMED in body
    if kind == b"tools":
        results = body.count(_TOOL_RESULT)
        if results < count:
            prepared = _call(is_streamed)
            return Reply((prepared.replace(_CALL_ID, b"call_%06d" % results),))
        count = SHORT
    if not is_streamed:
        return _whole(count)
    return _stream(count, is_paced=kind == b"paced")


@cache
def _not_found() -> Reply:
    body = b'{"error":{"message":"no such path or model"}}'
    return Reply(
        (_head("404 Not Found", f"Content-Type: application/json\r\nContent-Length: {len(body)}") + body,)
    )


@cache
def _whole(words: int) -> Reply:
    message = {"role": "assistant", "content": "".join(_words(words))}
    return Reply((_json(message, "stop"),))


@cache
def _stream(words: int, *, is_paced: bool) -> Reply:
    deltas: list[dict[str, Any]] = [{"content": word} for word in _words(words)]
    chunks = [_framed(event) for event in _events(deltas, "stop")]
    head = _event_head()
    if is_paced:
        return Reply((head, *chunks, _END), PACE)
    return Reply((head, *_bursts(chunks), _END))


@cache
def _call(is_streamed: bool) -> bytes:
    """A call of `echo`, its arguments streamed in the pieces that vendors send."""
    if not is_streamed:
        return _json({"role": "assistant", "content": None, "tool_calls": [_CALL]}, "tool_calls")
    function = _CALL["function"]
    assert isinstance(function, dict)
    opening = {**_CALL, "function": {"name": function["name"], "arguments": ""}}
    pieces = re.findall(r" ?\S+", function["arguments"])
    deltas: list[dict[str, Any]] = [{"content": None, "tool_calls": [opening]}]
    deltas += [{"tool_calls": [{"index": 0, "function": {"arguments": piece}}]} for piece in pieces]
    return _event_head() + b"".join(map(_framed, _events(deltas, "tool_calls"))) + _END


def _words(count: int) -> Iterator[str]:
    return itertools.islice(
        itertools.cycle((" the", " answer", " is", " in", " here", " some", "where")), count
    )


def _json(message: dict[str, Any], reason: str) -> bytes:
    choice = {"index": 0, "message": message, "finish_reason": reason}
    body = _encode({**_common("chat.completion"), "choices": [choice], "usage": _USAGE})
    return _with_json("200 OK", body)


def _events(deltas: Sequence[dict[str, Any]], reason: str) -> Iterator[bytes]:
    """The events of a stream: one per delta, then the end, the usage and the vendor's last word."""
    common = _common("chat.completion.chunk")
    first, *rest = deltas
    for delta in ({"role": "assistant", **first}, *rest):
        yield _encode({**common, "choices": [{"index": 0, "delta": delta, "finish_reason": None}]})
    yield _encode({**common, "choices": [{"index": 0, "delta": {}, "finish_reason": reason}]})
    yield _encode({**common, "choices": [], "usage": _USAGE})
    yield b"[DONE]"


def _common(kind: str) -> dict[str, Any]:
    id = "chatcmpl-9kR2mTz4QwXbV7"
    return {
        "id": id,
        "object": kind,
        "created": 1760000000,
        "model": "bench",
        "system_fingerprint": "fp_0a1b2c3d",
    }


def _encode(value: dict[str, Any]) -> bytes:
    return json.dumps(value, separators=(",", ":")).encode()


def _framed(event: bytes) -> bytes:
    """An event as one chunk of a chunked body."""
    line = b"data: " + event + b"\n\n"
    return b"%x\r\n%s\r\n" % (len(line), line)


_END = b"0\r\n\r\n"


def _bursts(chunks: Sequence[bytes]) -> Iterator[bytes]:
    waiting = iter(chunks)
    for size in itertools.cycle(BURSTS):
        burst = b"".join(itertools.islice(waiting, size))
        if not burst:
            return
        yield burst


def _event_head() -> bytes:
    return _head("200 OK", "Content-Type: text/event-stream\r\nTransfer-Encoding: chunked")


def _with_json(status: str, body: bytes) -> bytes:
    return _head(status, f"Content-Type: application/json\r\nContent-Length: {len(body)}") + body


def _head(status: str, headers: str) -> bytes:
    return f"HTTP/1.1 {status}\r\nServer: bench\r\n{headers}\r\n\r\n".encode()


@contextlib.contextmanager
def running() -> Iterator[tuple[str, int]]:
    """The server in a process of its own: its base URL and process id, for as long as this is entered."""
    command = [sys.executable, "-m", "bench.server"]
    with subprocess.Popen(command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            yield f"http://127.0.0.1:{int(process.stdout.readline())}/v1", process.pid
        finally:
            process.stdin.close()


async def serve() -> None:
    loop = asyncio.get_running_loop()
    server = await loop.create_server(Connection, "127.0.0.1", 0)
    print(server.sockets[0].getsockname()[1], flush=True)
    await loop.run_in_executor(None, sys.stdin.buffer.read)


if __name__ == "__main__":
    asyncio.run(serve())
