"""The floors are fair: both sides say the same to the server and hear the same from it."""

import asyncio

import pytest
from bench import calls, turns, wires
from bench.server import FORMATS, Connection

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


@pytest.mark.parametrize("spoken", [wires.CHAT, *wires.VENDORS], ids=lambda spoken: spoken.name)
@pytest.mark.parametrize(
    ("model", "stream"), [("bench", False), ("bench-burst-300", True), ("bench-paced-20", True)]
)
async def test_a_call_is_the_same_by_hand(recorded, spoken, model, stream):
    server, take = recorded
    client, sockets = calls.new_client(spoken, server, model)
    session = await calls.new_session()
    post = calls.prepare(spoken, server, calls.new_request(model, stream=stream))

    ours = (await client.send(calls.new_request(model, stream=stream), calls.drop)).content
    sent_by_us = take()
    by_hand = calls.stream_by_hand if stream else calls.call_by_hand
    theirs = await by_hand(spoken, session, post)
    sent_by_hand = take()
    await sockets.close()
    await session.close()

    assert ours == theirs
    assert ours.count("answer") > 2
    assert requests(sent_by_us) == requests(sent_by_hand)


@pytest.mark.parametrize("spoken", wires.VENDORS, ids=lambda spoken: spoken.name)
def test_a_stream_is_read_by_hand_however_it_is_cut(spoken):
    path = {"anthropic_messages": b"messages", "codex_responses": b"responses"}
    words = [" the", " answer", " is"]
    sent = b"".join(FORMATS[path.get(spoken.name, b"converse")].events(words))

    texts, rest = [], b""
    for at in range(0, len(sent), 7):
        rest = spoken.read(rest + sent[at : at + 7], texts)

    assert (texts, rest) == (words, b"")


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
