"""Readers that leave, readers that are slow, many readers, and a server that is told to stop."""

import asyncio
import json
import socket
import tracemalloc

import aiohttp
import pytest

from hermes.server import connections, runs
from hermes.server.running import bind
from simulators.chat_completions import ChatSimulator, calls, says
from simulators.scripted import ScriptedServer
from simulators.serving import serving, settings

PIECE = b'data: {"choices": [{"delta": {"content": "%s"}}]}\n\n'
START = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n"
LAST = b'data: {"choices": [{"delta": {}, "finish_reason": "stop"}]}\n\ndata: [DONE]\n\n'
QUESTION = {"model": "custom/m", "messages": [{"role": "user", "content": "hi"}]}


class Endless:
    """A model that says one word and then nothing more, and notes who has left it."""

    def __init__(self):
        self.asked, self.left = asyncio.Event(), asyncio.Event()

    async def __call__(self, exchange):
        await exchange.send(START + PIECE % b"so far ")
        self.asked.set()
        await exchange.client_left()
        self.left.set()
        exchange.close()


def config(home, model, **variables):
    return settings(home, CUSTOM_BASE_URL=f"{model.url}/v1", **variables)


@pytest.fixture
async def http():
    async with aiohttp.ClientSession() as session:
        yield session


async def heard(*events):
    async with asyncio.timeout(10):
        for event in events:
            await event.wait()


async def leaves(http, server, path, body, backend):
    """Ask, go once the backend was asked on our behalf, and wait until the backend has seen it."""
    asking = asyncio.ensure_future(http.post(f"{server.url}/v1/{path}", json=body, headers=server.headers))
    await heard(backend.asked)
    asking.cancel()
    await heard(backend.left)


@pytest.mark.parametrize("stream", [True, False])
@pytest.mark.parametrize("path", ["chat/completions", "responses"])
async def test_a_caller_who_leaves_ends_the_run_and_the_models_socket_is_closed(tmp_path, http, path, stream):
    talk = Endless()
    body = {**QUESTION, "input": "hi", "stream": stream}
    async with ScriptedServer(talk) as model, serving(config(tmp_path, model)) as server:
        asking = asyncio.ensure_future(
            http.post(f"{server.url}/v1/{path}", json=body, headers=server.headers)
        )
        await heard(talk.asked)
        if stream:
            (await asking).close()
        else:
            asking.cancel()
        await heard(talk.left)
        async with asyncio.timeout(5):
            while len(server.services.runs) or server.services.room.inside:
                await asyncio.sleep(0.01)
        assert 'hermes_runs_total{outcome="stopped"} 1' in server.services.metrics.text(0, 0)


async def test_a_caller_who_leaves_while_a_tool_runs_ends_the_tool(tmp_path, http):
    backend = Endless()
    script = calls(("web_search", {"query": "owls"})), says("never")
    async with ScriptedServer(backend) as search, ChatSimulator(*script) as model:
        where = {
            "CUSTOM_BASE_URL": model.base_url,
            "SEARXNG_URL": search.url,
            "HERMES_WEB_BACKEND": "searxng",
        }
        async with serving(settings(tmp_path, **where)) as server:
            await leaves(http, server, "chat/completions", QUESTION, backend)
        assert len(model.bodies) == 1


@pytest.mark.parametrize(
    ("path", "body"), [("search", {"query": "owls"}), ("extract", {"urls": ["https://a.example"]})]
)
async def test_a_caller_who_leaves_ends_a_search_and_a_page(tmp_path, http, path, body):
    backend = Endless()
    async with ScriptedServer(backend) as vendor:
        where = {
            "TAVILY_BASE_URL": vendor.url,
            "TAVILY_API_KEY": "tvly-0123456789",
            "HERMES_WEB_BACKEND": "tavily",
        }
        async with serving(settings(tmp_path, **where)) as server:
            await leaves(http, server, path, body, backend)


async def test_a_reader_who_takes_nothing_is_let_go_and_the_run_is_ended(tmp_path, monkeypatch):
    monkeypatch.setattr(connections, "STALL_SECONDS", 0.2)
    left = asyncio.Event()

    async def talk(exchange):
        try:
            await exchange.send(START)
            while True:
                await exchange.send(PIECE % (b"x" * 50_000))
        except OSError:
            left.set()

    body = json.dumps({**QUESTION, "stream": True}).encode()
    async with ScriptedServer(talk) as model, serving(config(tmp_path, model)) as server:
        reader, writer = await asyncio.open_connection("127.0.0.1", server.port, limit=1024)
        head = f"Host: localhost\r\nAuthorization: Bearer {server.token}\r\nContent-Length: {len(body)}\r\n"
        writer.write(f"POST /v1/chat/completions HTTP/1.1\r\n{head}\r\n".encode() + body)
        await reader.readline()
        await heard(left)
        writer.transport.abort()


async def test_words_that_wait_for_a_slow_reader_are_joined_and_cost_no_more_than_themselves():
    def run_of(count):
        async def ask(emit):
            for _ in range(count):
                emit(runs.Text("word "))
            await asyncio.Event().wait()

        return runs.Run(ask, runs.Seen())

    async def size(count):
        tracemalloc.start()
        run = run_of(count)
        await run.begin()
        taken = tracemalloc.get_traced_memory()[0]
        tracemalloc.stop()
        batch = await anext(run.batches())
        run.stop(runs.Interrupted("enough"))
        await run.ended()
        assert "".join(piece.delta for piece in batch) == "word " * count
        assert len(batch) <= runs.JOIN_AFTER + 5 * count // runs.LARGE + 1
        return taken

    assert await size(30_000) < 3 * 5 * 30_000


async def test_a_run_that_says_more_than_anybody_can_read_is_ended(monkeypatch):
    monkeypatch.setattr(runs, "MOST_WAITING", 1_000)

    async def ask(emit):
        while True:
            emit(runs.Text("word " * 10))
            await asyncio.sleep(0)

    run = runs.Run(ask, runs.Seen())
    with pytest.raises(runs.ModelError, match="unread"):
        async with asyncio.timeout(5):
            await run.answer()


async def test_a_quiet_stream_shows_that_it_is_alive(tmp_path, http, monkeypatch):
    monkeypatch.setattr(runs, "QUIET_SECONDS", 0.05)
    talk = Endless()
    async with ScriptedServer(talk) as model, serving(config(tmp_path, model)) as server:
        body = {**QUESTION, "stream": True}
        async with http.post(f"{server.url}/v1/chat/completions", json=body, headers=server.headers) as reply:
            async with asyncio.timeout(5):
                async for line in reply.content:
                    if line.startswith(b": "):
                        break


async def test_a_server_that_is_told_to_stop_lets_runs_end_and_then_ends_them_with_an_error(tmp_path, http):
    talk = Endless()
    async with ScriptedServer(talk) as model:
        limits = {"HERMES_SERVER_DRAIN_SECONDS": "0.2"}
        async with serving(config(tmp_path, model, **limits)) as server:
            body = {**QUESTION, "stream": True}
            reply = await http.post(f"{server.url}/v1/chat/completions", json=body, headers=server.headers)
            whole = asyncio.ensure_future(
                http.post(f"{server.url}/v1/chat/completions", json=QUESTION, headers=server.headers)
            )
            await heard(talk.asked)
            await asyncio.sleep(0.05)
            server.uvicorn.stop()
            async with asyncio.timeout(10):
                text = (await reply.read()).decode()
                refused = await whole
                assert (refused.status, (await refused.json())["error"]["code"]) == (503, "shutting_down")
                await server.ended
        await heard(talk.left)
    last = json.loads(text.strip().split("data: ")[-1])
    assert "so far" in text
    assert last["error"]["code"] == "shutting_down"


async def test_a_server_that_is_told_to_stop_ends_a_search_with_an_error(tmp_path, http):
    backend = Endless()
    async with ScriptedServer(backend) as vendor:
        where = {
            "TAVILY_BASE_URL": vendor.url,
            "TAVILY_API_KEY": "tvly-0123456789",
            "HERMES_WEB_BACKEND": "tavily",
            "HERMES_SERVER_DRAIN_SECONDS": "0.1",
        }
        async with serving(settings(tmp_path, **where)) as server:
            search = {"url": f"{server.url}/v1/search", "json": {"query": "owls"}, "headers": server.headers}
            asking = asyncio.ensure_future(http.post(**search))
            await heard(backend.asked)
            server.uvicorn.stop()
            async with asyncio.timeout(5):
                refused = await asking
                assert (refused.status, (await refused.json())["error"]["code"]) == (503, "shutting_down")
                await heard(backend.left)
                await server.ended


async def test_two_hundred_streams_at_once_all_get_their_answer(tmp_path):
    begun = 0
    everybody = asyncio.Event()

    async def talk(exchange):
        nonlocal begun
        await exchange.send(START + PIECE % b"one ")
        begun += 1
        if begun == 200:
            everybody.set()
        await everybody.wait()
        await exchange.send(PIECE % b"two " * 8 + LAST)
        exchange.close()

    async def read(session, server):
        body = {**QUESTION, "stream": True}
        url = f"{server.url}/v1/chat/completions"
        async with session.post(url, json=body, headers=server.headers) as reply:
            return await reply.read()

    async with ScriptedServer(talk) as model, serving(config(tmp_path, model)) as server:
        async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0)) as session:
            async with asyncio.timeout(60):
                texts = await asyncio.gather(*(read(session, server) for _ in range(200)))
        assert len(server.services.runs) == 0
    assert all(text.count(b'"two "') == 8 and text.endswith(b"data: [DONE]\n\n") for text in texts)


async def test_the_first_word_is_sent_when_it_is_said():
    """Not held back by the kernel until the reader has thanked for the headers, forty milliseconds later."""
    with bind("127.0.0.1", 0) as listening:
        listening.setblocking(False)
        loop = asyncio.get_running_loop()
        accepting = asyncio.ensure_future(loop.sock_accept(listening))
        _, writer = await asyncio.open_connection(*listening.getsockname())
        accepted, _ = await accepting
        with accepted:
            assert accepted.proto == socket.IPPROTO_TCP
        writer.close()
        await writer.wait_closed()
