"""The Responses wire: what goes out, what comes in, and that a stream equals the whole."""

import copy
import json

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hermes.errors import AuthFailed, InvalidResponse, ProviderDown, RateLimited, RequestRejected
from hermes.events import Reasoning, Text
from hermes.messages import Image, Message, ToolCall
from hermes.protocols import Endpoint, Provider, Request, ToolSpec
from hermes.transports.base.names import legal
from hermes.transports.base.repair import NO_RESULT
from hermes.transports.codex_responses import Transport
from simulators.codex_responses import SEAL, events, function_call, message, reasoning, refusal, response

PROVIDER = Provider(name="p", title="P", api_mode="codex_responses", base_url="http://h/v1")
CACHING = msgspec.structs.replace(PROVIDER, caches=True)
SCHEMA = {"type": "object", "properties": {}, "required": []}
WEATHER = ToolSpec("weather", "Tell the weather.", SCHEMA)
TIME = ToolSpec("time", "Tell the time.", SCHEMA)
HERE = "p h codex_responses"
HI = Message(role="user", content="hi")


class Key:
    def reveal(self) -> str:
        return "sk-secret"


def build(*history, provider=PROVIDER, model="m", **fields):
    request = Request(model=model, messages=history or (HI,), issuer=HERE, **fields)
    return Transport().build_kwargs(request, provider)


def sent(*history):
    """The items of a history, each with the vendor's approval."""
    kwargs = build(*history)
    assert refusal("/v1/responses", json.loads(msgspec.json.encode(kwargs))) is None
    return kwargs["input"]


def payloads(whole, size=7):
    return [msgspec.json.encode(event) for event in events(whole, size)]


def assemble(*stream):
    assembler = Transport().assembler()
    deltas = [delta for payload in stream for delta in assembler.feed(payload)]
    return assembler.finish(), deltas


def normalize(*output, **fields):
    """A reply read whole and as a stream, which must come to the same."""
    whole = response(output, **fields)
    read = Transport().normalize_response(msgspec.json.encode(whole))
    assert assemble(*payloads(whole))[0] == read
    return read


def assistant(reply, **changes):
    """A reply as the loop keeps it."""
    kept = Message(
        role="assistant",
        content=reply.content,
        tool_calls=tuple(reply.tool_calls or ()),
        provider_data=reply.provider_data,
        issuer=HERE,
    )
    return msgspec.structs.replace(kept, **changes)


def results(reply):
    return [Message(role="tool", tool_call_id=call.id, content="done") for call in reply.tool_calls or ()]


def test_a_request_without_tools_has_no_tool_keys_and_is_never_stored():
    assert build(stream=False) == {
        "model": "m",
        "store": False,
        "include": ["reasoning.encrypted_content"],
        "input": [{"type": "message", "role": "user", "content": "hi"}],
    }


def test_tools_and_their_choice_are_sent():
    kwargs = build(tools=(WEATHER, ToolSpec("", "Nameless.", SCHEMA)), tool_choice="none")
    assert kwargs["tools"] == [
        {
            "type": "function",
            "name": "weather",
            "description": "Tell the weather.",
            "strict": False,
            "parameters": SCHEMA,
        }
    ]
    assert (kwargs["tool_choice"], kwargs["parallel_tool_calls"], kwargs["stream"]) == ("none", True, True)
    assert build(tools=(WEATHER,), parallel=False)["parallel_tool_calls"] is False
    assert "parallel_tool_calls" not in build(parallel=False)


def test_the_first_system_message_is_the_instructions_and_a_later_one_stays_in_its_place():
    kwargs = build(
        Message(role="system", content="be brief"), HI, Message(role="system", content="now be long"), HI
    )
    assert kwargs["instructions"] == "be brief"
    assert [item["role"] for item in kwargs["input"]] == ["user", "developer", "user"]
    assert kwargs["input"][1]["content"] == "now be long"


def test_the_output_limit_is_the_requests_then_the_providers_and_never_below_the_wires_least():
    limited = msgspec.structs.replace(PROVIDER, max_tokens=300)
    assert build(provider=limited, max_output_tokens=100)["max_output_tokens"] == 100
    assert build(provider=limited)["max_output_tokens"] == 300
    assert build(max_output_tokens=3)["max_output_tokens"] == 16
    assert "max_output_tokens" not in build()


@pytest.mark.parametrize(
    ("model", "effort", "thinking"),
    [
        ("gpt-6.1-sol", None, {"summary": "auto"}),
        ("gpt-6.1-sol", "none", {"effort": "low", "summary": "auto"}),
        ("gpt-6.1-sol", "max", {"effort": "max", "summary": "auto"}),
        ("gpt-6-sol", "none", {"effort": "none"}),
        ("vendor/gpt-5.5", "max", {"effort": "xhigh", "summary": "auto"}),
        ("gpt-5.5", "minimal", {"effort": "low", "summary": "auto"}),
        ("gpt-5.1", "none", {"effort": "none"}),
        ("gpt-5-mini", "none", {"effort": "minimal", "summary": "auto"}),
        ("gpt-5-pro", "low", {"effort": "high", "summary": "auto"}),
        ("o3", "xhigh", {"effort": "high", "summary": "auto"}),
        ("gpt-4.1", "high", None),
        ("unknown-1", None, None),
        ("unknown-1", "high", {"effort": "high", "summary": "auto"}),
        ("unknown-1-non-reasoning", "high", None),
    ],
)
def test_a_model_is_asked_to_think_as_hard_as_it_can_be_asked(model, effort, thinking):
    assert build(model=model, effort=effort).get("reasoning") == thinking


@pytest.mark.parametrize(
    ("model", "sent"),
    [("gpt-4.1", 0.5), ("openai/gpt-4o", 0.5), ("gpt-5-chat-latest", 0.5), ("gpt-5.4", None), ("o3", None)],
)
def test_a_temperature_goes_to_models_that_do_not_think(model, sent):
    assert build(HI, model=model, temperature=0.5).get("temperature") == sent


def test_thoughts_are_asked_back_of_models_that_think():
    assert "include" not in build(model="gpt-4.1")
    assert "include" not in build(model="gpt-6-sol", effort="none")
    assert build(model="gpt-6-sol")["include"] == ["reasoning.encrypted_content"]


@pytest.mark.parametrize(
    ("schema", "strict"),
    [
        ({**SCHEMA, "additionalProperties": False}, True),
        (SCHEMA, False),
        ({"type": "array", "items": SCHEMA}, False),
        ({"properties": {"a": {}}, "required": ["a"], "additionalProperties": False}, True),
        ({"properties": {"a": {}}, "required": [], "additionalProperties": False}, False),
        ({"anyOf": [{"type": "string"}, SCHEMA]}, False),
    ],
)
def test_an_output_schema_is_strict_where_the_wire_allows_it(schema, strict):
    form = build(output_schema=schema)["text"]["format"]
    assert form == {"type": "json_schema", "name": "answer", "schema": schema, "strict": strict}


def test_an_output_schema_is_said_in_words_where_none_is_taken():
    wordy = msgspec.structs.replace(PROVIDER, output="prompt")
    system = Message(role="system", content="Be brief.")
    kwargs = build(system, HI, provider=wordy, output_schema={"type": "array"}, tools=(WEATHER,))
    assert "text" not in kwargs
    assert kwargs["instructions"].startswith("Be brief.\n\n")
    assert kwargs["instructions"].endswith('{"type":"array"}')
    assert build(provider=wordy, output_schema={"type": "array"})["instructions"].startswith(
        "Answer with JSON"
    )


def test_an_unfinished_turn_and_the_one_that_goes_on_are_both_sent_back():
    begun = normalize(reasoning("one"), message("First.", phase="commentary"))
    ended = normalize(reasoning("two", 1), message("Done.", 1))
    items = sent(HI, assistant(begun), assistant(ended), HI)
    assert [item["type"] for item in items] == [
        "message", "reasoning", "reasoning", "message", "message", "message",
    ]  # fmt: skip
    assert [item.get("phase") for item in items[3:5]] == ["commentary", None]


def test_the_cache_key_depends_on_instructions_and_tools_alone():
    system = Message(role="system", content="s")
    one = build(system, HI, provider=CACHING, tools=(WEATHER, TIME))["prompt_cache_key"]
    other = build(system, HI, HI, provider=CACHING, tools=(TIME, WEATHER))["prompt_cache_key"]
    assert one == other
    assert one.startswith("pck_")
    assert len(one) == 28
    assert build(HI, provider=CACHING, tools=(WEATHER, TIME))["prompt_cache_key"] != one
    assert build(system, HI, provider=CACHING)["prompt_cache_key"] != one
    assert "prompt_cache_key" not in build(system)


def test_images_go_with_the_user_and_with_a_tools_output():
    seen = Message(
        role="user", content="what?", images=(Image("image/jpeg", "QUJD"), Image(url="https://i/a.png"))
    )
    call = ToolCall(id="call_1", name="look", arguments="{}")
    shot = Message(role="tool", tool_call_id="call_1", content="a page", images=(Image("image/png", "QUJD"),))
    user, _, output = sent(seen, Message(role="assistant", tool_calls=(call,)), shot)
    assert user["content"] == [
        {"type": "input_text", "text": "what?"},
        {"type": "input_image", "image_url": "data:image/jpeg;base64,QUJD", "detail": "auto"},
        {"type": "input_image", "image_url": "https://i/a.png", "detail": "auto"},
    ]
    assert output["output"] == [
        {"type": "input_text", "text": "a page"},
        {"type": "input_image", "image_url": "data:image/png;base64,QUJD", "detail": "auto"},
    ]


@pytest.mark.parametrize(
    ("id", "data"),
    [
        ("call_x", None),
        ("call_x|fc_y", None),
        ("fc_x", None),
        ("fc_other", {"call_id": "call_x", "response_item_id": "fc_other"}),
    ],
)
def test_a_call_is_replayed_by_its_call_id_with_its_output_and_without_an_item_id(id, data):
    call = ToolCall(id=id, name="weather", arguments="", provider_data=data)
    history = (
        HI,
        Message(role="assistant", tool_calls=(call,), issuer=HERE),
        Message(role="tool", tool_call_id=id, content="sun"),
        Message(role="tool", tool_call_id="nobody", content="orphan"),
    )
    assert sent(*history)[1:] == [
        {"type": "function_call", "call_id": "call_x", "name": "weather", "arguments": "{}"},
        {"type": "function_call_output", "call_id": "call_x", "output": "sun"},
    ]


def test_calls_whose_ids_come_to_the_same_stay_two_calls():
    calls = tuple(ToolCall(id=id, name="f", arguments="{}") for id in ("a|1", "a|2", "x" * 200))
    outputs = [Message(role="tool", tool_call_id=call.id, content=call.id[-1]) for call in calls]
    items = sent(HI, Message(role="assistant", tool_calls=calls), *outputs)[1:]
    asked = [item["call_id"] for item in items if item["type"] == "function_call"]
    answered = {item["call_id"]: item["output"] for item in items if "output" in item}
    assert len(set(asked)) == 3
    assert [answered[id] for id in asked] == ["1", "2", "x"]


@pytest.mark.parametrize("arguments", ["{bad", "[1]", "  ", '{"a": 1'])
def test_arguments_that_are_no_object_are_replayed_as_an_empty_one(arguments):
    call = ToolCall(id="call_1", name="odd name!", arguments=arguments)
    _, replayed, output = sent(HI, Message(role="assistant", tool_calls=(call,)))
    assert (replayed["arguments"], replayed["name"]) == ("{}", legal("odd name!"))
    assert output["output"] == NO_RESULT


def test_reasoning_goes_back_to_its_issuer_without_its_id_and_to_nobody_else():
    reply = normalize(reasoning("hm", 1), function_call("weather", {}, "a"))
    mine, theirs = assistant(reply), assistant(reply, issuer="other elsewhere codex_responses")
    item = {
        "type": "reasoning",
        "summary": [{"type": "summary_text", "text": "hm"}],
        "encrypted_content": f"{SEAL}1",
    }
    assert sent(HI, mine, *results(reply))[1] == item
    assert sent(HI, theirs, *results(reply))[1]["type"] == "function_call"
    stored = msgspec.json.decode(msgspec.json.encode(mine), type=Message)
    assert sent(HI, stored, *results(reply)) == sent(HI, mine, *results(reply))


def test_one_transport_asked_by_two_issuers_mixes_nothing_up():
    reply = normalize(reasoning("hm", 1), message("ok", 1))
    history, transport = (HI, assistant(reply)), Transport()
    kinds = [
        [item.get("type") for item in transport.build_kwargs(request, PROVIDER)["input"]]
        for request in (Request(model="m", messages=history, issuer=issuer) for issuer in (HERE, "o", HERE))
    ]
    assert kinds == [
        ["message", "reasoning", "message"],
        ["message", "message"],
        ["message", "reasoning", "message"],
    ]


def test_reasoning_that_cannot_be_read_back_is_not_kept():
    temporary = reasoning("hm", 1) | {"id": "rs_tmp_1"}
    open_text = reasoning("hm", 2) | {"encrypted_content": None}
    reply = normalize(temporary, open_text, message("ok"))
    assert "codex_reasoning_items" not in reply.provider_data
    assert reply.reasoning == "hm\n\nhm"


def test_the_same_reasoning_is_sent_once():
    reply = normalize(reasoning("a", 1), reasoning("a", 1), message("ok", 1))
    assert len(reply.provider_data["codex_reasoning_items"]) == 1
    items = sent(HI, assistant(reply), HI, assistant(reply), HI)
    assert [item.get("type", "message") for item in items].count("reasoning") == 1


def test_reasoning_with_nothing_after_it_is_followed_by_an_empty_message():
    reply = normalize(reasoning("a", 1))
    items = sent(HI, assistant(reply))
    assert items[-1] == {"type": "message", "role": "assistant", "content": ""}


def test_items_are_replayed_in_the_order_they_were_made_in():
    made = [
        reasoning("a", 1),
        function_call("weather", {}, "a"),
        reasoning("b", 2),
        message("aside", 3, phase="commentary"),
        function_call("time", {}, "b"),
    ]
    reply = normalize(*made)
    items = sent(HI, assistant(reply), *results(reply))
    assert [item.get("type") for item in items[1:6]] == [item["type"] for item in made]
    fewer = assistant(reply, tool_calls=assistant(reply).tool_calls[:1])
    kinds = [item.get("type") for item in sent(HI, fewer, *results(reply)[:1])[1:]]
    assert kinds == ["reasoning", "reasoning", "message", "function_call", "function_call_output"]


def test_reasoning_made_last_is_replayed_before_what_it_belongs_to():
    reply = normalize(function_call("weather", {}, "a"), reasoning("more", 1))
    kinds = [item.get("type") for item in sent(HI, assistant(reply), *results(reply))[1:]]
    assert kinds == ["reasoning", "function_call", "function_call_output"]


def test_a_message_is_replayed_as_it_was_with_its_phase():
    reply = normalize(message("done", 7, phase="final_answer"))
    assert sent(HI, assistant(reply), HI)[1] == {
        "type": "message",
        "id": "msg_7",
        "role": "assistant",
        "status": "completed",
        "phase": "final_answer",
        "content": [{"type": "output_text", "text": "done", "annotations": []}],
    }


def test_a_message_id_that_is_too_long_is_left_out_and_the_phase_stays():
    reply = normalize(message("done", 7, phase="final_answer") | {"id": "msg_" + "x" * 400})
    assert sent(HI, assistant(reply), HI)[1] == {
        "type": "message",
        "role": "assistant",
        "content": "done",
        "phase": "final_answer",
    }


def test_text_that_was_changed_is_sent_as_it_is_now():
    reply = normalize(message("the secret is 42", 7))
    edited = assistant(reply, content="the secret is ***")
    assert sent(HI, edited, HI)[1] == {"type": "message", "role": "assistant", "content": "the secret is ***"}


def test_the_key_goes_where_the_provider_wants_it():
    endpoint = Endpoint(provider=PROVIDER, model="m", base_url="http://h/v1/", api_key=Key())
    http = Transport().encode({"model": "m", "extra_headers": {"X-Own": "1"}, "input": []}, endpoint)
    assert http.url == "http://h/v1/responses"
    assert http.headers["Authorization"] == "Bearer sk-secret"
    assert http.headers["X-Own"] == "1"
    assert msgspec.json.decode(http.body) == {"model": "m", "input": []}


def test_text_and_reasoning_are_shown_as_they_arrive():
    whole = response([reasoning("let me see", 1), message("Hello there", 2), message("Bye", 3)])
    reply, deltas = assemble(*payloads(whole, size=4))
    assert "".join(d.delta for d in deltas if isinstance(d, Reasoning)) == reply.reasoning == "let me see"
    assert "".join(d.delta for d in deltas if isinstance(d, Text)) == reply.content == "Hello there\nBye"
    assert len(deltas) > 5
    assert reply.finish_reason == "stop"
    assert (reply.usage.prompt_tokens, reply.usage.total_tokens) == (10, 15)
    assert (reply.usage.cached_tokens, reply.usage.reasoning_tokens) == (4, 2)
    assert reply.provider_data["response_id"] == "resp_1"


def test_what_no_piece_has_shown_is_shown_at_the_end_of_its_item():
    whole = response([reasoning("hm", 1), message("all at once", 2)])
    done = [event for event in events(whole) if event["type"].endswith((".done", ".completed"))]
    items = [e for e in done if e["type"] in ("response.output_item.done", "response.completed")]
    _, deltas = assemble(*map(msgspec.json.encode, items))
    assert deltas == [Reasoning("hm"), Text("all at once")]


@pytest.mark.parametrize("output", [None, [], [message("another text")]])
def test_what_the_events_brought_stands_over_the_final_list(output):
    whole = response([message("from the events"), function_call("weather", {"a": 1}, "x")])
    stream = events(whole)
    stream[-1]["response"] = whole | {"output": output}
    reply, _ = assemble(*map(msgspec.json.encode, stream))
    assert reply.content == "from the events"
    assert [(call.id, call.name, call.arguments) for call in reply.tool_calls] == [
        ("call_x", "weather", '{"a": 1}')
    ]
    assert reply.tool_calls[0].provider_data == {"call_id": "call_x", "response_item_id": "fc_x"}


def test_the_final_list_serves_where_no_event_brought_an_item():
    whole = response([message("only here")])
    reply, deltas = assemble(*(msgspec.json.encode(events(whole)[at]) for at in (0, -1)))
    assert (reply.content, deltas) == ("only here", [Text("only here")])


def test_pieces_out_of_order_are_put_in_order_when_the_item_never_ends():
    stream = [
        {"type": "response.output_text.delta", "output_index": 0, "sequence_number": n, "delta": text}
        for n, text in ((2, "b"), (1, "a"), (3, "c"))
    ]
    reply, _ = assemble(*map(msgspec.json.encode, stream))
    assert (reply.content, reply.finish_reason) == ("abc", "length")
    assert reply.provider_data["partial"] is True


def test_a_stream_without_a_terminal_event_is_partial_and_never_a_stop():
    for last in (-1, -2):
        reply, _ = assemble(*payloads(response([message("half an answer")]))[:last])
        assert (reply.content, reply.finish_reason) == ("half an answer", "length")
        assert reply.provider_data["partial"] is True


def test_a_call_that_never_ended_cannot_be_parsed():
    stream = payloads(response([function_call("weather", {"a": 1}, "x")]))
    reply, _ = assemble(*stream[:-2])
    assert reply.tool_calls[0].parse().kind == "truncated"
    assert reply.finish_reason == "length"


def test_the_limit_is_length_also_when_calls_were_made_and_an_unfinished_call_is_not_run():
    fields = {"status": "incomplete", "incomplete_details": {"reason": "max_output_tokens"}}
    whole = function_call("weather", {}, "a")
    reply = normalize(whole, function_call("weather", '{"a": 1}', "b", status="incomplete"), **fields)
    assert reply.finish_reason == "length"
    assert [call.truncated for call in reply.tool_calls] == [False, True]
    unsaid = {key: value for key, value in whole.items() if key != "status"}
    read = Transport().normalize_response(msgspec.json.encode(response([unsaid], **fields)))
    assert read.tool_calls[0].truncated


@pytest.mark.parametrize(
    ("status", "why", "reason", "kept"),
    [
        ("incomplete", "max_output_tokens", "length", None),
        ("incomplete", "content_filter", "content_filter", None),
        ("incomplete", "max_messages", "incomplete", None),
        ("incomplete", "steered", "incomplete", None),
        ("incomplete", "moonphase", "incomplete", "moonphase"),
        ("incomplete", None, "incomplete", None),
    ],
)
def test_why_a_reply_ended_is_one_of_a_closed_set(status, why, reason, kept):
    reply = normalize(message("x", status="incomplete"), status=status, incomplete_details={"reason": why})
    assert (reply.finish_reason, reply.provider_data.get("raw_finish_reason")) == (reason, kept)


@pytest.mark.parametrize("status", ["queued", "in_progress"])
def test_a_reply_that_is_still_being_made_is_incomplete(status):
    body = msgspec.json.encode(response([message("x")], status=status))
    assert Transport().normalize_response(body).finish_reason == "incomplete"


def test_a_filtered_reply_may_be_empty():
    whole = response([], status="incomplete", incomplete_details={"reason": "content_filter"})
    assert Transport().validate_response(msgspec.json.encode(whole))
    reply = normalize(status="incomplete", incomplete_details={"reason": "content_filter"})
    assert (reply.content, reply.finish_reason) == (None, "content_filter")


@pytest.mark.parametrize(
    "text", ['to=functions.exec {"cmd": "ls"}', 'Let me look.\nassistant to=functions.exec 好 {"cmd": "ls"}']
)
def test_a_call_leaked_as_text_is_no_answer_and_is_not_replayed(text):
    reply = normalize(message(text))
    assert (reply.content, reply.finish_reason) == (None, "incomplete")
    assert reply.provider_data["leaked_call"] == text
    assert "codex_message_items" not in reply.provider_data
    assert normalize(message(text), function_call("exec", {}, "a")).content == text


def test_an_answer_about_leaked_calls_is_an_answer():
    text = "Harmony writes `to=functions.exec` before the arguments, as in `{}`."
    assert normalize(message(text)).content == text


def test_commentary_is_thinking_and_calls_go_on():
    reply = normalize(message("Let me look.", phase="commentary"), function_call("weather", {}, "a"))
    assert (reply.content, reply.reasoning, reply.finish_reason) == (None, "Let me look.", "tool_calls")
    _, deltas = assemble(*payloads(response([message("Let me look.", phase="commentary")])))
    assert {type(delta) for delta in deltas} == {Reasoning}
    assert sent(HI, assistant(reply), *results(reply))[1]["phase"] == "commentary"


def test_a_turn_that_only_thought_is_incomplete():
    assert normalize(reasoning("hm", 1)).finish_reason == "incomplete"
    assert normalize(message("hm", phase="commentary")).finish_reason == "incomplete"
    searched = {
        "type": "web_search_call",
        "id": "ws_1",
        "status": "in_progress",
        "action": {"type": "search"},
    }
    assert normalize(searched, message("found")).finish_reason == "stop"


def test_a_refusal_is_the_answer_when_there_is_no_other():
    refused = message("", 1) | {"content": [{"type": "refusal", "refusal": "I will not"}]}
    reply = normalize(refused)
    assert (reply.content, reply.finish_reason) == ("I will not", "content_filter")
    assert sent(HI, assistant(reply), HI)[1]["content"] == [{"type": "refusal", "refusal": "I will not"}]
    both = normalize(refused, message("text", 2))
    assert (both.content, both.finish_reason) == ("text", "stop")


def test_sources_the_provider_names_keep_their_place_in_the_text():
    part = {"type": "output_text", "text": "See [1].", "logprobs": []}
    cited = {"type": "url_citation", "url": "http://u", "title": "U", "start_index": 4, "end_index": 7}
    reply = normalize(message("First.", 1), message("", 2) | {"content": [{**part, "annotations": [cited]}]})
    [found] = reply.provider_data["annotations"]
    assert reply.content[found["start_index"] : found["end_index"]] == "[1]"


def test_other_forms_of_calls_and_content_are_read():
    body = msgspec.json.encode(
        {
            "output": [
                {"type": "message", "content": "plain"},
                {"type": "custom_tool_call", "id": "ct_1", "call_id": "call_1", "name": "f", "input": "{}"},
                {"type": "function_call", "id": "fc_2", "name": "g", "arguments": {"x": 1}},
            ]
        }
    )
    reply = Transport().normalize_response(body)
    assert (reply.content, reply.finish_reason) == ("plain", "tool_calls")
    assert [(call.id, call.arguments) for call in reply.tool_calls] == [("call_1", "{}"), ("fc_2", '{"x":1}')]
    fallback = Transport().normalize_response(b'{"output": [], "output_text": "short"}')
    assert (fallback.content, fallback.finish_reason) == ("short", "stop")


def failed(code):
    return {"type": "response.failed", "response": {"error": {"code": code, "message": "slow down"}}}


@pytest.mark.parametrize(
    ("event", "error"),
    [
        ({"type": "error", "code": "rate_limit_exceeded", "message": "slow down"}, RateLimited),
        ({"type": "error", "error": {"code": "server_error", "message": "slow down"}}, ProviderDown),
        ({"type": "error", "error": {"code": 401, "message": "slow down"}}, AuthFailed),
        ({"error": {"code": "invalid_prompt", "message": "slow down"}}, RequestRejected),
        (failed("bio_policy"), RequestRejected),
        (failed("server_error"), ProviderDown),
    ],
)
def test_a_failure_inside_a_good_status_is_a_failure(event, error):
    with pytest.raises(error, match="slow down"):
        assemble(msgspec.json.encode(event))


@pytest.mark.parametrize(
    ("fields", "error"),
    [
        ({"status": "failed", "error": {"code": "rate_limit_exceeded", "message": "m"}}, RateLimited),
        ({"status": "failed"}, ProviderDown),
        ({"status": "cancelled"}, ProviderDown),
        ({"error": {"code": "image_too_large", "message": "m"}}, RequestRejected),
    ],
)
def test_a_whole_reply_that_failed_is_a_failure(fields, error):
    body = msgspec.json.encode(response([message("x")], **fields))
    assert not Transport().validate_response(body)
    with pytest.raises(error):
        Transport().normalize_response(body)


@pytest.mark.parametrize(
    ("body", "valid"),
    [
        (b'{"output": [{"type": "message"}]}', True),
        (b'{"output": []}', False),
        (b'{"output": null, "status": "completed"}', False),
        (b'{"error": {"code": 429}}', False),
        (b"null", False),
        (b"<html>", False),
    ],
)
def test_a_response_is_judged_by_its_shape(body, valid):
    assert Transport().validate_response(body) is valid


@pytest.mark.parametrize(
    ("raw", "reason"),
    [("completed", "stop"), ("max_output_tokens", "length"), (None, "stop"), ("whatever", "stop")],
)
def test_finish_reasons_are_a_closed_set(raw, reason):
    assert Transport().map_finish_reason(raw) == reason


@pytest.mark.parametrize(
    ("details", "stats"),
    [
        ({"cached_tokens": 7, "cache_write_tokens": 2}, {"cached_tokens": 7, "creation_tokens": 2}),
        ({"cache_creation_tokens": 3}, {"cached_tokens": 0, "creation_tokens": 3}),
        ({}, None),
        (None, None),
    ],
)
def test_usage_counts_what_the_cache_did(details, stats):
    body = msgspec.json.encode({"usage": {"input_tokens": 9, "input_tokens_details": details}})
    assert Transport().extract_cache_stats(body) == stats


texts = st.text(max_size=30)
names = st.sampled_from(["f", "g", "odd name"])
arguments = st.one_of(
    st.dictionaries(st.text(max_size=5), st.integers(), max_size=3), st.sampled_from(["", "{bad"])
)
phases = st.sampled_from([None, "commentary", "final_answer"])
items = st.one_of(
    st.builds(message, texts.filter(bool), st.integers(0, 9), phase=phases),
    st.builds(reasoning, texts, st.integers(0, 9)),
    st.builds(function_call, names, arguments, st.sampled_from("abc")),
)
endings = st.sampled_from(
    [
        {},
        {"status": "incomplete", "incomplete_details": {"reason": "max_output_tokens"}},
        {"status": "incomplete", "incomplete_details": {"reason": "content_filter"}},
    ]
)


@given(st.lists(items, min_size=1, max_size=5), endings, st.integers(1, 9))
def test_a_stream_gives_what_the_whole_reply_gives(output, ending, size):
    whole = response(output, **ending)
    read, shown_whole = Transport().normalize_response(msgspec.json.encode(whole)), Transport().assembler()
    deltas_whole = shown_whole.feed_whole(msgspec.json.encode(whole))
    assembled, deltas = assemble(*payloads(whole, size))
    assert assembled == read == shown_whole.finish()
    for shown in (deltas, deltas_whole):
        assert "".join(d.delta for d in shown if isinstance(d, Text)) == (read.content or "")
        assert "".join(d.delta for d in shown if isinstance(d, Reasoning)) == (read.reasoning or "")


@given(st.lists(items, min_size=1, max_size=4), st.data())
def test_a_stream_cut_anywhere_is_never_a_silent_short_answer(output, data):
    stream = payloads(response(output))
    cut = stream[: data.draw(st.integers(0, len(stream) - 1))]
    try:
        reply, _ = assemble(*cut)
    except InvalidResponse:
        return
    assert reply.finish_reason == "length"
    assert reply.provider_data["partial"] is True
    whole = Transport().normalize_response(msgspec.json.encode(response(output)))
    assert (whole.content or "").startswith(reply.content or "")
    done = {call.id: call.arguments for call in whole.tool_calls or ()}
    for call in reply.tool_calls or ():
        assert call.truncated or done.get(call.id) == call.arguments


ids = st.one_of(st.none(), st.sampled_from(["a", "b", "a|1", "a|2", "fc_a", "call_a", "", " ", "x" * 100]))
calls = st.builds(
    ToolCall,
    id=ids,
    name=st.sampled_from(["f", "", "odd name"]),
    arguments=st.sampled_from(["{}", "", "[", '{"a":1}']),
)
stored = st.one_of(
    st.none(),
    st.just(
        {"codex_reasoning_items": "junk", "codex_message_items": [{"content": 7}], "codex_item_order": 3}
    ),
    st.lists(items, max_size=3).map(
        lambda output: (
            Transport()
            .normalize_response(msgspec.json.encode(response(output, status="queued")))
            .provider_data
        )
    ),
)
images = st.lists(st.sampled_from([Image("image/png", "QUJD"), Image(url="http://i/a.png")]), max_size=2).map(
    tuple
)
messages = st.one_of(
    st.builds(Message, role=st.just("user"), content=st.none() | texts, images=images),
    st.builds(Message, role=st.just("system"), content=st.none() | texts),
    st.builds(
        Message,
        role=st.just("assistant"),
        content=st.none() | texts,
        tool_calls=st.lists(calls, max_size=3).map(tuple),
        provider_data=stored,
        issuer=st.sampled_from([HERE, "other", None]),
    ),
    st.builds(Message, role=st.just("tool"), content=st.none() | texts, tool_call_id=ids, images=images),
)


@settings(suppress_health_check=[HealthCheck.too_slow], deadline=None)
@given(st.lists(messages, max_size=8))
def test_any_history_converts_to_what_the_vendor_accepts_and_is_never_changed(history):
    before = copy.deepcopy(history)
    kwargs = build(*history, HI, provider=CACHING, tools=(WEATHER,))
    assert refusal("/v1/responses", json.loads(msgspec.json.encode(kwargs))) is None
    assert history == before


@settings(deadline=None)
@given(st.lists(items, min_size=1, max_size=4))
def test_what_another_issuer_made_never_leaves(output):
    sealed = [
        item | {"encrypted_content": f"{SEAL}secret"} if item["type"] == "reasoning" else item
        for item in output
    ]
    reply = Transport().normalize_response(msgspec.json.encode(response(sealed)))
    theirs = build(HI, assistant(reply, issuer="other"), *results(reply), HI)["input"]
    assert not any({"encrypted_content", "id", "phase"} & set(item) for item in theirs)
