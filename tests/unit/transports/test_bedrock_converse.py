"""The Converse wire: requests that the service's own model accepts, replies that are whole or named."""

import copy
import json

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hermes.errors import (
    AuthFailed,
    InvalidResponse,
    Overloaded,
    ProviderDown,
    RateLimited,
    RequestRejected,
)
from hermes.events import Reasoning, Text
from hermes.messages import Image, Message, NormalizedResponse, ToolCall
from hermes.protocols import Endpoint, Provider, Request, ToolSpec
from hermes.transports.base.names import legal
from hermes.transports.base.turns import CONTINUE
from hermes.transports.bedrock_converse import Transport
from hermes.transports.bedrock_converse.turns import BLANK
from simulators.bedrock_converse import USAGE, call, events, refusal, thought, whole

PROVIDER = Provider(name="p", title="P", api_mode="bedrock_converse", base_url="http://h", caches=True)
ENDPOINT = Endpoint(provider=PROVIDER, model="m", base_url="http://h/")
SONNET, OPUS, OLD = (
    "us.anthropic.claude-sonnet-4-5-v1:0",
    "anthropic.claude-opus-4-7",
    "anthropic.claude-3-haiku-v1:0",
)
LOOK = ToolSpec("look", "Look.", {"type": "object", "properties": {"q": {"type": "string"}}, "required": []})
HI = Message(role="user", content="hi")
PIXEL = "iVBORw0KGgo="
ISSUER = "p h bedrock_converse"


def build(*messages, model="m", provider=PROVIDER, transport=None, **fields):
    """The kwargs of a request, which the service's model and rules must accept."""
    request = Request(model=model, messages=messages or (HI,), issuer=ISSUER, **fields)
    transport = transport or Transport()
    kwargs = transport.build_kwargs(request, provider)
    http = transport.encode(kwargs, ENDPOINT)
    assert refusal(http.url.removeprefix("http://h"), msgspec.json.decode(http.body)) is None
    return kwargs


def payloads(stream):
    return [msgspec.json.encode({name: said}) for name, said in stream]


def assemble(*stream, transport=None):
    assembler = (transport or Transport()).assembler()
    deltas = [delta for payload in stream for delta in assembler.feed(payload)]
    return assembler.finish(), deltas


def streamed(*blocks, stop="end_turn", size=4):
    return assemble(*payloads(events(blocks, stop, size)))


def turn_of(response: NormalizedResponse, issuer=ISSUER):
    return Message(
        role="assistant",
        content=response.content,
        tool_calls=tuple(response.tool_calls or ()),
        provider_data=response.provider_data,
        issuer=issuer,
    )


def asked(*calls, **fields):
    return Message(role="assistant", tool_calls=calls, **fields)


def answered(id, content="saw it", **fields):
    return Message(role="tool", tool_call_id=id, content=content, **fields)


def test_a_plain_request():
    assert build(Message(role="system", content="Be brief."), HI) == {
        "modelId": "m",
        "stream": True,
        "system": [{"text": "Be brief."}],
        "messages": [{"role": "user", "content": [{"text": "hi"}]}],
    }


@pytest.mark.parametrize(
    ("model", "stream", "path"),
    [
        (SONNET, True, "/model/us.anthropic.claude-sonnet-4-5-v1%3A0/converse-stream"),
        ("m", False, "/model/m/converse"),
        (
            "arn:aws:bedrock:us-east-1:123456789012:inference-profile/us.m-v1:0",
            True,
            "/model/arn%3Aaws%3Abedrock%3Aus-east-1%3A123456789012%3Ainference-profile%2Fus.m-v1%3A0/converse-stream",
        ),
    ],
)
def test_the_model_is_in_the_path_and_nothing_of_ours_in_the_body(model, stream, path):
    http = Transport().encode(build(model=model, stream=stream), ENDPOINT)
    assert http.url == f"http://h{path}"
    assert not {"modelId", "stream"} & set(msgspec.json.decode(http.body))


def test_reasoning_of_a_whole_reply_is_read_and_replayed_before_its_call():  # case 69
    body = json.dumps(whole([thought("hm"), call("look", {"q": "a"}, "t1")], "tool_use")).encode()
    response = Transport().normalize_response(body)
    assert (response.reasoning, response.content) == ("hm", None)
    kwargs = build(HI, turn_of(response), answered("t1"), tools=(LOOK,))
    assert kwargs["messages"][1]["content"] == [thought("hm"), call("look", {"q": "a"}, "t1")]


def test_interleaved_reasoning_keeps_its_place():
    blocks = [
        thought("one"), {"text": "First "}, call("look", {"q": "a"}, "t1"), thought("two", redacted=True),
        {"text": "then"}, thought("", redacted=False), call("look", {"q": "b"}, "t2"),
    ]  # fmt: skip
    response, _ = streamed(*blocks, stop="tool_use")
    assert response.content == "First then"
    kwargs = build(HI, turn_of(response), answered("t2"), answered("t1"), tools=(LOOK,))
    assert kwargs["messages"][1]["content"] == blocks


def test_a_turn_that_was_changed_since_keeps_its_seals_and_its_new_words():
    response, _ = streamed(thought("one"), {"text": "First"}, call("look", {}, "t1"), stop="tool_use")
    changed = msgspec.structs.replace(turn_of(response), content="Other", tool_calls=())
    assert build(HI, changed, HI)["messages"][1]["content"] == [thought("one"), {"text": "Other"}]


def test_sealed_reasoning_is_never_sent_to_another_issuer():
    response, _ = streamed(thought("secret"), thought("x", redacted=True), {"text": "ok"})
    sent = build(HI, turn_of(response, issuer="q other bedrock_converse"), HI)
    assert sent["messages"][1]["content"] == [{"text": "ok"}]


def test_reasoning_without_a_seal_is_shown_and_not_replayed():
    unsigned = {"reasoningContent": {"reasoningText": {"text": "hm"}}}
    response, deltas = streamed(unsigned, {"text": "ok"})
    assert (response.reasoning, response.provider_data) == ("hm", None)
    assert Reasoning("hm") in deltas
    assert build(HI, turn_of(response), HI)["messages"][1]["content"] == [{"text": "ok"}]


@pytest.mark.parametrize(
    "stored",
    [
        7,
        "x",
        [1],
        [{"toolUse": "x"}],
        [{"reasoningContent": {}}],
        [{"reasoningContent": {"reasoningText": {}}}],
    ],
)
def test_stored_blocks_that_are_not_ours_are_left_out(stored):
    turn = Message(role="assistant", content="ok", provider_data={"converse_blocks": stored}, issuer=ISSUER)
    assert build(HI, turn, HI)["messages"][1]["content"] == [{"text": "ok"}]


def test_a_tool_without_a_description_has_no_description():  # case 72
    kwargs = build(tools=(ToolSpec("look", " ", {}), ToolSpec("look", "again", {})))
    assert kwargs["toolConfig"]["tools"] == [
        {"toolSpec": {"name": "look", "inputSchema": {"json": {"type": "object", "properties": {}}}}}
    ]


@pytest.mark.parametrize(
    ("media_type", "format"),
    [
        ("image/jpg", "jpeg"),
        ("image/JPEG", "jpeg"),
        ("image/png", "png"),
        ("image/gif", "gif"),
        ("image/webp", "webp"),
    ],
)
def test_images_are_blocks_for_users_and_tools(media_type, format):  # case 73
    image = Image(media_type=media_type, data=PIXEL)
    block = {"image": {"format": format, "source": {"bytes": PIXEL}}}
    question = Message(role="user", images=(image,))
    kwargs = build(
        question,
        asked(ToolCall("t1", "look", "{}")),
        answered("t1", "a shot", images=(image,)),
        tools=(LOOK,),
    )
    assert kwargs["messages"][0]["content"] == [block]
    result = kwargs["messages"][2]["content"][0]["toolResult"]
    assert result["content"] == [{"text": "a shot"}, block]


@pytest.mark.parametrize(
    ("image", "words"),
    [
        (Image(media_type="image/tiff", data=PIXEL), "image/tiff"),
        (Image(url="http://page/a.png"), "http://page/a.png"),
        (Image(media_type="image/png", data="not base64!"), "image/png"),
        (Image(media_type="image/png"), "image/png"),
    ],
)
def test_an_image_the_wire_has_no_form_for_is_named(image, words):
    blocks = build(Message(role="user", content="see", images=(image,)))["messages"][0]["content"]
    assert blocks[0] == {"text": "see"}
    assert words in blocks[1]["text"]


def test_illegal_ids_and_names_are_legal_on_the_wire_and_restored():  # case 74
    transport, name, id = Transport(), "files.read", "i" * 70
    history = (HI, asked(ToolCall(id, name, '{"a":1}')), answered(id))
    kwargs = build(*history, tools=(ToolSpec(name, "Read.", {}),), transport=transport)
    wire_name = kwargs["toolConfig"]["tools"][0]["toolSpec"]["name"]
    use, result = (turn["content"][0] for turn in kwargs["messages"][1:])
    assert use["toolUse"]["name"] == wire_name == legal(name)
    assert use["toolUse"]["toolUseId"] == result["toolResult"]["toolUseId"]
    response, _ = assemble(
        *payloads(events([call(wire_name, {"a": 1}, "t9")], "tool_use")), transport=transport
    )
    assert (response.tool_calls[0].name, response.tool_calls[0].id) == (name, "t9")
    assert len({legal(other) for other in ("a.b", "a:b", "a b", "a_b", "x" * 65, "x" * 66)}) == 6


@pytest.mark.parametrize(
    ("stop", "reason"),
    [
        ("end_turn", "stop"),
        ("stop_sequence", "stop"),
        ("max_tokens", "length"),
        ("model_context_window_exceeded", "length"),
        ("guardrail_intervened", "content_filter"),
        ("content_filtered", "content_filter"),
        ("something_new", "stop"),
        ("tool_use", "stop"),
    ],
)
def test_finish_reasons_are_a_closed_set(stop, reason):  # case 75
    response, _ = streamed({"text": "x"}, stop=stop)
    assert response.finish_reason == reason
    raw = {"raw_finish_reason": "something_new"} if stop == "something_new" else None
    assert response.provider_data == raw


@pytest.mark.parametrize("stop", ["malformed_tool_use", "malformed_model_output"])
def test_a_malformed_answer_is_worth_another_try(stop):  # case 75
    with pytest.raises(InvalidResponse, match=stop) as caught:
        streamed({"text": "x"}, stop=stop)
    assert caught.value.retryable


def test_usage_comes_after_the_end_and_counts_the_cache():  # case 76
    response, _ = streamed({"text": "x"})
    usage = response.usage
    assert (usage.prompt_tokens, usage.completion_tokens, usage.total_tokens) == (17, 5, 22)
    assert (usage.cached_tokens, usage.cache_write_tokens) == (4, 3)
    body = json.dumps(whole([{"text": "x"}], "end_turn")).encode()
    assert Transport().extract_cache_stats(body) == {"cached_tokens": 4, "creation_tokens": 3}
    assert Transport().extract_cache_stats(b'{"usage": {"inputTokens": 3}}') is None
    odd, _ = assemble(
        *payloads([("messageStop", {"stopReason": "end_turn"}), ("metadata", {"usage": {"inputTokens": -3}})])
    )
    assert odd.usage.prompt_tokens == 0


POINT = {"cachePoint": {"type": "default"}}


def test_the_cache_is_marked_after_tools_system_and_last_message():  # case 77
    history = (Message(role="system", content="s"), HI, Message(role="assistant", content="yes"), HI)
    kwargs = build(*history, model=SONNET, tools=(LOOK,))
    assert kwargs["toolConfig"]["tools"][-1] == kwargs["system"][-1] == POINT
    assert [turn["content"][-1] == POINT for turn in kwargs["messages"]] == [True, False, True]
    nova = build(*history, model="amazon.nova-pro-v1:0", tools=(LOOK,))
    assert POINT not in nova["toolConfig"]["tools"]
    assert nova["system"][-1] == POINT


@pytest.mark.parametrize(
    ("model", "caches"), [(SONNET, False), ("m", True), (OLD, True), ("mistral.mistral-large", True)]
)
def test_no_marks_where_nobody_reads_them(model, caches):
    provider = msgspec.structs.replace(PROVIDER, caches=caches)
    assert b"cachePoint" not in msgspec.json.encode(build(model=model, provider=provider, tools=(LOOK,)))


def test_blank_text_is_never_sent():  # case 77
    history = (
        Message(role="system", content=" \n"),
        Message(role="user", content="\t", images=(Image(media_type="image/png", data=PIXEL),)),
        asked(ToolCall("t1", "look", ""), content="  "),
        answered("t1", " "),
    )
    kwargs = build(*history, tools=(LOOK,))
    assert "system" not in kwargs
    assert len(kwargs["messages"][0]["content"]) == 1
    assert kwargs["messages"][1]["content"] == [call("look", {}, "t1")]
    assert kwargs["messages"][2]["content"][0]["toolResult"]["content"] == [{"text": BLANK}]


def test_text_is_sent_as_it_is():
    kwargs = build(Message(role="user", content="  indented\n\ttext \n"))
    assert kwargs["messages"][0]["content"] == [{"text": "  indented\n\ttext \n"}]


@pytest.mark.parametrize("tools", [(LOOK,), ()])
def test_a_summary_of_a_history_with_calls_is_a_valid_request(tools):  # case 78
    history = (
        HI,
        asked(ToolCall("t1", "look", '{"q":"a"}')),
        answered("t1"),
        Message(role="user", content="sum up"),
    )
    kwargs = build(*history, tools=tools, tool_choice="none")
    assert kwargs["toolConfig"]["tools"][0]["toolSpec"]["name"] == "look"
    assert "toolChoice" not in kwargs["toolConfig"]


def test_a_required_tool_is_any_tool():
    assert build(tools=(LOOK,), tool_choice="required")["toolConfig"]["toolChoice"] == {"any": {}}
    assert "toolConfig" not in build()


def test_a_failed_tool_says_so_where_the_model_can_read_it():
    history = (HI, asked(ToolCall("t1", "look", "{}")), answered("t1", "broke", is_error=True))
    statuses = [
        build(*history, model=model, tools=(LOOK,))["messages"][2]["content"][0]["toolResult"].get("status")
        for model in (SONNET, "amazon.nova-pro-v1:0", "m")
    ]
    assert statuses == ["error", "error", None]


def test_a_model_without_tools_reads_calls_as_words():
    history = (HI, asked(ToolCall("t1", "look", '{"q":"a"}')), answered("t1", "the sky"))
    kwargs = build(*history, model="deepseek.r1-v1:0", tools=(LOOK,))
    assert "toolConfig" not in kwargs
    assert "look" in kwargs["messages"][1]["content"][0]["text"]
    assert kwargs["messages"][2]["content"] == [{"text": "the sky"}]


def test_results_of_one_turn_share_a_message_with_what_the_user_says_next():
    history = (
        HI,
        asked(ToolCall("a", "look", "{}"), ToolCall("b", "look", "[1]")),
        HI,
        answered("b"),
        answered("a"),
    )
    kwargs = build(*history, tools=(LOOK,))
    assert [next(iter(block)) for block in kwargs["messages"][2]["content"]] == [
        "toolResult",
        "toolResult",
        "text",
    ]
    assert kwargs["messages"][1]["content"][1]["toolUse"]["input"] == {}


def test_a_conversation_starts_and_ends_with_the_user():
    kwargs = build(Message(role="assistant", content="so"))
    assert [(turn["role"], turn["content"][0]["text"]) for turn in kwargs["messages"]] == [
        ("user", BLANK),
        ("assistant", "so"),
        ("user", CONTINUE),
    ]
    assert Transport().convert_messages([]) == [{"role": "user", "content": [{"text": BLANK}]}]


def test_a_later_system_message_stays_in_its_place():
    kwargs = build(
        Message(role="system", content="a"),
        Message(role="system", content="b"),
        HI,
        Message(role="system", content="c"),
    )
    assert kwargs["system"] == [{"text": "a"}, {"text": "b"}]
    assert "<system-reminder>\nc" in kwargs["messages"][0]["content"][1]["text"]


def test_the_output_limit_is_the_requests_then_the_providers_then_the_models():
    limited = msgspec.structs.replace(PROVIDER, max_tokens=300)
    unlimited = {"provider": PROVIDER, "model": SONNET}
    assert build(provider=limited, max_output_tokens=100)["inferenceConfig"] == {"maxTokens": 100}
    assert build(provider=limited, max_output_tokens=-1)["inferenceConfig"] == {"maxTokens": 300}
    assert build(**unlimited)["inferenceConfig"] == {"maxTokens": 64_000}
    assert "inferenceConfig" not in build()


OPUS_41, NOVA_2 = "anthropic.claude-opus-4-1-20250805-v1:0", "us.amazon.nova-2-lite-v1:0"
ADAPTIVE = {"thinking": {"type": "adaptive", "display": "summarized"}}


@pytest.mark.parametrize(
    ("model", "effort", "extra", "level"),
    [
        (SONNET, "high", {"thinking": {"type": "enabled", "budget_tokens": 16_000}}, None),
        (SONNET, "max", {"thinking": {"type": "enabled", "budget_tokens": 32_000}}, None),
        (SONNET, "none", None, None),
        (SONNET, None, None, None),
        (OPUS_41, "minimal", {"thinking": {"type": "enabled", "budget_tokens": 1_024}}, None),
        (OPUS, "xhigh", ADAPTIVE, "xhigh"),
        (OPUS, "minimal", ADAPTIVE, "low"),
        ("anthropic.claude-opus-4-6-v1", "xhigh", ADAPTIVE, "max"),
        ("global.anthropic.claude-sonnet-5", "medium", ADAPTIVE, "medium"),
        (OLD, "high", None, None),
        (NOVA_2, "max", {"reasoningConfig": {"type": "enabled", "maxReasoningEffort": "high"}}, None),
        ("openai.gpt-oss-120b-1:0", "xhigh", {"reasoning_effort": "high"}, None),
        ("us.openai.gpt-5.6-sol", "xhigh", {"reasoning": {"effort": "xhigh"}}, None),
        ("us.openai.gpt-5.6-sol", "none", {"reasoning": {"effort": "none"}}, None),
        ("m", "high", None, None),
    ],
)  # fmt: skip
def test_effort_is_asked_for_in_the_form_of_the_family(model, effort, extra, level):
    kwargs = build(model=model, effort=effort)
    assert kwargs.get("additionalModelRequestFields") == extra
    assert kwargs.get("outputConfig", {}).get("effort") == level


@pytest.mark.parametrize(("limit", "budget"), [(2_000, 1_024), (4_000, 2_976), (1_024, None)])
def test_a_budget_leaves_room_for_the_answer(limit, budget):
    extra = build(model=SONNET, effort="high", max_output_tokens=limit).get("additionalModelRequestFields")
    assert (extra and extra["thinking"]["budget_tokens"]) == budget


@pytest.mark.parametrize(
    ("model", "effort", "sent"),
    [
        ("us.anthropic.claude-sonnet-4-5-20250929-v1:0", None, 0.5),
        ("us.anthropic.claude-sonnet-4-5-20250929-v1:0", "high", None),
        ("us.anthropic.claude-sonnet-4-6", None, 0.5),
        ("us.anthropic.claude-sonnet-4-6", "high", None),
        ("us.anthropic.claude-opus-4-7", None, None),
        ("us.amazon.nova-2-lite-v1:0", "low", 0.5),
        ("us.amazon.nova-2-lite-v1:0", "high", None),
        ("meta.llama3-1-70b-instruct-v1:0", None, 0.5),
    ],
)
def test_a_temperature_goes_to_families_that_take_one_as_they_think(model, effort, sent):
    kwargs = build(HI, model=model, effort=effort, temperature=0.5)
    assert kwargs.get("inferenceConfig", {}).get("temperature") == sent
    assert build(HI, temperature=1.7)["inferenceConfig"]["temperature"] == 1


def test_a_required_tool_leaves_no_room_to_think():
    for model in (SONNET, OPUS):
        kwargs = build(model=model, effort="max", tools=(LOOK,), tool_choice="required")
        assert "additionalModelRequestFields" not in kwargs
    assert kwargs["outputConfig"] == {"effort": "high"}


def test_hardest_thinking_takes_no_limit_where_the_family_refuses_it():
    nova = {"model": NOVA_2, "max_output_tokens": 500}
    assert "inferenceConfig" not in build(effort="high", **nova)
    assert build(effort="low", **nova)["inferenceConfig"] == {"maxTokens": 500}


def test_an_output_schema_is_sent_as_text():
    schema = {"type": "object", "properties": {"a": {"type": "string"}}}
    form = build(output_schema=schema)["outputConfig"]["textFormat"]
    sent = json.loads(form["structure"]["jsonSchema"]["schema"])
    assert sent["properties"] == schema["properties"]
    assert sent["additionalProperties"] is False


@pytest.mark.parametrize(
    ("model", "output"),
    [
        (OLD, "json_schema"),
        ("us.anthropic.claude-opus-4-1-20250805-v1:0", "json_schema"),
        ("amazon.nova-pro-v1:0", "json_schema"),
        ("us.meta.llama3-3-70b-instruct-v1:0", "json_schema"),
        (SONNET, "prompt"),
    ],
)
def test_an_output_schema_is_said_in_words_where_the_model_takes_none(model, output):
    provider = msgspec.structs.replace(PROVIDER, output=output)
    system = Message(role="system", content="Be brief.")
    kwargs = build(system, HI, model=model, provider=provider, output_schema={"type": "array"}, tools=(LOOK,))
    assert "outputConfig" not in kwargs
    first, words = (block["text"] for block in kwargs["system"] if "text" in block)
    assert first == "Be brief."
    assert words.endswith('{"type":"array"}')


def test_text_and_reasoning_are_shown_as_they_arrive():
    response, deltas = streamed(thought("let me"), {"text": "Hello"}, size=3)
    assert deltas == [Reasoning("let"), Reasoning(" me"), Text("Hel"), Text("lo")]
    assert (response.content, response.reasoning, response.finish_reason) == ("Hello", "let me", "stop")


def test_blocks_are_told_apart_by_their_index():
    pieces = [
        (1, {"toolUse": {"input": '{"x":'}}),
        (2, {"toolUse": {"input": '{"x":2}'}}),
        (1, {"toolUse": {"input": "1}"}}),
    ]
    stream = [
        (
            "contentBlockStart",
            {"start": {"toolUse": {"toolUseId": f"t{n}", "name": "look"}}, "contentBlockIndex": n},
        )
        for n in (2, 1)
    ]
    stream += [("contentBlockDelta", {"delta": delta, "contentBlockIndex": n}) for n, delta in pieces]
    response, _ = assemble(*payloads([*stream, ("messageStop", {"stopReason": "tool_use"})]))
    assert [(c.id, c.arguments) for c in response.tool_calls] == [("t1", '{"x":1}'), ("t2", '{"x":2}')]


def test_redacted_reasoning_in_pieces_is_one_blob():
    stream = [
        (
            "contentBlockDelta",
            {"delta": {"reasoningContent": {"redactedContent": piece}}, "contentBlockIndex": 0},
        )
        for piece in ("c2VhbGVkIA==", "eA==")
    ]
    response, _ = assemble(
        *payloads(
            [
                *stream,
                ("contentBlockDelta", {"delta": {"text": "ok"}, "contentBlockIndex": 1}),
                ("messageStop", {"stopReason": "end_turn"}),
            ]
        )
    )
    assert response.provider_data["converse_blocks"][0] == thought("x", redacted=True)


def test_a_seal_in_pieces_that_cannot_be_joined_is_an_invalid_response():
    delta = {"delta": {"reasoningContent": {"redactedContent": "a"}}, "contentBlockIndex": 0}
    with pytest.raises(InvalidResponse, match="base64"):
        assemble(*payloads([("contentBlockDelta", delta)] * 2))


def test_a_call_cut_off_by_the_limit_cannot_be_parsed():
    response, _ = streamed(call("look", {"a": 1}, "t1"), call("look", {"b": 2}, "t2"), stop="max_tokens")
    assert response.finish_reason == "length"
    assert response.tool_calls[0].parse() == {"a": 1}
    assert response.tool_calls[1].parse().kind == "truncated"


def test_a_call_without_arguments_is_an_empty_object():
    start = {"start": {"toolUse": {"toolUseId": "t1", "name": "look"}}, "contentBlockIndex": 0}
    stream = [("contentBlockStart", start), ("messageStop", {"stopReason": "tool_use"})]
    response, _ = assemble(*payloads(stream))
    assert response.tool_calls == [ToolCall("t1", "look", "{}")]


@pytest.mark.parametrize(
    ("name", "error"),
    [
        ("throttlingException", RateLimited),
        ("validationException", RequestRejected),
        ("internalServerException", ProviderDown),
        ("modelStreamErrorException", ProviderDown),
        ("serviceUnavailableException", ProviderDown),
        ("modelTimeoutException", ProviderDown),
        ("accessDeniedException", AuthFailed),
        ("InternalFailureException", ProviderDown),
    ],
)
def test_a_failure_inside_a_stream_is_raised_by_its_name(name, error):
    with pytest.raises(error, match="because"):
        assemble(*payloads([("messageStart", {"role": "assistant"}), (name, {"message": "because"})]))


def test_unknown_events_and_padding_are_passed_over():
    response, _ = assemble(*payloads([("newEvent", {"x": 1}), *events([{"text": "ok"}], "end_turn")]))
    assert response.content == "ok"


def test_cited_text_is_text():
    cited = {"citationsContent": {"content": [{"text": "a"}, {"text": "b"}], "citations": []}}
    assert Transport().normalize_response(json.dumps(whole([cited], "end_turn")).encode()).content == "ab"


@pytest.mark.parametrize("stream", [[], [("messageStart", {"role": "assistant"})]])
def test_nothing_at_all_is_an_invalid_response(stream):
    with pytest.raises(InvalidResponse, match="empty reply"):
        assemble(*payloads(stream))


@pytest.mark.parametrize(
    ("body", "valid"),
    [
        (json.dumps(whole([], "end_turn")).encode(), True),
        (b'{"output": {}}', False),
        (b'{"message": "no"}', False),
        (b"null", False),
        (b"<html>", False),
    ],
)
def test_a_response_is_judged_by_its_shape(body, valid):
    assert Transport().validate_response(body) is valid


@pytest.mark.parametrize(
    ("status", "body", "error"),
    [
        (400, b'{"message": "because"}', RequestRejected),
        (403, b'{"Message": "because"}', AuthFailed),
        (404, b'{"message": "because"}', RequestRejected),
        (424, b'{"message": "because"}', ProviderDown),
        (429, b'{"message": "because"}', RateLimited),
        (500, b"because", ProviderDown),
        (503, b'{"message": "because"}', Overloaded),
    ],
)
def test_a_status_says_what_to_do_next(status, body, error):
    found = Transport().read_error(status, body)
    assert type(found) is error
    assert "because" in str(found)


@pytest.mark.parametrize("body", [b"", b"[1]", b"{}", b"\xff", b'{"Message": null}'])
def test_an_error_in_any_shape_is_readable(body):
    assert "status 400" in str(Transport().read_error(400, body))


@pytest.mark.parametrize(
    ("said", "skew"),
    [
        ("expired: 20261115T030000Z is now earlier than 20261115T035500Z (20261115T040000Z - 5 min.)", -60),
        ("not yet current: 20261115T050000Z is still later than now (20261115T040000Z + 5 min.)", 60),
    ],
)  # fmt: skip
def test_a_wrong_clock_is_named(said, skew):
    found = Transport().read_error(403, json.dumps({"message": f"Signature {said}"}).encode())
    assert f"60 minutes {'ahead' if skew > 0 else 'behind'}" in str(found)
    assert "clock" in found.hint
    odd = b'{"message": "Signature expired: 99999999T999999Z is (99999999T999999Z - 5"}'
    assert type(Transport().read_error(403, odd)) is AuthFailed


words = st.text(max_size=24)
arguments = st.dictionaries(st.text(max_size=4), st.integers() | st.text(max_size=4), max_size=3)
blocks = st.lists(
    st.one_of(
        st.builds(lambda text: {"text": text}, st.text(min_size=1, max_size=24)),
        st.builds(thought, words),
        st.builds(lambda text: thought(text, redacted=True), words),
        st.builds(call, st.sampled_from(["look", "find"]), arguments, st.uuids().map(str)),
    ),
    min_size=1,
    max_size=5,
)
stops = st.sampled_from(["end_turn", "tool_use", "max_tokens", "content_filtered"])


@given(blocks, stops, st.integers(1, 9))
def test_a_stream_gives_what_the_whole_reply_gives(blocks, stop, size):
    response, deltas = streamed(*blocks, stop=stop, size=size)
    normalized = Transport().normalize_response(json.dumps(whole(blocks, stop)).encode())
    assert response == normalized
    assert "".join(delta.delta for delta in deltas if isinstance(delta, Text)) == (response.content or "")


@given(blocks, stops, st.data())
def test_a_stream_cut_at_any_event_is_whole_or_marked_as_partial(blocks, stop, data):
    stream = payloads(events(blocks, stop))
    at = data.draw(st.integers(0, len(stream)))
    full, _ = assemble(*stream)
    if at < 2:
        with pytest.raises(InvalidResponse, match="empty"):
            assemble(*stream[:at])
        return
    response, _ = assemble(*stream[:at])
    if at >= len(stream) - 1:
        assert msgspec.structs.replace(response, usage=full.usage) == full
    else:
        assert response.provider_data["partial"] is True
        assert response.finish_reason == "length"


@given(blocks)
def test_a_turn_is_replayed_block_by_block(blocks):
    response, _ = streamed(*blocks, stop="end_turn")
    results = [answered(made.id) for made in response.tool_calls or ()]
    replayed = build(HI, turn_of(response), *results, HI, tools=(LOOK,))
    turn = next((turn["content"] for turn in replayed["messages"] if turn["role"] == "assistant"), [])
    said = [block for block in blocks if block.get("text", "x").strip()]
    while said and "reasoningContent" in said[-1]:
        said.pop()
    sealed = [block for block in said if "reasoningContent" in block]
    assert [block for block in turn if "reasoningContent" in block] == sealed
    if sealed:
        assert turn == said


any_text = st.none() | st.sampled_from(["", " \n", "words", "  padded "]) | words
any_calls = st.lists(
    st.builds(
        ToolCall,
        st.none() | st.sampled_from(["a", "b", "x" * 70, "odd id!"]),
        st.sampled_from(["look", "files.read", "", "n" * 80]),
        st.sampled_from(["{}", '{"q": 1}', "[1]", '{"cut', ""]),
        st.none(),
        st.booleans(),
    ),
    max_size=3,
).map(tuple)
any_data = st.none() | st.builds(lambda stored: {"converse_blocks": stored}, blocks | st.lists(st.integers()))
histories = st.lists(
    st.builds(
        Message,
        role=st.sampled_from(["system", "user", "assistant", "tool"]),
        content=any_text,
        tool_calls=any_calls,
        tool_call_id=st.none() | st.sampled_from(["a", "b", "x" * 70, "odd id!", "orphan"]),
        is_error=st.booleans(),
        provider_data=any_data,
        issuer=st.sampled_from([None, ISSUER, "somebody else"]),
        images=st.lists(
            st.sampled_from([Image("image/jpg", PIXEL), Image("image/bmp", PIXEL), Image(url="http://x/y")]),
            max_size=2,
        ).map(tuple),
    ).map(lambda m: m if m.role == "assistant" else msgspec.structs.replace(m, tool_calls=())),
    max_size=8,
)


@settings(max_examples=300)
@given(
    histories, st.sampled_from([SONNET, OPUS, "m", "deepseek.r1-v1:0", "amazon.nova-pro-v1:0"]), st.booleans()
)
def test_any_history_becomes_a_request_the_service_accepts(history, model, has_tools):
    before = copy.deepcopy(history)
    kwargs = build(*history, model=model, tools=(LOOK,) if has_tools else (), effort="high")
    assert history == before
    strangers = [m for m in history if m.issuer != ISSUER and m.provider_data]
    sent = msgspec.json.encode(kwargs["messages"])
    if strangers and not any(m.issuer == ISSUER and m.provider_data for m in history):
        assert b'"reasoningContent":' not in sent


ASK = {"role": "user", "content": [{"text": "hi"}]}
TOOLS = {"tools": [{"toolSpec": {"name": "look", "inputSchema": {"json": {"type": "object"}}}}]}
BUDGET = {"type": "enabled", "budget_tokens": 9000}
FORGED = {"reasoningContent": {"reasoningText": {"text": "x", "signature": "y"}}}
JPG = {"format": "jpg", "source": {"bytes": PIXEL}}
USED = {"role": "assistant", "content": [call("look", {}, "t1")]}
FOUND = {"role": "user", "content": [{"toolResult": {"toolUseId": "t1", "content": [{"text": "x"}]}}]}


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ({"messages": []}, "start and end"),
        ({"messages": [ASK, ASK]}, "alternate"),
        ({"messages": [{"role": "user", "content": [{"text": " "}]}]}, "non-whitespace"),
        ({"messages": [{"role": "user", "content": []}]}, "empty"),
        ({"messages": [{"role": "user", "content": [{"text": "a", "image": {}}]}]}, "image"),
        ({"messages": [ASK], "stream": True}, "stream"),
        ({"messages": [ASK], "toolConfig": {"tools": []}}, "tools"),
        ({"messages": [ASK, USED, FOUND]}, "toolConfig"),
        ({"messages": [ASK, USED, ASK], "toolConfig": TOOLS}, "do not answer"),
        ({"messages": [ASK, {"role": "assistant", "content": [call("a.b", {}, "t1")]}, FOUND]}, "match"),
        ({"messages": [ASK, {"role": "assistant", "content": [call("a", {}, "x" * 65)]}, FOUND]}, "longer"),
        ({"messages": [{"role": "user", "content": [POINT]}]}, "prompt caching"),
        ({"messages": [ASK], "additionalModelRequestFields": {"thinking": BUDGET}}, "below 4096"),
        ({"messages": [{"role": "user", "content": [thought("x")]}]}, "can't contain reasoning"),
        ({"messages": [ASK, {"role": "assistant", "content": [FORGED]}, ASK]}, "signature"),
        ({"messages": [ASK, {"role": "assistant", "content": [thought("x")]}, ASK]}, "final block"),
        ({"messages": [{"role": "user", "content": [{"image": JPG}]}]}, "jpg"),
    ],
)  # fmt: skip
def test_the_simulator_refuses_what_the_service_refuses(body, words):
    assert words in (refusal("/model/m/converse", body) or "")


def test_the_usage_of_the_simulator_adds_up():
    assert USAGE["totalTokens"] == sum(count for name, count in USAGE.items() if name != "totalTokens")
