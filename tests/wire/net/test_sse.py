from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hermes.errors import TooLarge
from hermes.net.sse import SseDecoder


def reference(stream: bytes) -> list[bytes]:
    """The WHATWG rules one line at a time, with no thought for speed."""
    text = stream.removeprefix(b"\xef\xbb\xbf").replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    events: list[bytes] = []
    data: list[bytes] = []
    for line in text.split(b"\n")[:-1]:
        if not line:
            if data:
                events.append(b"\n".join(data))
            data = []
        elif not line.startswith(b":"):
            name, _, value = line.partition(b":")
            if name == b"data":
                data.append(value.removeprefix(b" "))
    return events


def decode(*chunks: bytes) -> list[bytes]:
    decoder = SseDecoder()
    return [payload for chunk in chunks for payload in decoder.feed(chunk)]


@pytest.mark.parametrize(
    ("stream", "payloads"),
    [
        (b"data: a\n\ndata: b\n\n", [b"a", b"b"]),
        (b"data:a\n\n", [b"a"]),
        (b"data:  a\n\n", [b" a"]),
        (b"data: a\ndata: b\ndata\n\n", [b"a\nb\n"]),
        (b"data\n\n", [b""]),
        (b"data: a\r\n\r\ndata: b\r\rdata: c\n\r\n", [b"a", b"b", b"c"]),
        (b"\xef\xbb\xbfdata: a\n\n", [b"a"]),
        (b"data: a\n\n\xef\xbb\xbfdata: b\n\n", [b"a"]),
        (b": ping\n\ndata: a\n\n:\n\n", [b"a"]),
        (b"event: ping\nid: 1\nretry: 5\n\ndata: a\n\n", [b"a"]),
        (b"event: message_start\ndata: a\n\nevent: x\ndata: b\n\n", [b"a", b"b"]),
        (b"event: x\ndata: a\nid: 3\n\n", [b"a"]),
        (b"data: a\nevent: x\n\n", [b"a"]),
        (b"database: a\n\nDATA: b\n\n data: c\n\n", []),
        (b"\n\n\n\ndata: a\n\n\n\n\ndata: b\n\n\n", [b"a", b"b"]),
        (b"data: a\n\ndata: cut", [b"a"]),
        (b"data: a\n\ndata: cut\n", [b"a"]),
        (b'data: {"a": "data: b"}\n\ndata: [DONE]\n\n', [b'{"a": "data: b"}', b"[DONE]"]),
        (b"", []),
    ],
)
def test_rules(stream: bytes, payloads: list[bytes]):
    assert reference(stream) == payloads
    assert decode(stream) == payloads
    assert decode(*(stream[i : i + 1] for i in range(len(stream)))) == payloads


PIECES = st.sampled_from(
    [
        *(b"data: ", b"data:", b"data", b"event: x", b": c", b"id", b"{}", b" ", b":", b"\0"),
        *(b"\n", b"\n\n", b"\r", b"\r\n", b"\r\n\r\n", b"\xef\xbb\xbf", b"\xef", b"\xbb"),
        *(b"data: x\n\n", b"event: y\ndata: z\n\n"),
    ]
)
STREAMS = st.lists(PIECES, max_size=30).map(b"".join)


@given(STREAMS, st.data())
def test_every_cut_gives_what_the_reference_gives(stream: bytes, data: st.DataObject):
    cuts = sorted(data.draw(st.lists(st.integers(0, len(stream)), max_size=8)))
    edges = [0, *cuts, len(stream)]
    chunks = [stream[start:end] for start, end in pairwise(edges)]
    assert decode(stream) == decode(*chunks) == reference(stream)


@given(st.lists(st.binary().filter(lambda data: not set(data) & {10, 13}), max_size=10))
def test_what_is_encoded_is_decoded(payloads: list[bytes]):
    assert decode(b"".join(b"data: " + payload + b"\n\n" for payload in payloads)) == payloads


def test_payloads_come_with_the_chunk_that_completes_them():
    decoder = SseDecoder()
    assert decoder.feed(b"data: a\n\ndata: b\n") == [b"a"]
    assert decoder.feed(b"\nda") == [b"b"]
    assert decoder.feed(b"ta: c\r") == []
    assert decoder.feed(b"\r") == [b"c"]
    assert decoder.feed(b"\ndata: d\n\n") == [b"d"]


def test_an_event_may_have_the_size_of_the_cap_and_no_more():
    assert SseDecoder(cap=10).feed(b"data: 1234\n\n" * 5) == [b"1234"] * 5
    with pytest.raises(TooLarge, match="larger than 10 bytes"):
        SseDecoder(cap=10).feed(b"data: 1\n\ndata: 12345\n\n")


@pytest.mark.parametrize("size", [1, 4, 11])
def test_an_event_without_end_stops_at_the_cap(size: int):
    decoder = SseDecoder(cap=100)
    for _ in range(101 // size):
        assert decoder.feed(b"x" * size) == []
    with pytest.raises(TooLarge, match="larger than 100 bytes"):
        decoder.feed(b"x" * size)


def test_a_large_event_in_small_reads_costs_no_copies_of_itself():
    decoder = SseDecoder()
    chunk = b"x" * 1000
    assert decoder.feed(b"data: ") == []
    for _ in range(8000):
        assert decoder.feed(chunk) == []
    assert decoder.feed(b"\n\n") == [chunk * 8000]
