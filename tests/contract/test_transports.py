"""Every folder under `transports/`: what all wire protocols promise, whatever their form."""

import copy
import itertools
import json
from contextlib import suppress
from types import ModuleType
from urllib.parse import urlsplit

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hermes import discover
from hermes.errors import (
    AuthFailed,
    InvalidResponse,
    ModelError,
    ProviderDown,
    RateLimited,
    RequestRejected,
)
from hermes.messages import Image, Message, ToolCall
from hermes.net.sse import SseDecoder
from hermes.protocols import Endpoint, Provider, Request, ToolSpec
from hermes.transports.base.names import legal
from simulators import anthropic_messages, bedrock_converse, chat_completions, codex_responses

ALL = discover.names("hermes.transports")
ME = "p h wire"
FINISH_REASONS = {"stop", "tool_calls", "length", "content_filter", "incomplete"}
LOOK = ToolSpec("look", "Look.", {"type": "object", "properties": {"q": {"type": "string"}}})
HI = Message(role="user", content="hi")


class Wire(msgspec.Struct, frozen=True):
    """What the tests know of one protocol: its simulator, a model, and what its issuer has sealed."""

    simulator: ModuleType
    model: str
    said: bytes
    sealed: dict
    growing: str = "messages"


WIRES = {
    "chat_completions": Wire(
        chat_completions,
        "m",
        b'{"choices": [{"message": {"content": "ok"}, "finish_reason": "stop"}]}',
        {"reasoning_content": "SEALED"},
    ),
    "anthropic_messages": Wire(
        anthropic_messages,
        "claude-sonnet-4-6",
        json.dumps(anthropic_messages.whole([anthropic_messages.text("ok")], "end_turn")).encode(),
        {"anthropic_content_blocks": [anthropic_messages.thinks("SEALED")]},
    ),
    "codex_responses": Wire(
        codex_responses,
        "gpt-5.4",
        json.dumps(codex_responses.response([codex_responses.message("ok")])).encode(),
        {
            "codex_reasoning_items": [
                {"type": "reasoning", "summary": [], "encrypted_content": f"{codex_responses.SEAL}SEALED"}
            ]
        },
        growing="input",
    ),
    "bedrock_converse": Wire(
        bedrock_converse,
        "us.anthropic.claude-sonnet-4-6",
        json.dumps(bedrock_converse.whole([{"text": "ok"}], "end_turn")).encode(),
        {"converse_blocks": [bedrock_converse.thought("SEALED")]},
    ),
}

every_wire = pytest.mark.parametrize("name", ALL)


def new_transport(name):
    return discover.load("hermes.transports", name, "protocol").Transport()


def provider(name, **fields):
    return Provider(name="p", title="P", api_mode=name, base_url="http://h/v1", **fields)


def endpoint(name, **fields):
    return Endpoint(provider=provider(name, **fields), model=WIRES[name].model, base_url="http://h/v1")


def ask(name, messages, *, issuer=ME, **fields):
    return Request(model=WIRES[name].model, messages=tuple(messages), issuer=issuer, **fields)


def refusal(name, http):
    """Why the wire's simulator would refuse this call; None when it would not."""
    body, path = json.loads(http.body), urlsplit(http.url).path
    if name == "anthropic_messages":
        return anthropic_messages.refusal(body)
    if name == "bedrock_converse":
        path = path.removeprefix("/v1")
    return WIRES[name].simulator.refusal(path, body)


def sent(name, messages, transport=None, **fields):
    """The list of what is said, after the simulator has found nothing to refuse in the call."""
    transport = transport or new_transport(name)
    kwargs = transport.build_kwargs(ask(name, messages, **fields), provider(name))
    assert refusal(name, transport.encode(kwargs, endpoint(name))) is None
    return kwargs[WIRES[name].growing]


def calling(*ids):
    return Message(role="assistant", tool_calls=tuple(ToolCall(id, "look", '{"q": 1}') for id in ids))


def result(id, text="seen"):
    return Message(role="tool", tool_call_id=id, content=text)


def test_every_protocol_is_held_to_the_contract():
    assert set(WIRES) == set(ALL)


@every_wire
def test_a_mode_is_named_like_its_folder(name):
    assert new_transport(name).api_mode == name


@every_wire
@pytest.mark.parametrize(
    ("status", "error"),
    [
        (400, RequestRejected),
        (401, AuthFailed),
        (403, AuthFailed),
        (404, RequestRejected),
        (408, ProviderDown),
        (409, ProviderDown),
        (413, RequestRejected),
        (422, RequestRejected),
        (429, RateLimited),
        (500, ProviderDown),
        (502, ProviderDown),
        (503, ProviderDown),
        (529, ProviderDown),
    ],
)
@pytest.mark.parametrize(
    "body", [b'{"error": {"message": "because"}}', b'{"message": "because"}', b"because"]
)
def test_a_status_says_what_to_do_next(name, status, error, body):
    found = new_transport(name).read_error(status, body)
    assert isinstance(found, error)
    assert "because" in str(found)


@every_wire
def test_a_limit_says_how_long_it_lasts(name):
    assert new_transport(name).read_error(429, b"", 7.0).retry_after == 7.0


@every_wire
@pytest.mark.parametrize(
    "body", [b"", b"[1]", b"{}", b"\xff\xfe", b'{"error": "oops"}', b'{"message": null}']
)
def test_an_error_in_any_shape_is_readable(name, body):
    assert "status 418" in str(new_transport(name).read_error(418, body))


@every_wire
@given(reason=st.none() | st.integers() | st.text() | st.sampled_from(["STOP", "MAX_TOKENS", "safety"]))
def test_finish_reasons_are_a_closed_set(name, reason):
    transport = new_transport(name)
    assert transport.map_finish_reason(reason) in FINISH_REASONS
    assert transport.map_finish_reason(None) == transport.map_finish_reason("nobody knows") == "stop"


@every_wire
def test_nothing_at_all_is_an_invalid_response(name):
    with pytest.raises(InvalidResponse, match="empty"):
        new_transport(name).assembler().finish()


@every_wire
def test_a_malformed_event_is_named_by_its_number(name):
    with pytest.raises(InvalidResponse, match="event 1 of the reply is malformed"):
        new_transport(name).assembler().feed(b"{oops")


@every_wire
@given(payload=st.binary(max_size=200))
def test_any_bytes_are_read_or_refused_by_name(name, payload):
    for feed in ("feed", "feed_whole"):
        assembler = new_transport(name).assembler()
        try:
            getattr(assembler, feed)(payload)
            outcome = assembler.finish()
        except ModelError as error:
            outcome = str(error)
        assert outcome


@every_wire
@pytest.mark.parametrize("broken", [b'{"type": "caf\xe9"}', b'{"choices": ' + b"[" * 100_000, b"[" * 100_000])
def test_text_that_is_no_text_and_nesting_without_end_are_no_crash(name, broken):
    for feed in ("feed", "feed_whole"):
        assembler = new_transport(name).assembler()
        with suppress(ModelError):
            getattr(assembler, feed)(broken)
            assembler.finish()
    assert not new_transport(name).validate_response(broken)
    assert isinstance(new_transport(name).read_error(500, broken, None), ModelError)


def _payloads(name):
    """The events of a short answer, as the wire hands them on."""
    if name == "bedrock_converse":
        made = bedrock_converse.events([{"text": "ok"}], "end_turn")
        return [json.dumps({kind: said}).encode() for kind, said in made]
    answer = WIRES[name].simulator.says("ok")({"model": "m", "stream": True, "messages": [], "input": []})
    return SseDecoder(2**20).feed(answer.partition(b"\r\n\r\n")[2])


@every_wire
def test_a_stream_says_when_it_has_ended_and_not_before(name):
    assembler = new_transport(name).assembler()
    *before, last = _payloads(name)
    for payload in before:
        assembler.feed(payload)
        assert not assembler.has_ended
    assembler.feed(last)
    assert assembler.has_ended
    assert assembler.finish().content == "ok"


@every_wire
def test_a_plain_answer_is_read_and_valid_and_an_error_is_not(name):
    transport, said = new_transport(name), WIRES[name].said
    response = transport.normalize_response(said)
    assert (response.content, response.tool_calls, response.finish_reason) == ("ok", None, "stop")
    assert transport.validate_response(said)
    for broken in (b"", b"{}", b"[]", b'{"error": {"message": "no"}}'):
        assert not transport.validate_response(broken)


@every_wire
def test_what_is_said_is_encoded_last_and_extra_headers_are_headers(name):
    transport = new_transport(name)
    kwargs = transport.build_kwargs(ask(name, [HI], tools=(LOOK,)), provider(name))
    http = transport.encode(kwargs | {"extra_headers": {"X-Own": "1"}}, endpoint(name))
    assert list(json.loads(http.body))[-1] == WIRES[name].growing
    assert http.headers["X-Own"] == "1"
    assert "extra_headers" not in json.loads(http.body)


@every_wire
def test_extra_body_is_merged_into_the_body_and_wins(name):
    transport = new_transport(name)
    kwargs = transport.build_kwargs(ask(name, [HI]), provider(name))
    growing = WIRES[name].growing
    http = transport.encode(kwargs | {"extra_body": {"metadata": {"own": True}}}, endpoint(name))
    plain = json.loads(transport.encode(kwargs, endpoint(name)).body)
    assert json.loads(http.body) == plain | {"metadata": {"own": True}}
    other = transport.encode(kwargs | {"extra_body": {growing: []}}, endpoint(name))
    assert json.loads(other.body)[growing] == []
    assert (
        transport.encode(kwargs | {"extra_body": None}, endpoint(name)).body
        == transport.encode(kwargs, endpoint(name)).body
    )


@every_wire
def test_a_quirk_has_the_last_word_on_every_field_but_what_is_said(name):
    quirky = provider(name, quirks=lambda kwargs, request: {**kwargs, "own": len(request.messages)})
    kwargs = new_transport(name).build_kwargs(ask(name, [HI]), quirky)
    assert kwargs["own"] == 1
    assert list(kwargs)[-1] == WIRES[name].growing


@every_wire
def test_tool_schemas_are_sent_in_the_providers_dialect_and_never_changed(name):
    schema = {"properties": {"a": {"anyOf": [{"type": "string"}, {"type": "null"}]}}, "oneOf": [{}]}
    before = copy.deepcopy(schema)
    own = provider(name, dialect=lambda schema: {**schema, "description": "in our own words"})
    kwargs = new_transport(name).build_kwargs(ask(name, [HI], tools=(ToolSpec("t", "", schema),)), own)
    assert "in our own words" in json.dumps(kwargs)
    assert schema == before


@every_wire
def test_a_temperature_is_the_providers_or_the_calls_or_none(name):
    def temperature(wanted, of):
        model = {"codex_responses": "gpt-4.1"}.get(name, WIRES[name].model)
        request = msgspec.structs.replace(ask(name, [HI], temperature=wanted), model=model)
        kwargs = new_transport(name).build_kwargs(request, provider(name, temperature=of))
        return kwargs.get("inferenceConfig", kwargs).get("temperature")

    assert temperature(None, None) is None
    assert temperature(0.5, None) == 0.5
    assert temperature(0, None) == 0
    assert temperature(0.5, 0.3) == 0.3
    assert temperature(0.5, "omit") is None


texts = st.none() | st.sampled_from(["", " ", "one", " two\n", "three"])
ids = st.sampled_from(["a", "b", "c.d", "e" * 70, "", "fc_1"])
calls = st.lists(
    st.builds(
        ToolCall,
        st.none() | ids,
        st.sampled_from(["look", "files.read", ""]),
        st.sampled_from(["{}", '{"q": 1}', '{"q": true}', "[1]", '{"cut']),
    ),
    max_size=2,
).map(tuple)
pictures = st.lists(st.just(Image(media_type="image/png", data="aGk=")), max_size=1).map(tuple)


def histories(name):
    data = st.none() | st.sampled_from([{"model": "m"}, WIRES[name].sealed, {"unknown": [1]}])
    issuers = st.sampled_from([ME, "other", None])
    said = st.one_of(
        st.builds(Message, st.just("user"), texts, images=pictures),
        st.builds(Message, st.just("system"), texts),
        st.builds(Message, st.just("assistant"), texts, calls, provider_data=data, issuer=issuers),
        st.builds(Message, st.just("tool"), texts, tool_call_id=ids, is_error=st.booleans(), images=pictures),
    )
    return st.lists(said, max_size=12)


def a_while(name, data):
    """The states of one conversation: it grows, is cut or rewritten, goes to another, is cached or not."""
    history = data.draw(histories(name))
    shown, issuer, caches, sees = 0, ME, data.draw(st.booleans()), True
    moves = st.sampled_from(["grow", "grow", "grow", "cut", "rewrite", "other", "caches", "sees", "same"])
    for move in data.draw(st.lists(moves, min_size=3, max_size=10)):
        match move:
            case "grow":
                shown = min(len(history), shown + data.draw(st.integers(1, 4)))
            case "cut":
                shown = data.draw(st.integers(0, shown))
            case "rewrite" if shown:
                at, new = data.draw(st.integers(0, shown - 1)), data.draw(histories(name))
                history[at : at + 1] = new[:2]
                shown = min(shown, len(history))
            case "other":
                issuer = "other" if issuer == ME else ME
            case "caches":
                caches = not caches
            case "sees":
                sees = not sees
        request = ask(name, history[:shown], issuer=issuer, tools=(LOOK,) if shown % 2 else ())
        yield request, provider(name, caches=caches, sees=sees)


@every_wire
@given(data=st.data())
@settings(deadline=None)
def test_a_history_that_was_seen_before_is_written_as_if_it_were_new(name, data):
    transport, given_out = new_transport(name), []
    for request, asked in a_while(name, data):
        before = copy.deepcopy(request)
        kwargs = transport.build_kwargs(request, asked)
        assert kwargs == new_transport(name).build_kwargs(request, asked)
        body = transport.encode(kwargs, endpoint(name)).body
        plain = msgspec.json.decode(msgspec.json.encode(kwargs))
        if name == "bedrock_converse":
            del plain["modelId"], plain["stream"]
        assert repr(msgspec.json.decode(body)) == repr(plain)
        assert request == before
        given_out.append((kwargs, copy.deepcopy(kwargs)))
    for kwargs, as_it_was in given_out:
        assert kwargs == as_it_was


@every_wire
@given(data=st.data())
@settings(deadline=None)
def test_any_history_becomes_a_call_that_the_vendor_accepts(name, data):
    history = [*data.draw(histories(name)), HI]
    before = copy.deepcopy(history)
    sent(name, history, tools=(LOOK,))
    assert history == before


@every_wire
@given(data=st.data())
@settings(deadline=None)
def test_conversion_alone_never_changes_what_it_is_given(name, data):
    history = data.draw(histories(name))
    before, transport = copy.deepcopy(history), new_transport(name)
    assert transport.convert_messages(history) == transport.convert_messages(history)
    assert history == before


@every_wire
@given(data=st.data())
@settings(deadline=None)
def test_what_one_issuer_sealed_goes_to_nobody_else(name, data):
    history = [*data.draw(histories(name)), HI]
    assert "SEALED" not in json.dumps(sent(name, history, issuer="a stranger"))


@every_wire
@given(steps=st.lists(st.integers(1, 3), min_size=2, max_size=6))
def test_a_longer_history_keeps_the_bytes_of_the_shorter_one(name, steps):
    transport, history, bodies = new_transport(name), [Message(role="system", content="s"), HI], []
    for step, size in enumerate(steps):
        ids = [f"c{step}_{number}" for number in range(size)]
        history += [calling(*ids), *map(result, ids)]
        kwargs = transport.build_kwargs(ask(name, history, tools=(LOOK,)), provider(name))
        bodies.append(transport.encode(kwargs, endpoint(name)).body)
    for shorter, longer in itertools.pairwise(bodies):
        assert longer.startswith(shorter.removesuffix(b"]}"))


@every_wire
@pytest.mark.parametrize("caches", [False, True])
def test_only_what_is_new_is_converted_and_encoded(name, caches):
    transport, asked, history = new_transport(name), provider(name, caches=caches), [HI]
    for turn in range(60):
        history += [calling(f"c{turn}"), result(f"c{turn}")]
    known = transport.build_kwargs(ask(name, history, tools=(LOOK,)), asked)[WIRES[name].growing]
    history += [calling("new"), result("new")]
    later = transport.build_kwargs(ask(name, history, tools=(LOOK,)), asked)[WIRES[name].growing]
    changed = [at for at, (one, other) in enumerate(zip(known, later, strict=False)) if one is not other]
    assert all(at >= len(known) - 4 for at in changed)


def only_thought(name, issuer):
    return Message(role="assistant", provider_data=WIRES[name].sealed, issuer=issuer)


@every_wire
@pytest.mark.parametrize("issuer", [ME, "other"])
@pytest.mark.parametrize("after", [(), (HI,), (Message(role="assistant", content="so"), HI)])
def test_a_turn_that_only_thought_is_replayed_or_left_out_and_never_refused(name, issuer, after):
    history = (HI, only_thought(name, issuer), *after)
    said = sent(name, history)
    if issuer != ME:
        assert [turn["role"] for turn in said].count("assistant") == len(after) // 2


@every_wire
def test_a_turn_that_only_thought_may_come_first_and_often(name):
    thought = only_thought(name, ME)
    sent(name, [thought, HI, thought, thought, HI, calling("a"), result("a"), thought, HI], tools=(LOOK,))


@every_wire
@pytest.mark.parametrize(
    ("asked", "known", "window", "limit"),
    [(100, 200, None, 100), (None, 200, None, 200), (2000, None, 1000, 999), (None, 5000, 1000, 999)],
)
def test_the_output_limit_is_the_calls_then_the_providers_and_fits_the_window(
    name, asked, known, window, limit
):
    limited = provider(name, max_tokens=known, context_window=window)
    kwargs = new_transport(name).build_kwargs(ask(name, [HI], max_output_tokens=asked), limited)
    said = kwargs.get("inferenceConfig", kwargs)
    keys = ("max_tokens", "max_output_tokens", "maxTokens")
    assert [said[key] for key in keys if key in said] == [limit]


@every_wire
@pytest.mark.parametrize("limit", [-1, 0, 0.5, float("nan"), True])
def test_a_limit_that_is_none_is_not_sent(name, limit):
    odd = ask(name, [HI], max_output_tokens=limit)
    transport = new_transport(name)
    assert transport.build_kwargs(odd, provider(name)) == transport.build_kwargs(
        ask(name, [HI]), provider(name)
    )


ANSWER = {"type": "object", "properties": {"sentinel": {"type": "integer"}}, "required": ["sentinel"]}


@every_wire
@pytest.mark.parametrize("output", ["json_schema", "json_object", "prompt"])
@pytest.mark.parametrize("tools", [(), (LOOK,)])
@pytest.mark.parametrize("choice", ["auto", "none"])
def test_a_schema_of_the_answer_reaches_every_model_beside_tools_or_alone(name, output, tools, choice):
    transport = new_transport(name)
    request = ask(name, [HI], output_schema=ANSWER, tools=tools, tool_choice=choice)
    kwargs = transport.build_kwargs(request, provider(name, output=output))
    http = transport.encode(kwargs, endpoint(name))
    assert refusal(name, http) is None
    assert b"sentinel" in http.body
    assert ANSWER["properties"] == {"sentinel": {"type": "integer"}}


@every_wire
@pytest.mark.parametrize("parallel", [None, True, False])
@pytest.mark.parametrize("choice", ["auto", "none", "required"])
def test_one_tool_at_a_time_can_be_asked_for_with_any_choice(name, parallel, choice):
    history = [HI, calling("c1"), result("c1")]
    sent(name, history, tools=(LOOK,), tool_choice=choice, parallel=parallel)
    sent(name, history, parallel=parallel)


@every_wire
@pytest.mark.parametrize("own", ["files.read", "a b", "x" * 70, "ä"])
def test_a_tool_of_any_name_is_offered_called_and_replayed_and_keeps_its_name_here(name, own):
    tools = (ToolSpec(own, "Do it.", LOOK.parameters), ToolSpec(f"{own}!", "Do it.", LOOK.parameters))
    history = [HI, Message(role="assistant", tool_calls=(ToolCall("c1", own, "{}"),)), result("c1")]
    transport = new_transport(name)
    sent(name, history, transport, tools=tools)
    wire_name = legal(own)
    body = {
        "chat_completions": {
            "choices": [{"message": {"tool_calls": [{"id": "c", "function": {"name": wire_name}}]}}]
        },
        "anthropic_messages": anthropic_messages.whole(
            [anthropic_messages.uses(wire_name, {}, "c")], "tool_use"
        ),
        "codex_responses": codex_responses.response(
            [{"type": "function_call", "call_id": "c", "name": wire_name, "arguments": "{}"}]
        ),
        "bedrock_converse": bedrock_converse.whole([bedrock_converse.call(wire_name, {}, "c")], "tool_use"),
    }[name]
    assembler = transport.assembler([tool.name for tool in tools])
    assembler.feed_whole(json.dumps(body).encode())
    assert [call.name for call in assembler.finish().tool_calls] == [own]
