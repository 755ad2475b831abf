"""The conversations that are written for the bench are ones that a loop would have."""

import json

import pytest
from bench import calls, convert, wires


@pytest.mark.parametrize("spoken", [wires.CHAT, *wires.VENDORS], ids=lambda spoken: spoken.name)
async def test_the_newest_turn_holds_every_call(spoken):
    body = await convert.newest_turns(spoken, 12)()

    known = {f"call_{turn:06}" for turn in range(20) if f'"call_{turn:06}"'.encode() in body}
    assert known == {f"call_{turn:06}" for turn in range(12)}
    assert body.count(b"echo") == 13
    assert json.loads(body)


@pytest.mark.parametrize("spoken", [wires.CHAT, *wires.VENDORS], ids=lambda spoken: spoken.name)
async def test_a_transport_that_saw_the_older_turns_writes_the_same_bytes(spoken):
    endpoint = convert.endpoint_of(spoken)
    newest = convert.growing_requests(endpoint, 12)[-1]
    transport = spoken.transport()

    at_once = transport.encode(transport.build_kwargs(newest, spoken.provider), endpoint)

    assert await convert.newest_turns(spoken, 12)() == at_once.body


def test_bedrock_is_measured_with_a_key_and_not_signed():
    post = calls.prepare(wires.VENDORS[-1], "http://127.0.0.1/v1", calls.new_request("bench", stream=True))

    assert post.url.path == "/v1/model/bench/converse-stream"
    assert post.headers["Authorization"] == f"Bearer {wires.KEY}"
