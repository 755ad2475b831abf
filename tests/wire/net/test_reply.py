"""Bodies: events, compression, and the caps on all of it."""

import asyncio
import gzip
import tracemalloc
import zlib
from collections.abc import Iterable
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hermes.errors import ProtocolBroken, TooLarge
from hermes.net.client import Client
from hermes.net.inflate import Damaged, Inflater
from hermes.net.reply import Caps
from hermes.protocols import HttpRequest
from simulators.scripted import Exchange, ScriptedServer, http_reply

STREAM = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n"


async def read(client: Client, url: str) -> bytes:
    async with client.open(HttpRequest("GET", url)) as reply:
        return await reply.read()


async def events(client: Client, url: str, **headers: str) -> list[bytes]:
    async with client.open(HttpRequest("POST", url, headers)) as reply:
        return [payload async for batch in reply.events() for payload in batch]


@pytest.mark.parametrize("kind", ["text/event-stream", "Text/Event-Stream; charset=utf-8"])
async def test_events_arrive(client, kind: str):
    body = b": hi\n\ndata: a\n\nevent: x\r\ndata: b\r\n\r\ndata: [DONE]\n\n"
    async with ScriptedServer(http_reply(200, body, content_type=kind)) as server:
        assert await events(client, server.url) == [b"a", b"b", b"[DONE]"]


async def test_a_batch_is_handed_on_before_the_next_arrives(client):
    seen = asyncio.Event()

    async def handler(exchange: Exchange) -> None:
        await exchange.send(STREAM + b"data: a\n\ndata: b\n\n")
        await asyncio.wait_for(seen.wait(), 2)
        await exchange.send(b"data: c\n\n")
        exchange.close()

    batches = []
    async with ScriptedServer(handler) as server, client.open(HttpRequest("POST", server.url)) as reply:
        async for batch in reply.events():
            batches.append(batch)
            seen.set()
    assert batches == [[b"a", b"b"], [b"c"]]


@pytest.mark.parametrize("gap", [None, 0])
async def test_a_stream_in_single_bytes_is_the_same_stream(client, gap: int | None):
    async def handler(exchange: Exchange) -> None:
        await exchange.send(STREAM)
        for byte in b"\xef\xbb\xbfdata: a\r\n\r\nevent: y\ndata: b\ndata: c\n\n":
            await exchange.send(bytes([byte]))
            if gap is not None:
                await asyncio.sleep(gap)
        exchange.close()

    async with ScriptedServer(handler) as server:
        assert await events(client, server.url) == [b"a", b"b\nc"]


PORTAL = b"<html>\n<title>Log in\x1b[2J</title>" + b"please " * 100


@pytest.mark.parametrize(
    ("reply", "words"),
    [
        (http_reply(200, PORTAL, content_type="text/html"), "answered with `text/html` instead of an event"),
        (
            http_reply(200, gzip.compress(PORTAL, mtime=0), content_encoding="gzip"),
            "no content type .*<title>Log in",
        ),
        (b"HTTP/1.1 204 No Content\r\n\r\n", "no content type instead of an event stream and no text"),
        (http_reply(200, b"\xff\0{}", content_type="application/json"), "`application/json`"),
        (http_reply(200, b"x", content_type="text/plain", content_encoding="br"), "`text/plain`"),
    ],
)
async def test_what_is_no_event_stream_is_named_and_quoted(client, reply: bytes, words: str):
    async with ScriptedServer(reply) as server:
        with pytest.raises(ProtocolBroken, match=words) as caught:
            await events(client, server.url)
    assert len(str(caught.value)) < 350
    assert str(caught.value).isprintable()


async def test_a_quote_does_not_repeat_the_key_that_was_sent(client):
    body = b"you sent Bearer sk-secret and other-secret"
    async with ScriptedServer(http_reply(200, body, content_type="text/plain")) as server:
        with pytest.raises(ProtocolBroken) as caught:
            await events(client, server.url, Authorization="Bearer sk-secret", Cookie="other-secret")
    assert "you sent Bearer *** and ***" in str(caught.value)


async def test_an_event_without_end_is_cut_at_the_cap(make_client):
    async def handler(exchange: Exchange) -> None:
        await exchange.send(STREAM + b"data: ")
        while not exchange.writer.is_closing():
            await exchange.send(b"x" * 1000)

    client = make_client(caps=Caps(event=100_000))
    async with ScriptedServer(handler) as server:
        with pytest.raises(TooLarge, match="one event"):
            await events(client, server.url)


async def test_a_long_stream_of_small_events_has_no_cap(make_client):
    client = make_client(caps=Caps(raw=1000, decoded=1000, event=100))
    body = b"data: abcdef\n\n" * 10_000
    async with ScriptedServer(http_reply(200, body, content_type="text/event-stream")) as server:
        assert await events(client, server.url) == [b"abcdef"] * 10_000


@pytest.mark.parametrize("cap", [{"raw": 1000}, {"decoded": 1000}])
async def test_a_body_may_have_the_size_of_the_cap_and_no_more(make_client, cap: dict[str, int]):
    client = make_client(caps=Caps(**cap))
    async with ScriptedServer([http_reply(200, b"x" * 1000), http_reply(200, b"x" * 1001)]) as server:
        assert await read(client, server.url) == b"x" * 1000
        with pytest.raises(TooLarge, match=f"`{server.url}` is larger than 1000 bytes"):
            await read(client, server.url)


async def test_a_body_without_end_is_cut_and_closed(make_client):
    left = asyncio.Event()

    async def handler(exchange: Exchange) -> None:
        await exchange.send(b"HTTP/1.1 200 OK\r\n\r\n")
        try:
            while True:
                await exchange.send(b"x" * 65536)
        except OSError:
            left.set()

    client = make_client(caps=Caps(raw=1_000_000))
    async with ScriptedServer(handler) as server:
        with pytest.raises(TooLarge, match="larger than 1000000 bytes"):
            await read(client, server.url)
        await asyncio.wait_for(left.wait(), 2)


def bomb(window: int) -> tuple[bytes, bytes]:
    """The start of a compressed stream, and a block of a few bytes that is a mebibyte of zeros each time."""
    engine = zlib.compressobj(9, wbits=window)
    start = engine.compress(b"\0") + engine.flush(zlib.Z_FULL_FLUSH)
    return start, engine.compress(b"\0" * 2**20) + engine.flush(zlib.Z_FULL_FLUSH)


@pytest.mark.parametrize(("encoding", "window"), [("gzip", 31), ("deflate", 15), ("deflate", -15)])
async def test_a_bomb_stops_at_the_cap_in_little_memory(make_client, encoding: str, window: int):
    start, block = bomb(window)
    assert len(block) < 1100
    body = start + block * 400
    client = make_client(caps=Caps(decoded=4 * 2**20))
    async with ScriptedServer(http_reply(200, body, content_encoding=encoding)) as server:
        tracemalloc.start()
        with pytest.raises(TooLarge, match="larger than 4194304 bytes"):
            await read(client, server.url)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
    assert peak < 12 * 2**20


async def test_a_bomb_in_a_stream_of_events_stops_at_the_event_cap(make_client):
    start, block = bomb(31)
    client = make_client(caps=Caps(event=2**20))
    reply = http_reply(200, start + block * 400, content_encoding="gzip", content_type="text/event-stream")
    async with ScriptedServer(reply) as server:
        with pytest.raises(TooLarge, match="one event"):
            await events(client, server.url)


@pytest.mark.parametrize(
    ("encoding", "body"),
    [
        ("gzip", gzip.compress(b"hello " * 9, mtime=0)),
        (
            "X-GZip",
            gzip.compress(b"hello " * 4, mtime=0) + gzip.compress(b"hello " * 5, mtime=0) + b"\0\0padding",
        ),
        ("deflate", zlib.compress(b"hello " * 9)),
        ("deflate", zlib.compress(b"hello " * 9)[2:-4]),
        ("identity", b"hello " * 9),
    ],
)
async def test_compressed_bodies_are_read(client, encoding: str, body: bytes):
    async with ScriptedServer(http_reply(200, body, content_encoding=encoding)) as server:
        assert await read(client, server.url) == b"hello " * 9
    assert server.requests[0].headers["accept-encoding"] == "gzip, deflate"


@pytest.mark.parametrize(
    ("encoding", "body"),
    [
        ("gzip", b"not gzip"),
        ("gzip", gzip.compress(b"hello " * 9, mtime=0)[:-3]),
        ("deflate", zlib.compress(b"hello " * 9)[:-3]),
        ("br", b"\x0b\x02\x80hello\x03"),
        ("gzip, gzip", gzip.compress(gzip.compress(b"x", mtime=0), mtime=0)),
    ],
)
async def test_damaged_or_unknown_compression_is_no_answer(client, encoding: str, body: bytes):
    async with ScriptedServer(http_reply(200, body, content_encoding=encoding)) as server:
        with pytest.raises(ProtocolBroken, match="a compressed body that cannot be read"):
            await read(client, server.url)


def inflate(encoding: str, chunks: Iterable[bytes]) -> bytes:
    inflater, pieces = Inflater(encoding), []
    for chunk in chunks:
        inflater.push(chunk)
        while piece := inflater.pull():
            pieces.append(piece)
    inflater.finish()
    return b"".join(pieces)


@given(st.binary(max_size=3000), st.lists(st.integers(0, 3000), max_size=5), st.booleans())
def test_any_cut_of_a_compressed_body_inflates_to_the_same(body: bytes, cuts: list[int], zipped: bool):
    packed = gzip.compress(body) if zipped else zlib.compress(body)
    edges = [0, *sorted(min(cut, len(packed)) for cut in cuts), len(packed)]
    chunks = (packed[start:end] for start, end in pairwise(edges))
    assert inflate("gzip" if zipped else "deflate", chunks) == body


@given(st.binary(min_size=1))
def test_noise_is_damaged(noise: bytes):
    with pytest.raises(Damaged):
        inflate("gzip", [noise])
