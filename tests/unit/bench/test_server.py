import asyncio
import json
import os

import aiohttp
import pytest
from bench import server


@pytest.fixture
async def address():
    loop = asyncio.get_running_loop()
    listening = await loop.create_server(server.Connection, "127.0.0.1", 0)
    yield listening.sockets[0].getsockname()[:2]
    listening.close()


@pytest.fixture
async def post(address):
    host, port = address
    async with aiohttp.ClientSession() as session:

        async def send(body, path="/v1/chat/completions"):
            data = json.dumps(body, separators=(",", ":"))
            async with session.post(f"http://{host}:{port}{path}", data=data) as response:
                return response.status, response.content_type, await response.read()

        yield send


def events(body):
    found = [line[6:] for line in body.split(b"\n\n") if line]
    assert found.pop() == b"[DONE]"
    return [json.loads(event) for event in found]


def text_of(found):
    return "".join(event["choices"][0]["delta"].get("content", "") for event in found if event["choices"])


async def test_a_whole_reply(post):
    status, kind, body = await post({"model": "bench"})
    reply = json.loads(body)

    assert (status, kind) == (200, "application/json")
    assert reply["choices"][0]["finish_reason"] == "stop"
    assert len(reply["choices"][0]["message"]["content"].split()) > 10
    assert reply["usage"]["total_tokens"] == 160


@pytest.mark.parametrize(
    ("model", "chunks"), [("bench", 20), ("bench-burst-2000", 2000), ("bench-paced-30", 30)]
)
async def test_a_stream_has_its_chunks_an_end_and_usage(post, model, chunks):
    status, kind, body = await post({"model": model, "stream": True})
    *said, end, usage = events(body)

    assert (status, kind) == (200, "text/event-stream")
    assert len(said) == chunks
    assert said[0]["choices"][0]["delta"]["role"] == "assistant"
    assert end["choices"][0]["finish_reason"] == "stop"
    assert usage["choices"] == []
    assert usage["usage"]["total_tokens"] == 160


async def test_a_text_is_the_same_however_it_comes(post):
    whole = json.loads((await post({"model": "bench-burst-50"}))[2])["choices"][0]["message"]["content"]

    assert text_of(events((await post({"model": "bench-burst-50", "stream": True}))[2])) == whole
    assert text_of(events((await post({"model": "bench-paced-50", "stream": True}))[2])) == whole


@pytest.mark.parametrize(
    ("path", "body", "media_type", "finished"),
    [
        ("/v1/messages", {"model": "bench-burst-9"}, "application/json", b'"stop_reason":"end_turn"'),
        (
            "/v1/messages",
            {"model": "bench-burst-9", "stream": True},
            "text/event-stream",
            b'"type":"message_stop"',
        ),
        ("/v1/responses", {"model": "bench-burst-9"}, "application/json", b'"status":"completed","model"'),
        (
            "/v1/responses",
            {"model": "bench-burst-9", "stream": True},
            "text/event-stream",
            b'"type":"response.completed"',
        ),
        ("/v1/model/bench-burst-9/converse", {}, "application/json", b'"stopReason":"end_turn"'),
        (
            "/v1/model/bench-burst-9/converse-stream",
            {},
            "application/vnd.amazon.eventstream",
            b'"stopReason":"end_turn"',
        ),
    ],
)
async def test_the_path_says_which_format_is_spoken(post, path, body, media_type, finished):
    status, kind, said = await post(body, path)

    assert (status, kind) == (200, media_type)
    assert said.count(finished) == 1


async def test_the_tool_is_called_until_enough_results_are_there(post):
    result = {"role": "tool", "tool_call_id": "x", "content": "y"}
    body = {"model": "bench-tools-2", "messages": []}
    ids = []
    for _ in range(2):
        choice = json.loads((await post(body))[2])["choices"][0]
        assert choice["finish_reason"] == "tool_calls"
        ids.append(choice["message"]["tool_calls"][0]["id"])
        body["messages"].append(result)
    last = json.loads((await post(body))[2])["choices"][0]

    assert ids == ["call_000000", "call_000001"]
    assert last["finish_reason"] == "stop"


async def test_a_streamed_call_joins_to_the_whole_one(post):
    body = {"model": "bench-tools-1"}
    whole = json.loads((await post(body))[2])["choices"][0]["message"]["tool_calls"][0]
    found = events((await post({**body, "stream": True}))[2])
    pieces = [
        call
        for event in found
        if event["choices"]
        for call in event["choices"][0]["delta"].get("tool_calls", [])
    ]

    assert len(pieces) > 3
    assert pieces[0]["id"] == whole["id"]
    assert "".join(piece["function"]["arguments"] for piece in pieces) == whole["function"]["arguments"]


@pytest.mark.parametrize(
    ("path", "model"),
    [
        ("/v1/models", "bench"),
        ("/v1/model/other/converse", "other"),
        ("/v1/messages", "bench-tools-2"),
        ("/v1/chat/completions", "other"),
        ("/v1/chat/completions", "bench-odd-3"),
    ],
)
async def test_what_is_not_there_is_404(post, path, model):
    assert (await post({"model": model}, path))[0] == 404


async def test_requests_may_arrive_in_any_cut_and_together(address):
    body = b'{"model":"bench"}'
    request = b"POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\ncontent-length: %d\r\n\r\n%s" % (
        len(body),
        body,
    )
    reader, writer = await asyncio.open_connection(*address)
    for at in range(0, len(request), 7):
        writer.write(request[at : at + 7])
        await writer.drain()
        await asyncio.sleep(0)
    writer.write(request + request)
    seen = b""
    while seen.count(b"HTTP/1.1 200 OK") < 3 or not seen.endswith(b"}}"):
        seen += await asyncio.wait_for(reader.read(65536), 5)
    writer.close()

    assert seen.count(b'"finish_reason":"stop"') == 3


async def test_in_its_own_process_it_serves_and_then_ends():
    with server.running() as (url, process):
        async with (
            aiohttp.ClientSession() as session,
            session.post(f"{url}/chat/completions", data=b'{"model":"bench"}') as response,
        ):
            assert (await response.json())["model"] == "bench"
        os.kill(process, 0)

    with pytest.raises(ProcessLookupError):
        os.kill(process, 0)
