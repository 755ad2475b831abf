"""The binary event stream: whole, in pieces, damaged, cut, and too large."""

import json
import struct
import zlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hermes.errors import Disconnected, NetError, ProtocolBroken, TooLarge
from hermes.net.aws_events import LARGEST, AwsEventDecoder
from hermes.protocols import HttpRequest
from simulators.bedrock_converse import _header, event_reply, frame, frame_of
from simulators.scripted import ScriptedServer, http_reply

EventStreamBuffer = pytest.importorskip("botocore.eventstream", reason="the oracle").EventStreamBuffer
ONE, TWO = frame("messageStart", {"role": "assistant"}), frame("messageStop", {"stopReason": "end_turn"})
PAYLOADS = [{"messageStart": {"role": "assistant"}}, {"messageStop": {"stopReason": "end_turn"}}]


def decoded(payloads):
    return [json.loads(payload) for payload in payloads]


async def events(client, url, seen=None):
    seen = [] if seen is None else seen
    async with client.open(HttpRequest("POST", url)) as reply:
        async for batch in reply.events():
            seen += batch
    return seen


@pytest.mark.parametrize("size", [1, 3, 7, 50, 10_000])
def test_a_stream_of_any_cut_is_the_same_stream(size):
    decoder, stream = AwsEventDecoder(), ONE + TWO
    payloads = [p for at in range(0, len(stream), size) for p in decoder.feed(stream[at : at + size])]
    decoder.finish()
    assert decoded(payloads) == PAYLOADS


async def test_events_arrive_over_a_socket(client):
    async with ScriptedServer(event_reply(ONE, TWO)) as server:
        assert decoded(await events(client, server.url)) == PAYLOADS


def test_an_exception_is_named_by_its_type():
    stream = frame("throttlingException", {"message": "slow down"}, kind="exception")
    assert decoded(AwsEventDecoder().feed(stream)) == [{"throttlingException": {"message": "slow down"}}]


def test_an_error_without_a_payload_becomes_one():
    headers = {":message-type": "error", ":error-code": "InternalFailure", ":error-message": 'it "broke"'}
    stream = frame_of(b"".join(_header(*item) for item in headers.items()), b"")
    assert decoded(AwsEventDecoder().feed(stream)) == [
        {"InternalFailureException": {"message": 'it "broke"'}}
    ]


def test_headers_of_every_type_are_passed_over():
    others = [b"\x00", b"\x01", b"\x02\x05", b"\x03\x00\x05", b"\x04" + bytes(4), b"\x05" + bytes(8)]
    others += [b"\x06\x00\x02ab", b"\x08" + bytes(8), b"\x09" + bytes(16)]
    block = b"".join(b"\x01x" + value for value in others) + _header(":event-type", "metadata")
    assert AwsEventDecoder().feed(frame_of(block, b"")) == [b'{"metadata":{}}']


def damaged(stream, at):
    return stream[:at] + bytes([stream[at] ^ 1]) + stream[at + 1 :]


@pytest.mark.parametrize("at", [0, 5, 9, 20, -10, -1])
def test_a_flipped_bit_is_noticed_and_what_came_before_is_not_lost(at):
    decoder = AwsEventDecoder()
    broken = damaged(TWO, at % len(TWO))
    assert decoded(decoder.feed(ONE + broken)) == PAYLOADS[:1]
    with pytest.raises(ProtocolBroken, match="event stream"):
        decoder.feed(ONE)
    with pytest.raises(ProtocolBroken):
        decoder.finish()
    with pytest.raises(ProtocolBroken):
        AwsEventDecoder().feed(broken)


@pytest.mark.parametrize("kept", [1, 11, 12, 40, len(TWO) - 1])
async def test_a_stream_that_ends_inside_a_message_is_a_broken_connection(client, kept):
    seen = []
    async with ScriptedServer(event_reply(ONE, TWO[:kept])) as server:
        with pytest.raises(Disconnected, match="in the middle of a message"):
            await events(client, server.url, seen)
    assert decoded(seen) == PAYLOADS[:1]


def prelude(length, headers):
    start = struct.pack(">II", length, headers)
    return start + struct.pack(">I", zlib.crc32(start))


def test_a_message_over_the_cap_is_refused_by_its_first_bytes():
    with pytest.raises(TooLarge, match=str(LARGEST)):
        AwsEventDecoder().feed(prelude(LARGEST + 1, 0))
    assert AwsEventDecoder().feed(prelude(LARGEST, 0)) == []


@pytest.mark.parametrize(("length", "headers"), [(0, 0), (15, 0), (20, 5), (100, 2**32 - 1)])
def test_lengths_that_cannot_be_true_are_refused(length, headers):
    with pytest.raises(ProtocolBroken, match="lengths"):
        AwsEventDecoder().feed(prelude(length, headers))


@pytest.mark.parametrize(
    "headers", [b"\x05ab", b"\x01x", b"\x01x\x07\x00", b"\x01x\x07\x00\x09a", b"\x01x\x63\x00\x09"]
)
def test_headers_that_cannot_be_read_are_refused(headers):
    with pytest.raises(ProtocolBroken, match="headers"):
        AwsEventDecoder().feed(frame_of(headers, b"{}"))


async def test_only_its_own_media_type_is_read_as_binary(client):
    async with ScriptedServer(http_reply(200, ONE, content_type="application/octet-stream")) as server:
        with pytest.raises(ProtocolBroken, match="octet-stream"):
            await events(client, server.url)


names = st.text("abcdefgXYZ", min_size=1, max_size=20)
bodies = st.dictionaries(st.text(max_size=8), st.text(max_size=30), max_size=4)


@given(
    st.lists(st.tuples(names, bodies, st.sampled_from(["event", "exception"])), max_size=5),
    st.integers(1, 90),
)
def test_botocore_reads_the_same_messages(messages, size):
    stream = b"".join(frame(*message) for message in messages)
    theirs, ours, decoder = EventStreamBuffer(), [], AwsEventDecoder()
    theirs.add_data(stream)
    for at in range(0, len(stream), size):
        ours += decoder.feed(stream[at : at + size])
    decoder.finish()
    read = [
        (found.headers[f":{found.headers[':message-type']}-type"], json.loads(found.payload))
        for found in theirs
    ]
    assert [next(iter(event.items())) for event in decoded(ours)] == read


@given(st.binary(max_size=120))
def test_any_bytes_are_read_or_refused_by_name(stream):
    decoder = AwsEventDecoder()
    try:
        outcome = decoder.feed(stream)
        decoder.finish()
    except NetError as error:
        outcome = [str(error)]
    assert outcome or not stream
