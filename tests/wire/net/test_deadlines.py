"""Time that runs out, and callers that leave: what is raised, and that the server sees the close."""

import asyncio
import socket

import pytest

from hermes.errors import DeadlinePassed, Disconnected, NetError
from hermes.protocols import Deadlines, HttpRequest
from simulators.scripted import Exchange, ScriptedServer, http_reply

HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n"
CHUNKED = HEAD + b"Transfer-Encoding: chunked\r\n\r\n"


def chunk(data: bytes) -> bytes:
    return b"%x\r\n%s\r\n" % (len(data), data)


class Watched:
    """A handler that sends what it is given, then waits for the client to go."""

    def __init__(self, *sent: bytes) -> None:
        self.sent = sent
        self.reached = asyncio.Event()
        self.client_left = asyncio.Event()

    async def __call__(self, exchange: Exchange) -> None:
        await exchange.send(*self.sent)
        self.reached.set()
        await exchange.client_left()
        self.client_left.set()


async def drain(client, url: str, deadlines: Deadlines, *, events: bool = False) -> None:
    async with client.open(HttpRequest("POST", f"{url}/?key=secret", {}, b"{}", deadlines)) as reply:
        if events:
            async for _ in reply.events():
                pass
        else:
            await reply.read()


async def drip(exchange: Exchange) -> None:
    """A byte of headers every now and then, for ever."""
    await exchange.send(b"HTTP/1.1 200 OK\r\nX-Slow: ")
    while True:
        await exchange.send(b"z")
        await asyncio.sleep(0.02)


@pytest.mark.parametrize(
    "handler", [Watched, lambda: drip, lambda: Watched(HEAD)], ids=["mute", "loris", "half"]
)
async def test_headers_that_do_not_come(client, handler):
    async with ScriptedServer(handler()) as server:
        with pytest.raises(DeadlinePassed) as caught:
            await drain(client, server.url, Deadlines(first_byte=0.1))
        assert caught.value.phase == "first byte"
        assert str(caught.value) == f"no answer from `{server.url}` within 0.1 s"
    assert len(server.requests) == 1


@pytest.mark.parametrize("events", [True, False])
async def test_a_body_that_stops(client, events: bool):
    handler = Watched(CHUNKED, chunk(b"data: a\n\n"))
    async with ScriptedServer(handler) as server:
        with pytest.raises(DeadlinePassed) as caught:
            await drain(client, server.url, Deadlines(idle=0.1), events=events)
        assert caught.value.phase == "idle"
        assert str(caught.value) == f"nothing more from `{server.url}` within 0.1 s"
        await asyncio.wait_for(handler.client_left.wait(), 2)


async def test_time_between_chunks_may_add_up_to_more_than_idle(client):
    async def handler(exchange: Exchange) -> None:
        await exchange.send(CHUNKED)
        for _ in range(10):
            await asyncio.sleep(0.03)
            await exchange.send(chunk(b"x"))
        await exchange.send(b"0\r\n\r\n")

    async with ScriptedServer(handler) as server:
        request = HttpRequest("GET", server.url, deadlines=Deadlines(idle=0.2))
        async with client.open(request) as reply:
            assert await reply.read() == b"x" * 10


async def test_a_slow_reader_is_not_an_idle_server(client):
    async def handler(exchange: Exchange) -> None:
        await exchange.send(CHUNKED, chunk(b"data: a\n\n"))
        await asyncio.sleep(0.05)
        await exchange.send(chunk(b"data: b\n\n"), b"0\r\n\r\n")

    async with ScriptedServer(handler) as server:
        got = []
        async with client.open(HttpRequest("POST", server.url, deadlines=Deadlines(idle=0.1))) as reply:
            async for batch in reply.events():
                got += batch
                await asyncio.sleep(0.25)
    assert got == [b"a", b"b"]


async def test_a_body_that_never_ends_meets_the_total_deadline(client):
    async def handler(exchange: Exchange) -> None:
        await exchange.send(CHUNKED)
        while True:
            await exchange.send(chunk(b": ping\n\n"))
            await asyncio.sleep(0.02)

    async with ScriptedServer(handler) as server:
        with pytest.raises(DeadlinePassed) as caught:
            await drain(client, server.url, Deadlines(total=0.2), events=True)
    assert caught.value.phase == "total"
    assert str(caught.value) == f"no complete answer from `{server.url}` within 0.2 s"


async def test_the_total_deadline_also_ends_the_wait_for_headers(client):
    async with ScriptedServer(Watched()) as server:
        with pytest.raises(DeadlinePassed) as caught:
            await drain(client, server.url, Deadlines(total=0.1))
    assert caught.value.phase == "total"


async def test_a_handshake_that_does_not_come_is_tried_again(client, naps):
    async with ScriptedServer(Watched(), reads=False) as server:
        url = server.url.replace("http:", "https:")
        with pytest.raises(DeadlinePassed) as caught:
            await drain(client, url, Deadlines(connect=0.05))
        assert caught.value.phase == "connect"
        assert str(caught.value) == f"no connection to `{url}` within 0.05 s"
        assert server.connections == 3
    assert len(naps) == 2


async def test_a_full_backlog_is_no_connection(client):
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen(0)
        address = listener.getsockname()
        fillers = [socket.socket() for _ in range(4)]
        for filler in fillers:
            filler.setblocking(False)
            filler.connect_ex(address)
        with pytest.raises(DeadlinePassed) as caught:
            await drain(client, f"http://127.0.0.1:{address[1]}", Deadlines(connect=0.05))
        for filler in fillers:
            filler.close()
    assert caught.value.phase == "connect"


async def cancel(client, server: ScriptedServer, handler: Watched, scheme: str = "http") -> None:
    """Start a call, cancel it when the server has reached its point, and wait for the close."""
    url = server.url.replace("http", scheme, 1)
    task = asyncio.ensure_future(drain(client, url, Deadlines(), events=True))
    await asyncio.wait_for(handler.reached.wait(), 2)
    await asyncio.sleep(0.02)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    await asyncio.wait_for(handler.client_left.wait(), 2)


@pytest.mark.parametrize(
    "sent",
    [(), (HEAD,), (CHUNKED,), (CHUNKED, chunk(b"data: a\n\n")), (http_reply(500, b"x", content_length=9),)],
    ids=["request", "half headers", "headers", "event", "error body"],
)
async def test_the_server_sees_a_cancelled_call_close(client, sent: tuple[bytes, ...]):
    handler = Watched(*sent)
    async with ScriptedServer(handler) as server:
        await cancel(client, server, handler)
    assert len(server.requests) == 1


async def test_the_server_sees_a_cancelled_handshake_close(client):
    handler = Watched()
    async with ScriptedServer(handler, reads=False) as server:
        await cancel(client, server, handler, "https")


async def test_a_cancelled_wait_sends_nothing_more(make_client):
    waiting = asyncio.Event()
    client = make_client(sleep=asyncio.sleep)
    async with ScriptedServer(http_reply(503, retry_after=20)) as server:
        request = HttpRequest("POST", server.url)
        task = asyncio.ensure_future(
            client.open(request, lambda _error, _wait: waiting.set() or True).__aenter__()
        )
        await asyncio.wait_for(waiting.wait(), 2)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
    assert len(server.requests) == 1


@pytest.mark.parametrize("reads", [True, False])
async def test_leaving_early_closes_instead_of_draining(client, reads: bool):
    handler = Watched(CHUNKED, *(chunk(b"data: a\n\n") for _ in range(3)))
    async with ScriptedServer(handler) as server:
        async with client.open(HttpRequest("POST", server.url)) as reply:
            if reads:
                async for _ in reply.events():
                    break
        await asyncio.wait_for(handler.client_left.wait(), 2)


async def test_an_upload_nobody_reads_ends_with_the_caller(client):
    left = asyncio.Event()

    async def handler(exchange: Exchange) -> None:
        await asyncio.sleep(0.2)
        await exchange.client_left()
        left.set()

    async with ScriptedServer(handler, reads=False) as server:
        request = HttpRequest("POST", server.url, {}, b"x" * 30_000_000, Deadlines(first_byte=0.1))
        with pytest.raises(DeadlinePassed):
            await client.open(request).__aenter__()
        await asyncio.wait_for(left.wait(), 5)


async def test_closing_the_client_ends_its_streams(client):
    handler = Watched(CHUNKED, chunk(b"data: a\n\n"))
    async with ScriptedServer(handler) as server:
        task = asyncio.ensure_future(drain(client, server.url, Deadlines(), events=True))
        await asyncio.wait_for(handler.reached.wait(), 2)
        await asyncio.sleep(0.02)
        await client.close()
        with pytest.raises(NetError) as caught:
            await asyncio.wait_for(task, 2)
        await asyncio.wait_for(handler.client_left.wait(), 2)
    assert isinstance(caught.value, Disconnected)
