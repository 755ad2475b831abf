"""Thoughts and calls are taken out of a stream alike, however it is cut."""

from hypothesis import given
from hypothesis import strategies as st

from hermes.transports.base.spans import SpanFilter, read_call

PIECES = st.sampled_from(
    [
        "<think>",
        "</think>",
        "<tool_call>",
        "</tool_call>",
        "a < b",
        " ",
        "\n",
        "<",
        "<to",
        "{}",
        "x",
        "<thinking>",
    ]
)


def split(pieces):
    spans = SpanFilter()
    found = [span for piece in pieces for span in spans.feed(piece)] + spans.finish()
    joined = []
    for kind, text in found:
        if joined and joined[-1][0] == kind != "call":
            joined[-1] = (kind, joined[-1][1] + text)
        else:
            joined.append((kind, text))
    return joined


@given(st.lists(PIECES, max_size=10).map("".join), st.lists(st.integers(1, 5), min_size=1, max_size=5))
def test_any_cut_gives_the_same_spans(text, sizes):
    pieces, at, turn = [], 0, 0
    while at < len(text):
        size = sizes[turn % len(sizes)]
        pieces.append(text[at : at + size])
        at, turn = at + size, turn + 1
    assert split(pieces) == split([text])


@given(st.text(alphabet="abc <>/\n", max_size=40))
def test_text_without_marks_is_passed_on_whole(text):
    assert "".join(part for _, part in split(text)) == text


def test_text_that_cannot_be_a_mark_is_not_held_back():
    spans = SpanFilter()
    assert spans.feed("hello ") == [("text", "hello ")]
    assert spans.feed("1 < 2") == [("text", "1 < 2")]
    assert spans.feed("<tool") == []
    assert spans.feed("box>") == [("text", "<toolbox>")]


def test_what_is_no_call_is_none():
    for text in (
        "",
        "{}",
        "[]",
        '{"name": 7}',
        '{"name": "other"}',
        "call:f{",
        "<invoke>",
        '{"name": "f", "arguments": 7}',
    ):
        assert read_call(text, ["f"]) is None
