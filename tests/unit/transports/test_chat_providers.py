"""The chat wire as each provider wants it: what its value says shows in the payload, and nowhere else."""

import copy
import itertools
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hermes.messages import Image, Message, ToolCall
from hermes.protocols import Endpoint, Provider, Request, ToolSpec
from hermes.transports.chat_completions import Transport
from simulators.chat_completions import Extras, refusal

ME = "p h chat_completions"
LOOK = ToolSpec("look", "Look.", {"type": "object", "properties": {}})
PICTURE = Image(media_type="image/png", data="aGk=")
SHOWN = {"type": "image_url", "image_url": {"url": "data:image/png;base64,aGk="}}
NUMBER = {"n": {"type": "integer"}}
CLOSED = {"type": "object", "properties": NUMBER, "required": ["n"], "additionalProperties": False}
SYSTEM = Message(role="system", content="be good")
LATE = Message(role="system", content="be brief")
HI = Message(role="user", content="hi")
YES = Message(role="assistant", content="yes")


def provider(**facts):
    return Provider(name="p", title="P", api_mode="chat_completions", base_url="http://h/v1", **facts)


def build(*messages, transport=None, extras=None, request=None, **facts):
    """The payload for a provider with these facts, after the simulator has found nothing to refuse in it."""
    asked = Request(model="m", messages=messages or (HI,), issuer=ME, tools=(LOOK,), **(request or {}))
    kwargs = (transport or Transport()).build_kwargs(asked, provider(**facts))
    assert refusal("/v1/chat/completions", kwargs, extras=extras) is None
    return kwargs


def wire(*messages, **options):
    return build(*messages, **options)["messages"]


def said(*messages, **options):
    return [(message["role"], message["content"]) for message in wire(*messages, **options)]


def asks(*ids, **fields):
    return Message(role="assistant", tool_calls=tuple(ToolCall(id, "look", "{}") for id in ids), **fields)


def result(id, content="seen", **fields):
    return Message(role="tool", tool_call_id=id, content=content, **fields)


def test_a_late_system_message_stays_in_its_place_where_it_may():
    assert said(SYSTEM, HI, YES, LATE, HI)[3] == ("system", "be brief")


def test_a_late_system_message_is_said_by_the_next_user_where_it_may_not_stand():
    assert said(SYSTEM, HI, YES, LATE, HI, late_system=False)[-1] == ("user", "be brief\n\nhi")
    [*_, last] = said(HI, YES, LATE, Message(role="user", images=(PICTURE,)), late_system=False)
    assert last == ("user", [{"type": "text", "text": "be brief"}, SHOWN])


def test_a_late_system_message_that_no_user_follows_is_said_by_one_and_keeps_its_place():
    transport, history = Transport(), (HI, asks("a"), result("a"), LATE)
    before = wire(*history, transport=transport, late_system=False)
    assert before[-1] == {"role": "user", "content": "be brief"}
    after = wire(*history, asks("b"), result("b"), HI, transport=transport, late_system=False)
    assert after[: len(before)] == before


def test_only_the_first_message_is_no_late_one():
    assert said(SYSTEM, LATE, HI, late_system=False) == [("system", "be good"), ("user", "be brief\n\nhi")]


def test_a_word_stands_between_a_result_and_a_question_where_one_is_needed():
    history = (HI, asks("a"), result("a"), HI)
    assert [role for role, _ in said(*history)] == ["user", "assistant", "tool", "user"]
    roles = ["user", "assistant", "tool", "assistant", "user"]
    assert [role for role, _ in said(*history, user_after_tool=False)] == roles


def test_pictures_and_late_words_after_a_result_need_one_word_between():
    history = (HI, asks("a"), result("a", images=(PICTURE,)), LATE)
    [*_, between, last] = wire(*history, user_after_tool=False, late_system=False)
    assert between["role"] == "assistant"
    assert last["content"] == [SHOWN, {"type": "text", "text": "be brief"}]


def test_the_word_between_is_thought_of_where_every_turn_must_be():
    echoes = ("reasoning_content",)
    [*_, between, _] = wire(
        HI,
        asks("a"),
        result("a"),
        HI,
        user_after_tool=False,
        echoes=echoes,
        extras=Extras(echoes=frozenset(echoes)),
    )
    assert between["reasoning_content"] == " "


def test_pictures_of_results_follow_the_results_of_their_turn_and_keep_their_place():
    transport = Transport()
    history = (HI, asks("a", "b"), result("a", images=(PICTURE,)), result("b", images=(PICTURE,)))
    before = wire(*history, transport=transport)
    assert [message["role"] for message in before] == ["user", "assistant", "tool", "tool", "user"]
    assert before[-1]["content"] == [SHOWN, SHOWN]
    after = wire(*history, YES, HI, transport=transport)
    assert after[: len(before)] == before


def test_who_sees_nothing_is_told_of_pictures():
    [shown] = wire(Message(role="user", content="look", images=(PICTURE,)), sees=False)
    assert "a picture that you cannot see" in shown["content"]


@pytest.mark.parametrize(("schema", "strict"), [(CLOSED, True), ({"type": "object"}, False)])
def test_a_schema_is_sent_and_is_strict_where_it_is_closed(schema, strict):
    sent = build(request={"output_schema": schema})["response_format"]["json_schema"]
    assert (sent["schema"], sent["strict"]) == (schema, strict)


@pytest.mark.parametrize("output", ["json_object", "prompt"])
def test_a_schema_that_is_no_parameter_is_said_in_words(output):
    wanted = {"output_schema": CLOSED}
    kwargs = build(SYSTEM, HI, output=output, request=wanted)
    first = kwargs["messages"][0]
    assert first["content"].startswith("be good\n\n")
    assert json.loads(first["content"].partition("Schema:\n")[2]) == CLOSED
    assert kwargs.get("response_format") == ({"type": "json_object"} if output == "json_object" else None)
    alone = wire(HI, output=output, system_role="developer", request=wanted)
    assert [message["role"] for message in alone] == ["developer", "user"]
    assert json.loads(alone[0]["content"].partition("Schema:\n")[2]) == CLOSED
    assert wire(SYSTEM, HI, output=output) == wire(SYSTEM, HI)


def test_the_system_role_has_the_providers_name_and_the_history_keeps_its_own():
    history = (SYSTEM, HI, YES, LATE, HI)
    before = copy.deepcopy(history)
    roles = [role for role, _ in said(*history, system_role="developer")]
    assert roles == ["developer", "user", "assistant", "developer", "user"]
    assert history == before


@pytest.mark.parametrize(
    ("efforts", "wanted", "sent"),
    [
        (("low", "medium", "high"), "xhigh", "high"),
        (("low", "medium", "high"), "minimal", "low"),
        (("none", "low"), "minimal", "low"),
        (("none", "high"), "none", "none"),
        (("low", "high"), "none", "low"),
        (("none", "minimal", "high"), "high", "high"),
        ((), "high", None),
        (("low",), None, None),
    ],
)
def test_an_effort_is_said_in_the_providers_words(efforts, wanted, sent):
    assert build(efforts=efforts, request={"effort": wanted}).get("reasoning_effort") == sent


def test_the_limit_has_the_providers_name():
    limited = build(max_tokens=300, max_tokens_key="max_completion_tokens")
    assert limited["max_completion_tokens"] == 300
    assert "max_tokens" not in limited


def test_a_message_is_prepared_once_and_last():
    prepared = []

    def prepare(message):
        prepared.append(message["role"])
        return {**message, "name": "n"} if message["role"] == "user" else message

    transport, own = Transport(), provider(prepare=prepare)
    history = [SYSTEM, HI]
    for turn in range(3):
        history += [asks(f"c{turn}"), result(f"c{turn}")]
        request = Request(model="m", messages=tuple(history), issuer=ME)
        sent = transport.build_kwargs(request, own)["messages"]
    assert prepared == [message["role"] for message in sent]
    assert sent[1] == {"role": "user", "content": "hi", "name": "n"}


def test_quirks_change_fields_and_add_headers():
    def quirks(kwargs, request):
        return {**kwargs, "think": False, "extra_headers": {"X-Session": request.session_id}}

    asked = provider(quirks=quirks)
    transport = Transport()
    kwargs = transport.build_kwargs(Request(model="m", messages=(HI,), session_id="7"), asked)
    http = transport.encode(kwargs, Endpoint(provider=asked, model="m", base_url="http://h/v1"))
    assert http.headers["X-Session"] == "7"
    body = json.loads(http.body)
    assert body["think"] is False
    assert "extra_headers" not in body


MARKS = Extras(parts=True)


def marked(messages):
    """Which messages carry a mark."""
    return [at for at, message in enumerate(messages) if "cache_control" in json.dumps(message)]


def unmarked(messages):
    return json.loads(json.dumps(messages).replace(', "cache_control": {"type": "ephemeral"}', ""))


def test_marks_stand_on_the_instructions_and_where_the_plan_says():
    history = (SYSTEM, HI, asks("a"), result("a"), asks("b"), result("b"))
    assert marked(wire(*history, caches=True, extras=MARKS)) == [0, 3, 5]
    assert marked(wire(HI, caches=True, extras=MARKS)) == [0]
    assert marked(wire(*history)) == []


def test_content_is_always_in_parts_where_marks_may_stand_and_its_text_is_as_it_was():
    spaced = Message(role="user", content="  hi \n")
    plain = wire(SYSTEM, spaced, YES, HI)
    parted = unmarked(wire(SYSTEM, spaced, YES, HI, caches=True, extras=MARKS))
    assert [message["content"] for message in parted] == [
        [{"type": "text", "text": message["content"]}] for message in plain
    ]


def test_a_mark_stands_on_text_and_not_on_a_picture_or_a_bare_call():
    [message] = wire(Message(role="user", content="see", images=(PICTURE,)), caches=True, extras=MARKS)
    assert ["cache_control" in part for part in message["content"]] == [True, False]
    assert marked(wire(Message(role="user", images=(PICTURE,)), caches=True, extras=MARKS)) == []


def test_a_mark_never_lands_on_another_message_when_its_own_is_left_out():
    thought = Message(role="assistant", provider_data={"x": 1}, issuer=ME)
    request = Request(model="m", messages=(thought,), issuer=ME)
    assert Transport().build_kwargs(request, provider(caches=True))["messages"] == []


@given(
    turns=st.lists(st.sampled_from(["ask", "call", "shot", "late"]), max_size=8),
    late_system=st.booleans(),
    user_after_tool=st.booleans(),
    output=st.sampled_from(["json_schema", "prompt"]),
)
def test_with_its_marks_taken_off_each_payload_begins_the_next(turns, late_system, user_after_tool, output):
    transport, history, sent = Transport(), [SYSTEM, HI], []
    facts = {"late_system": late_system, "user_after_tool": user_after_tool, "output": output, "caches": True}
    facts["request"] = {"output_schema": CLOSED}
    for number, turn in enumerate(turns):
        match turn:
            case "ask":
                history += [YES, Message(role="user", content=f"question {number}")]
            case "call" | "shot":
                pictures = (PICTURE,) if turn == "shot" else ()
                history += [asks(f"c{number}"), result(f"c{number}", images=pictures)]
            case "late":
                history += [YES, Message(role="system", content=f"late {number}")]
        sent.append(unmarked(wire(*history, transport=transport, extras=MARKS, **facts)))
    for shorter, longer in itertools.pairwise(sent):
        assert longer[: len(shorter)] == shorter


def test_thoughts_alone_are_no_turn():
    data = {"reasoning_content": "hm", "reasoning_details": [{"type": "reasoning.text", "text": "hm"}]}
    thought = Message(role="assistant", provider_data=data, issuer=ME)
    echoes = tuple(data)
    assert [
        role for role, _ in said(HI, thought, HI, echoes=echoes, extras=Extras(echoes=frozenset(echoes)))
    ] == ["user", "user"]
