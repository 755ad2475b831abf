"""The chat-completions wire: what goes out, what comes in, and that a stream equals the whole."""

import copy

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hermes.errors import ProviderDown, RateLimited
from hermes.events import Reasoning, Text
from hermes.messages import Image, Message, ToolCall
from hermes.protocols import Endpoint, Provider, Request, ToolSpec
from hermes.transports.chat_completions import Transport

PROVIDER = Provider(name="p", title="P", api_mode="chat_completions", base_url="http://h/v1")
WEATHER = ToolSpec("weather", "Tell the weather.", {"type": "object", "properties": {}, "required": []})


class Key:
    def reveal(self) -> str:
        return "sk-secret"


def build(**fields):
    request = Request(model="m", messages=(Message(role="user", content="hi"),), **fields)
    return Transport().build_kwargs(request, PROVIDER)


def event(**choice):
    return msgspec.json.encode({"choices": [choice]})


def assemble(*payloads):
    assembler = Transport().assembler()
    deltas = [delta for payload in payloads for delta in assembler.feed(payload)]
    return assembler.finish(), deltas


def call_delta(index=0, id=None, name=None, arguments=None):
    function = {key: value for key, value in (("name", name), ("arguments", arguments)) if value is not None}
    piece = {"index": index, "function": function} | ({"id": id} if id is not None else {})
    return event(delta={"tool_calls": [{key: v for key, v in piece.items() if v is not None}]})


FINISHED_CALLS = event(delta={}, finish_reason="tool_calls")


def test_a_request_without_tools_has_no_tool_keys():
    assert build(stream=False) == {"model": "m", "messages": [{"role": "user", "content": "hi"}]}


def test_a_stream_asks_for_usage():
    assert build()["stream_options"] == {"include_usage": True}


def test_tools_and_their_choice_are_sent():
    kwargs = build(tools=(WEATHER,), tool_choice="none")
    assert kwargs["tools"][0]["function"]["name"] == "weather"
    assert kwargs["tool_choice"] == "none"
    assert "tool_choice" not in build(tools=(WEATHER,))


@pytest.mark.parametrize("parallel", [True, False])
def test_whether_tools_are_called_side_by_side_is_sent_where_it_is_said(parallel):
    assert build(tools=(WEATHER,), parallel=parallel)["parallel_tool_calls"] is parallel
    assert "parallel_tool_calls" not in build(tools=(WEATHER,))
    assert "parallel_tool_calls" not in build(parallel=parallel)


def test_the_output_limit_is_the_requests_then_the_providers():
    limited = msgspec.structs.replace(PROVIDER, max_tokens=300, max_tokens_key="max_completion_tokens")
    request = Request(model="m", messages=(), max_output_tokens=100)
    assert Transport().build_kwargs(request, limited)["max_completion_tokens"] == 100
    unlimited = msgspec.structs.replace(request, max_output_tokens=None)
    assert Transport().build_kwargs(unlimited, limited)["max_completion_tokens"] == 300
    assert "max_tokens" not in Transport().build_kwargs(unlimited, PROVIDER)


def test_messages_carry_only_what_the_wire_knows():
    call = ToolCall(id="c1", name="weather", arguments='{"a":1}', provider_data={"call_id": "x"})
    history = (
        Message(role="assistant", tool_calls=(call,), reasoning="hm", provider_data={"annotations": []}),
        Message(role="tool", tool_call_id="c1", content="sun", is_error=True),
    )
    before = copy.deepcopy(history)
    assert Transport().convert_messages(history) == [
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [
                {"id": "c1", "type": "function", "function": {"name": "weather", "arguments": '{"a":1}'}}
            ],
        },
        {"role": "tool", "tool_call_id": "c1", "content": "sun"},
    ]
    assert history == before


@pytest.mark.parametrize(
    ("style", "header", "value"),
    [
        ("bearer", "Authorization", "Bearer sk-secret"),
        ("x-api-key", "x-api-key", "sk-secret"),
        ("none", "", ""),
    ],
)
def test_the_key_goes_where_the_provider_wants_it(style, header, value):
    provider = msgspec.structs.replace(PROVIDER, auth_style=style, headers={"X-Own": "1"})
    endpoint = Endpoint(provider=provider, model="m", base_url="http://h/v1/", api_key=Key())
    http = Transport().encode({"model": "m", "extra_headers": {"X-Call": "2"}, "messages": []}, endpoint)
    assert http.url == "http://h/v1/chat/completions"
    assert http.headers["X-Own"] == "1"
    assert http.headers.get(header, "") == value
    assert http.headers["X-Call"] == "2"
    assert msgspec.json.decode(http.body) == {"model": "m", "messages": []}


def test_text_and_reasoning_are_shown_as_they_arrive():
    response, deltas = assemble(
        event(delta={"role": "assistant", "content": ""}),
        event(delta={"reasoning_content": "let me"}),
        event(delta={"content": "Hel"}),
        event(delta={"content": "lo"}),
        event(delta={}, finish_reason="stop"),
        msgspec.json.encode({"choices": [], "usage": {"prompt_tokens": 5, "completion_tokens": 2}}),
        b"[DONE]",
    )
    assert deltas == [Reasoning("let me"), Text("Hel"), Text("lo")]
    assert (response.content, response.reasoning, response.finish_reason) == ("Hello", "let me", "stop")
    assert response.reasoning_content == "let me"
    assert (response.usage.prompt_tokens, response.usage.total_tokens) == (5, 7)


def test_an_empty_reasoning_field_is_not_an_absent_one():
    present, _ = assemble(event(delta={"reasoning_content": "", "content": "x"}, finish_reason="stop"))
    absent, _ = assemble(event(delta={"content": "x"}, finish_reason="stop"))
    reload = msgspec.json.Decoder(type(present)).decode
    assert reload(msgspec.json.encode(present)).reasoning_content == ""
    assert reload(msgspec.json.encode(absent)).reasoning_content is None


def test_two_calls_on_one_index_stay_two_calls():
    response, _ = assemble(
        call_delta(0, "a", "f", '{"x":'),
        call_delta(0, None, None, "1}"),
        call_delta(0, "b", "f", '{"x":2}'),
        FINISHED_CALLS,
    )
    assert [(call.id, call.arguments) for call in response.tool_calls] == [("a", '{"x":1}'), ("b", '{"x":2}')]


def test_a_name_sent_again_is_the_same_name():
    response, _ = assemble(
        call_delta(0, "a", "f", '{"x"'),
        call_delta(0, "a", "f", ":1}"),
        call_delta(0, None, "f", ""),
        FINISHED_CALLS,
    )
    assert [(call.name, call.arguments) for call in response.tool_calls] == [("f", '{"x":1}')]


def test_calls_without_ids_or_indexes_are_told_apart_by_their_ends():
    pieces = [("f", '{"x":1}'), ("g", "{}"), ("g", '{"y":2}')]
    response, _ = assemble(*(call_delta(0, None, name, text) for name, text in pieces), FINISHED_CALLS)
    assert [(call.name, call.arguments) for call in response.tool_calls] == pieces
    assert len({call.id for call in response.tool_calls}) == 3


def test_pieces_without_an_index_go_to_the_last_call():
    response, _ = assemble(call_delta(None, "a", "f", "{"), call_delta(None, None, None, "}"), FINISHED_CALLS)
    assert [(call.id, call.arguments) for call in response.tool_calls] == [("a", "{}")]


def test_a_call_cut_off_by_the_limit_cannot_be_parsed():
    response, _ = assemble(
        call_delta(0, "a", "f", '{"path":"a","content":"full"}'), event(delta={}, finish_reason="length")
    )
    assert response.finish_reason == "length"
    assert response.tool_calls[0].parse().kind == "truncated"


def test_a_stream_without_an_end_is_partial_and_never_a_stop():
    response, _ = assemble(event(delta={"content": "half an ans"}))
    assert (response.content, response.finish_reason) == ("half an ans", "length")
    assert response.provider_data["partial"] is True


def test_a_refusal_is_the_answer_when_there_is_no_other():
    refused, _ = assemble(event(delta={"refusal": "I will not"}, finish_reason="stop"))
    assert (refused.content, refused.finish_reason) == ("I will not", "content_filter")
    both, _ = assemble(event(delta={"refusal": "no", "content": "text"}, finish_reason="stop"))
    assert (both.content, both.finish_reason) == ("text", "stop")


@pytest.mark.parametrize(
    ("raw", "reason"),
    [
        ("STOP", "stop"),
        ("MAX_TOKENS", "length"),
        ("function_call", "tool_calls"),
        ("SAFETY", "content_filter"),
        (None, "stop"),
        (24, "stop"),
        ("whatever", "stop"),
    ],
)
def test_finish_reasons_are_a_closed_set(raw, reason):
    assert Transport().map_finish_reason(raw) == reason


def test_an_unknown_finish_reason_stays_visible():
    response, _ = assemble(event(delta={"content": "x"}, finish_reason=24))
    assert response.provider_data["raw_finish_reason"] == "24"


def test_calls_decide_over_a_plain_stop():
    response, _ = assemble(call_delta(0, "a", "f", "{}"), event(delta={}, finish_reason="stop"))
    assert response.finish_reason == "tool_calls"


@pytest.mark.parametrize(
    ("usage", "cached", "written"),
    [
        ({"prompt_tokens": 1000, "prompt_tokens_details": {"cached_tokens": 7}}, 7, 0),
        ({"prompt_tokens": 1000, "prompt_cache_hit_tokens": 900}, 900, 0),
        ({"cache_read_input_tokens": 3, "cache_creation_input_tokens": 4}, 3, 4),
        ({"prompt_tokens": 10, "cache_read_input_tokens": 100, "cache_creation_input_tokens": 5}, 100, 5),
        ({"prompt_tokens": -5, "completion_tokens": 1e300, "prompt_tokens_details": None}, 0, 0),
    ],
)
def test_usage_counts_what_the_cache_did(usage, cached, written):
    body = msgspec.json.encode({"choices": [{"message": {"content": "x"}}], "usage": usage})
    response = Transport().normalize_response(body)
    assert (response.usage.cached_tokens, response.usage.cache_write_tokens) == (cached, written)
    assert response.usage.total_tokens == response.usage.prompt_tokens + response.usage.completion_tokens >= 0
    assert response.usage.prompt_tokens >= cached + written
    stats = Transport().extract_cache_stats(body)
    assert stats == ({"cached_tokens": cached, "creation_tokens": written} if cached or written else None)


@pytest.mark.parametrize(
    ("body", "valid"),
    [
        (b'{"choices": [{}]}', True),
        (b'{"choices": []}', False),
        (b'{"error": {"code": 429}}', False),
        (b"null", False),
        (b"<html>", False),
    ],
)
def test_a_response_is_judged_by_its_shape(body, valid):
    assert Transport().validate_response(body) is valid


def test_an_error_inside_a_good_status_is_an_error():
    with pytest.raises(RateLimited, match="slow down"):
        assemble(b'{"error": {"code": 429, "message": "slow down"}}')


def test_content_in_parts_and_calls_with_objects_are_read():
    body = msgspec.json.encode(
        {
            "choices": [
                {
                    "message": {
                        "content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}],
                        "tool_calls": [{"id": 7, "function": {"name": "f", "arguments": {"x": 1}}}],
                    },
                    "finish_reason": "tool_use",
                }
            ]
        }
    )
    response = Transport().normalize_response(body)
    assert response.content == "ab"
    assert (response.tool_calls[0].id, response.tool_calls[0].arguments) == ("7", '{"x":1}')


@pytest.mark.parametrize(
    ("choice", "error", "words"),
    [
        ({"delta": {"content": ""}, "finish_reason": "error"}, ProviderDown, "the provider failed"),
        ({"delta": {}, "finish_reason": "ERROR"}, ProviderDown, "the provider failed"),
        (
            {"error": {"code": 429, "message": "slow down"}, "finish_reason": "error"},
            RateLimited,
            "slow down",
        ),
        ({"error": {"code": "502", "message": "it broke"}}, ProviderDown, "it broke"),
    ],
)
def test_an_answer_that_ends_in_an_error_is_an_error(choice, error, words):
    with pytest.raises(error, match=words):
        assemble(event(delta={"content": "half"}), event(**choice))
    with pytest.raises(error, match=words):
        Transport().normalize_response(event(**choice))


def test_thinking_parts_of_content_are_reasoning():
    thinking = {
        "type": "thinking",
        "thinking": [{"type": "text", "text": "hm"}, {"type": "text", "text": "m"}],
    }
    plain = {"type": "thinking", "thinking": "."}
    parts = [thinking, plain, {"type": "text", "text": "So."}]
    whole = Transport().normalize_response(event(message={"content": parts}, finish_reason="stop"))
    assert (whole.reasoning, whole.content) == ("hmm.", "So.")
    streamed, deltas = assemble(
        *(event(delta={"content": [part]}) for part in parts), event(delta={}, finish_reason="stop")
    )
    assert streamed == whole
    assert deltas == [Reasoning("hmm"), Reasoning("."), Text("So.")]


def test_the_older_form_of_a_call_is_one_call():
    whole = Transport().normalize_response(
        event(
            message={"content": None, "function_call": {"name": "f", "arguments": '{"x":1}'}},
            finish_reason="function_call",
        )
    )
    assert [(call.name, call.arguments) for call in whole.tool_calls] == [("f", '{"x":1}')]
    assert whole.finish_reason == "tool_calls"
    streamed, _ = assemble(
        event(delta={"function_call": {"name": "f", "arguments": ""}}),
        event(delta={"function_call": {"arguments": '{"x":'}}),
        event(delta={"function_call": {"arguments": "1}"}}),
        event(delta={}, finish_reason="function_call"),
    )
    assert streamed == whole


def test_an_empty_finish_reason_ends_nothing():
    pieces = [event(delta={"content": piece}, finish_reason="") for piece in ("<thi", "nk>hm</think>", "So.")]
    response, _ = assemble(*pieces, event(delta={}, finish_reason="stop"))
    assert (response.reasoning, response.content, response.finish_reason) == ("hm", "So.", "stop")
    assert assemble(*pieces)[0].finish_reason == "length"


def test_usage_on_every_event_is_counted_once():
    counts = [{"prompt_tokens": 5, "completion_tokens": tokens} for tokens in (1, 2, 3)]
    events = [
        msgspec.json.encode({"choices": [{"delta": {"content": "x"}}], "usage": usage}) for usage in counts
    ]
    response, _ = assemble(*events, event(delta={}, finish_reason="stop"))
    assert (response.usage.completion_tokens, response.usage.total_tokens) == (3, 8)


def assemble_with(tools, *payloads):
    assembler = Transport().assembler(tools)
    deltas = [delta for payload in payloads for delta in assembler.feed(payload)]
    return assembler.finish(), deltas


def test_thoughts_in_tags_at_the_start_are_reasoning_however_they_are_cut():
    text = "<think>let me see</think>\n\nIt is <b>blue</b>, I <think> so."
    for size in (1, 3, 7, 100):
        pieces = [event(delta={"content": text[at : at + size]}) for at in range(0, len(text), size)]
        response, deltas = assemble_with((), *pieces, event(delta={}, finish_reason="stop"))
        assert (response.reasoning, response.content) == (
            "let me see",
            "\n\nIt is <b>blue</b>, I <think> so.",
        )
        assert "".join(d.delta for d in deltas if isinstance(d, Text)) == response.content


KIMI = (
    "<|tool_calls_section_begin|><|tool_call_begin|>functions.weather:0"
    '<|tool_call_argument_begin|>{"town": "Bonn"}<|tool_call_end|><|tool_calls_section_end|>'
)
MINIMAX = (
    '<minimax:tool_call><invoke name="weather"><parameter name="town">Bonn</parameter></invoke>'
    "</minimax:tool_call>"
)


@pytest.mark.parametrize(
    "written",
    [
        '<tool_call>\n{"name": "weather", "arguments": {"town": "Bonn"}}\n</tool_call>',
        KIMI,
        MINIMAX,
        "<start_function_call>call:weather{town:<escape>Bonn<escape>}<end_function_call>",
    ],
)
def test_calls_written_out_as_text_are_calls(written):
    response, deltas = assemble_with(
        ["weather"], event(delta={"content": f"Sure. {written}"}, finish_reason="stop")
    )
    [call] = response.tool_calls
    assert (call.name, call.parse()) == ("weather", {"town": "Bonn"})
    assert (response.finish_reason, response.content.strip()) == ("tool_calls", "Sure.")
    assert "weather" not in "".join(delta.delta for delta in deltas)


def test_a_written_call_to_an_unknown_tool_is_neither_run_nor_shown():
    text = 'Hm. <tool_call>{"name": "rm", "arguments": {}}</tool_call>'
    response, _ = assemble_with(["weather"], event(delta={"content": text}, finish_reason="stop"))
    assert (response.tool_calls, response.content, response.finish_reason) == (None, "Hm. ", "stop")


@pytest.mark.parametrize(
    ("before", "is_made"),
    [
        ("", True),
        ("Let me look.", True),
        ("Let me look:  ", True),
        ("Let me look\n", True),
        ("To look, write ", False),
        ("Write `", False),
        ('It says "', False),
    ],
)
def test_a_call_inside_a_sentence_is_talked_about_and_not_made(before, is_made):
    written = '<tool_call>{"name": "weather", "arguments": {}}</tool_call>'
    response, _ = assemble_with(
        ("weather",),
        event(delta={"content": before}),
        event(delta={"content": written}, finish_reason="stop"),
    )
    assert bool(response.tool_calls) is is_made
    assert response.content == ((before or None) if is_made else before + written)


def test_a_call_after_one_that_was_talked_about_is_made():
    written = '<tool_call>{"name": "weather", "arguments": {}}</tool_call>'
    text = f"I write {written} now:\n{written}"
    response, _ = assemble_with(("weather",), event(delta={"content": text}, finish_reason="stop"))
    assert len(response.tool_calls) == 1
    assert response.content == f"I write {written} now:\n"


def test_a_written_call_that_never_closes_is_text():
    text = 'Use <tool_call>{"name": "weather"'
    response, _ = assemble_with(["weather"], event(delta={"content": text}, finish_reason="stop"))
    assert (response.tool_calls, response.content) == (None, text)


def test_reasoning_details_are_joined_by_index_and_kept():
    first = {"type": "reasoning.text", "index": 0, "text": "a"}
    second = {"type": "reasoning.text", "index": 0, "text": "b", "signature": "s"}
    other = {"type": "reasoning.encrypted", "index": 1, "data": "zz"}
    response, _ = assemble(
        event(delta={"reasoning_details": [first]}),
        event(delta={"reasoning_details": [second, other], "content": "x"}, finish_reason="stop"),
    )
    assert response.provider_data["reasoning_details"] == [
        {"type": "reasoning.text", "index": 0, "text": "ab", "signature": "s"},
        other,
    ]


@pytest.mark.parametrize(
    ("pieces", "kept"),
    [
        ([{"text": "a"}, {"signature": "s"}], [{"text": "a", "signature": "s"}]),
        ([{"text": "a", "signature": "s"}, {"text": "b"}], [{"text": "a", "signature": "s"}, {"text": "b"}]),
        ([{"summary": "a", "id": "1"}, {"summary": "b", "id": "1"}], [{"summary": "ab", "id": "1"}]),
        (
            [{"summary": "a", "id": "1"}, {"summary": "b", "id": "2"}],
            [{"summary": "a", "id": "1"}, {"summary": "b", "id": "2"}],
        ),
        ([{"data": "x"}, {"data": "y"}], [{"data": "x"}, {"data": "y"}]),
    ],
)
def test_a_reasoning_detail_goes_on_until_it_is_signed_or_another_begins(pieces, kept):
    events = [event(delta={"reasoning_details": [piece]}) for piece in pieces]
    response, _ = assemble(*events, event(delta={"content": "x"}, finish_reason="stop"))
    assert response.provider_data["reasoning_details"] == kept


def echoing(*keys, issuer="me", history):
    provider = msgspec.structs.replace(PROVIDER, echoes=keys)
    request = Request(model="m", messages=history, issuer=issuer)
    return Transport().build_kwargs(request, provider)["messages"]


def test_what_a_provider_wants_back_goes_to_its_issuer_alone():
    details = [{"type": "reasoning.text", "text": "t"}]
    said = Message(role="assistant", content="a", provider_data={"reasoning_details": details}, issuer="me")
    history = (Message(role="user", content="q"), said, Message(role="user", content="r"))
    assert echoing("reasoning_details", history=history)[1]["reasoning_details"] == details
    assert "reasoning_details" not in echoing("reasoning_details", issuer="you", history=history)[1]
    assert "reasoning_details" not in echoing(history=history)[1]


def test_servers_that_want_their_thoughts_get_them_on_every_turn():
    thought = Message(role="assistant", content="a", provider_data={"reasoning_content": "t"}, issuer="me")
    plain = Message(role="assistant", content="b")
    ask = Message(role="user", content="q")
    wire = echoing("reasoning_content", history=(ask, thought, ask, plain, ask))
    assert [m.get("reasoning_content") for m in wire if m["role"] == "assistant"] == ["t", " "]


def test_thought_signatures_of_calls_are_kept_and_echoed_where_wanted():
    extra = {"google": {"thought_signature": "s"}}
    piece = {"index": 0, "id": "c", "function": {"name": "f", "arguments": "{}"}, "extra_content": extra}
    response, _ = assemble(event(delta={"tool_calls": [piece]}, finish_reason="tool_calls"))
    [call] = response.tool_calls
    assert call.provider_data == {"extra_content": extra}
    said = Message(role="assistant", tool_calls=(call,))
    history = (said, Message(role="tool", tool_call_id="c", content="r"))
    assert echoing("extra_content", history=history)[0]["tool_calls"][0]["extra_content"] == extra
    assert "extra_content" not in echoing(history=history)[0]["tool_calls"][0]


def test_pictures_of_users_and_tools_reach_the_wire():
    picture = Image(media_type="image/png", data="AAAA")
    call = ToolCall(id="c1", name="f", arguments="{}")
    other = ToolCall(id="c2", name="f", arguments="{}")
    history = (
        Message(role="user", content="what is this?", images=(picture, Image(url="https://h/x.png"))),
        Message(role="assistant", tool_calls=(call, other)),
        Message(role="tool", tool_call_id="c1", content="a shot", images=(picture,)),
        Message(role="tool", tool_call_id="c2", content="done"),
    )
    asked, _, first, second, shown = echoing(history=history)
    data = {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}}
    assert asked["content"] == [
        {"type": "text", "text": "what is this?"},
        data,
        {"type": "image_url", "image_url": {"url": "https://h/x.png"}},
    ]
    assert (first["content"], second["content"]) == ("a shot", "done")
    assert shown == {"role": "user", "content": [data]}


texts = st.text(max_size=40)
calls = st.lists(
    st.tuples(st.sampled_from(["f", "g"]), st.dictionaries(st.text(max_size=5), st.integers(), max_size=3)),
    max_size=3,
)


@given(
    text=texts, thought=texts, calls=calls, cuts=st.integers(1, 7), reason=st.sampled_from(["stop", "length"])
)
def test_a_stream_gives_what_the_whole_reply_gives(text, thought, calls, cuts, reason):
    encoded = [(f"id{n}", name, msgspec.json.encode(args).decode()) for n, (name, args) in enumerate(calls)]
    usage = {"prompt_tokens": 3, "completion_tokens": 4}
    message = {"content": text or None, "tool_calls": None}
    if thought:
        message["reasoning_content"] = thought
    if encoded:
        message["tool_calls"] = [
            {"id": id, "function": {"name": name, "arguments": args}} for id, name, args in encoded
        ]
    whole = msgspec.json.encode({"choices": [{"message": message, "finish_reason": reason}], "usage": usage})
    stream = [event(delta={"reasoning_content": thought[i : i + cuts]}) for i in range(0, len(thought), cuts)]
    stream += [event(delta={"content": text[i : i + cuts]}) for i in range(0, len(text), cuts)]
    for index, (id, name, args) in enumerate(encoded):
        stream.append(call_delta(index, id, name, ""))
        stream += [call_delta(index, None, None, args[i : i + cuts]) for i in range(0, len(args), cuts)]
    stream += [
        event(delta={}, finish_reason=reason),
        msgspec.json.encode({"choices": [], "usage": usage}),
        b"[DONE]",
    ]
    assembled, deltas = assemble(*stream)
    assert assembled == Transport().normalize_response(whole)
    assert "".join(delta.delta for delta in deltas if isinstance(delta, Text)) == text
