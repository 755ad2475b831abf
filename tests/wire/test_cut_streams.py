"""Every wire, cut at every byte: the whole answer, a typed error, or a part that says it is one."""

import json
from functools import cache

import pytest

from hermes.errors import HermesError
from hermes.events import Text
from hermes.net.aws_events import AwsEventDecoder
from hermes.net.sse import SseDecoder
from hermes.transports import anthropic_messages, bedrock_converse, chat_completions, codex_responses
from simulators import anthropic_messages as messages_wire
from simulators import bedrock_converse as converse_wire
from simulators import chat_completions as chat_wire
from simulators import codex_responses as responses_wire

WORDS = "Grüße, «a» < b. [1]"
CALLS = ("look", {"q": "ö", "n": [{}, 1]}), ("look", {}), ("open", {"url": "http://a"})
WRITTEN = f'{WORDS} <tool_call>{{"name": "look", "arguments": {{"q": "x"}}}}</tool_call>'
ASKED = {"model": "m", "messages": [{}], "input": [{}]}

TRANSPORTS = {
    "anthropic": anthropic_messages.Transport,
    "bedrock": bedrock_converse.Transport,
    "chat": chat_completions.Transport,
    "codex": codex_responses.Transport,
}
ANSWERS = {
    "anthropic text": messages_wire.answers(messages_wire.thinks("hm"), messages_wire.text(WORDS)),
    "anthropic calls": messages_wire.calls(*CALLS, words=WORDS),
    "bedrock text": converse_wire.answers(converse_wire.thought("hm"), {"text": WORDS}),
    "bedrock calls": converse_wire.calls(*CALLS, before=[{"text": WORDS}]),
    "chat text": chat_wire.says(f"<think>hm</think>{WORDS}", chunks=12),
    "chat calls": chat_wire.calls(*CALLS, text=WORDS),
    "chat written call": chat_wire.says(WRITTEN, chunks=12),
    "codex text": responses_wire.says(WORDS, thought="hm"),
    "codex calls": responses_wire.answers(
        responses_wire.message(WORDS),
        *(responses_wire.function_call(name, given, str(at)) for at, (name, given) in enumerate(CALLS)),
    ),
}


def recorded(name, *, stream):
    asked = {**ASKED, "stream": stream} | ({"stream_options": {"include_usage": True}} if stream else {})
    reply = ANSWERS[name](asked, stream) if name.startswith("bedrock") else ANSWERS[name](asked)
    return reply.partition(b"\r\n\r\n")[2]


def assembler(name):
    return TRANSPORTS[name.partition(" ")[0]]().assembler(["look", "open"])


def decode(name, *chunks):
    """The payloads of the events in these network reads; raises where the stream may not end."""
    decoder = AwsEventDecoder() if name.startswith("bedrock") else SseDecoder()
    payloads = tuple(payload for chunk in chunks for payload in decoder.feed(chunk))
    if isinstance(decoder, AwsEventDecoder):
        decoder.finish()
    return payloads


@cache
def assemble(name, payloads):
    """The response to these events, and the text that was shown on the way."""
    building = assembler(name)
    deltas = [delta for payload in payloads for delta in building.feed(payload)]
    shown = "".join(delta.delta for delta in deltas if isinstance(delta, Text))
    return building.finish(), shown


def said(response):
    return response.content, response.tool_calls, response.finish_reason, response.reasoning


def is_partial(response):
    return bool((response.provider_data or {}).get("partial"))


@pytest.mark.parametrize("name", ANSWERS)
def test_a_stream_cut_at_any_byte_is_whole_or_says_that_it_is_not(name):
    outcomes = outcomes_of_cuts(name, recorded(name, stream=True))
    assert {"error", "part"} <= outcomes


def test_the_same_holds_where_lines_end_with_two_bytes():
    assert outcomes_of_cuts("chat calls", recorded("chat calls", stream=True).replace(b"\n", b"\r\n"))


def outcomes_of_cuts(name, stream):
    whole, shown = assemble(name, decode(name, stream))
    assert not is_partial(whole)
    assert shown.strip() == WORDS
    assert len(whole.tool_calls or ()) == (3 if "calls" in name else "written" in name)
    return {cut_outcome(name, stream[:end], whole) for end in range(len(stream))}


def cut_outcome(name, start, whole):
    try:
        response, shown = assemble(name, decode(name, start))
    except HermesError:
        return "error"
    assert (whole.content or "").startswith(shown)
    if not is_partial(response):
        assert said(response) == said(whole)
        return "whole"
    assert (whole.content or "").startswith(response.content or "")
    assert response.finish_reason == "length"
    for number, call in enumerate(response.tool_calls or ()):
        if isinstance(call.parse(), dict):
            complete = whole.tool_calls[number]
            assert (call.name, call.arguments) == (complete.name, complete.arguments)
    return "part"


@pytest.mark.parametrize("name", ANSWERS)
def test_a_stream_in_two_reads_split_at_any_byte_has_the_same_events(name):
    stream = recorded(name, stream=True)
    whole = decode(name, stream)
    assert all(decode(name, stream[:at], stream[at:]) == whole for at in range(len(stream)))


@pytest.mark.parametrize("name", ANSWERS)
def test_a_reply_in_one_piece_cut_at_any_byte_is_an_error(name):
    body = recorded(name, stream=False)
    json.loads(body)
    for end in range(len(body)):
        building = assembler(name)
        with pytest.raises(HermesError):
            finish_whole(building, body[:end])


def finish_whole(building, body):
    building.feed_whole(body)
    return building.finish()
