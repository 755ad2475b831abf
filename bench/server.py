"""A model provider on loopback that costs next to nothing: it reads as little as it can, and replies
with prepared bytes, in the format of the path. Run as a module it prints its port, and serves until its
stdin is closed.

The model's name says what it answers: `bench` a short text, `bench-burst-N` a text of N chunks,
`bench-paced-N` the same with each chunk in a network write of its own, `bench-tools-N` a call of the
tool `echo` until the request holds N results, and then a short text (chat completions alone). The path
`search` gives the results of a search, whatever is looked for.
"""

import asyncio
import contextlib
import itertools
import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from functools import cache
from typing import Any, NamedTuple

from bench.replies import CALL, CALL_ID, CHAT, CONVERSE, MESSAGES, RESPONSES, Format, encode

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
SHORT = 20
PACE = 0.0002
"""Seconds between two paced chunks: enough for a reader to fall asleep in between."""
BURSTS = (1, 4, 16, 2, 8, 32, 3, 12)
"""Chunks per network write, over and over."""

FORMATS = {
    b"chat/completions": CHAT,
    b"messages": MESSAGES,
    b"responses": RESPONSES,
    b"converse": CONVERSE,
    b"converse-stream": CONVERSE,
}
"""What is spoken at each path, without the version and the model in front of it."""

_LENGTH = re.compile(rb"\r\ncontent-length: *(\d+)\r\n", re.IGNORECASE)
_PATH = re.compile(rb"POST /v1/(?:model/[^/ ]+/)?([a-z/-]+) ")
_MODEL = re.compile(rb'(?:"model":"|/model/)bench(?:-(burst|paced|tools)-(\d+))?["/]')
_STREAMED = b'"stream":true'
_TOOL_RESULT = b'"role":"tool"'
_END = b"0\r\n\r\n"


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
    path = _PATH.match(head)
    if path is not None and path[1] == b"search":
        return _results()
    model = _MODEL.search(head) or _MODEL.search(body)
    if path is None or path[1] not in FORMATS or model is None:
        return _not_found()
    spoken, kind, count = FORMATS[path[1]], model[1] or b"burst", int(model[2] or SHORT)
    is_streamed = _STREAMED in body or path[1] == b"converse-stream"
    if kind == b"tools":
        if spoken is not CHAT:
            return _not_found()
        results = body.count(_TOOL_RESULT)
        if results < count:
            return Reply((_call(is_streamed).replace(CALL_ID.encode(), b"call_%06d" % results),))
        count = SHORT
    if not is_streamed:
        return _whole(spoken, count)
    return _stream(spoken, count, is_paced=kind == b"paced")


@cache
def _not_found() -> Reply:
    return Reply((_json("404 Not Found", {"error": {"message": "no such path or model"}}),))


@cache
def _results() -> Reply:
    """Ten results as a vendor writes them."""
    rows = [
        {
            "id": f"https://site{number}.example/page",
            "url": f"https://site{number}.example/page",
            "title": f"What page {number} is about",
            "score": 0.5,
            "publishedDate": "2026-01-02T00:00:00.000Z",
            "highlights": [" ".join(_words(60))],
        }
        for number in range(10)
    ]
    return Reply((_json("200 OK", {"requestId": "bench", "results": rows}),))


@cache
def _whole(spoken: Format, count: int) -> Reply:
    return Reply((_json("200 OK", spoken.whole(_words(count))),))


@cache
def _stream(spoken: Format, count: int, *, is_paced: bool) -> Reply:
    chunks = [b"%x\r\n%s\r\n" % (len(event), event) for event in spoken.events(_words(count))]
    head = _head("200 OK", f"Content-Type: {spoken.media_type}\r\nTransfer-Encoding: chunked")
    if is_paced:
        return Reply((head, *chunks, _END), PACE)
    return Reply((head, *_bursts(chunks), _END))


@cache
def _call(is_streamed: bool) -> bytes:
    reply = _stream(CALL, SHORT, is_paced=False) if is_streamed else _whole(CALL, SHORT)
    return b"".join(reply.writes)


def _words(count: int) -> list[str]:
    words = itertools.cycle((" the", " answer", " is", " in", " here", " some", "where"))
    return list(itertools.islice(words, count))


def _bursts(chunks: Sequence[bytes]) -> Iterator[bytes]:
    waiting = iter(chunks)
    for size in itertools.cycle(BURSTS):
        burst = b"".join(itertools.islice(waiting, size))
        if not burst:
            return
        yield burst


def _json(status: str, value: dict[str, Any]) -> bytes:
    body = encode(value)
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
