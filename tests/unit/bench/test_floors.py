"""The floors are fair: both sides say the same to the server and hear the same from it."""

import asyncio

import pytest
from bench import calls, turns
from bench.server import Connection

from hermes.app import Runtime
from hermes.config import load


class Recording(Connection):
    heard = bytearray()

    def data_received(self, data):
        self.heard.extend(data)
        super().data_received(data)


@pytest.fixture
async def recorded():
    """The server's base URL, and a function that gives what it heard since last asked."""
    Recording.heard.clear()
    listening = await asyncio.get_running_loop().create_server(Recording, "127.0.0.1", 0)

    def take():
        heard = bytes(Recording.heard)
        Recording.heard.clear()
        return heard

    yield f"http://127.0.0.1:{listening.sockets[0].getsockname()[1]}/v1", take
    listening.close()


def requests(heard):
    """What was sent: the headers of each request in one order, and its body to the byte."""
    found = []
    while heard:
        head, _, rest = heard.partition(b"\r\n\r\n")
        first, *headers = head.split(b"\r\n")
        size = next(
            int(header.partition(b":")[2]) for header in headers if header.startswith(b"Content-Length")
        )
        found.append((first, sorted(headers), rest[:size]))
        heard = rest[size:]
    return found


@pytest.mark.parametrize(
    ("model", "stream"), [("bench", False), ("bench-burst-300", True), ("bench-paced-20", True)]
)
async def test_a_call_is_the_same_by_hand(recorded, model, stream):
    server, take = recorded
    client, wire = calls.new_client(server, model)
    session = await calls.new_session()
    post = calls.prepare(server, calls.new_request(model, stream=stream))

    ours = (await client.send(calls.new_request(model, stream=stream), calls.drop)).content
    sent_by_us = take()
    if stream:
        theirs = await calls.stream_by_hand(session, post)
    else:
        theirs = (await calls.call_by_hand(session, post))["choices"][0]["message"]["content"]
    sent_by_hand = take()
    await wire.close()
    await session.close()

    assert ours == theirs
    assert requests(sent_by_us) == requests(sent_by_hand)


async def test_an_agent_run_is_the_same_by_hand(recorded, tmp_path):
    server, take = recorded
    environ = {"HERMES_HOME": str(tmp_path), "CUSTOM_BASE_URL": server, "CUSTOM_API_KEY": turns.KEY}
    session = await calls.new_session()
    async with Runtime(load(environ)) as runtime:
        endpoint = runtime.choose_model("custom/bench-tools-3").endpoint
        ours = await turns.run_hermes(runtime, endpoint, 3)
        sent_by_us = take()
        theirs = await turns.run_by_hand(session, endpoint)
        sent_by_hand = take()
        kept = await runtime.store().list(10)
    await session.close()

    assert ours == theirs
    assert len(requests(sent_by_us)) == 4
    assert requests(sent_by_us) == requests(sent_by_hand)
    assert [(found.status, found.messages) for found in kept] == [("done", 8)]
