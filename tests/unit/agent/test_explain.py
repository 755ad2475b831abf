"""Every field of a request says what put it there, in every protocol."""

import msgspec
import pytest

from hermes import discover
from hermes.agent import explain as explaining
from hermes.agent.explain import explain
from hermes.messages import Image, Message, ToolCall
from hermes.protocols import Provider, Request, ToolSpec

TOOL = ToolSpec("look", "Look.", {"type": "object", "properties": {}, "required": []})
MODES = {
    "chat_completions": "messages",
    "anthropic_messages": "messages",
    "codex_responses": "input",
    "bedrock_converse": "messages",
}

NEVER_IN_A_PAYLOAD = {
    "name", "title", "api_mode", "aliases", "rank", "base_url", "base_url_env", "key_env", "key_required",
    "auth_style", "headers", "default_model", "models", "models_path", "open_list", "codes", "refine", "sign",
    "engine",
}  # fmt: skip
"""Fields of a provider that say where it is, who may ask it and what its errors mean."""


def reasons(mode, request=None, **facts):
    transport = discover.load("hermes.transports", mode, "protocol").Transport
    provider = Provider(name="p", title="P", api_mode=mode, **facts)
    asked = Request(
        model="m",
        messages=(Message(role="system", content="s"), Message(role="user", content="q")),
        tools=(TOOL,),
    )
    return {reason.field: reason for reason in explain(transport, request or asked, provider)}


@pytest.mark.parametrize("mode", MODES)
def test_every_field_that_is_sent_has_a_reason(mode):
    found = reasons(mode, caches=True, max_tokens=77)
    transport = discover.load("hermes.transports", mode, "protocol").Transport()
    provider = Provider(name="p", title="P", api_mode=mode, caches=True, max_tokens=77)
    request = Request(
        model="m",
        messages=(Message(role="system", content="s"), Message(role="user", content="q")),
        tools=(TOOL,),
    )
    assert {field: reason.value for field, reason in found.items()} == transport.build_kwargs(
        request, provider
    )
    assert all(reason.because for reason in found.values())


@pytest.mark.parametrize(("mode", "field"), MODES.items())
def test_the_conversation_is_there_because_of_the_conversation(mode, field):
    assert "the conversation" in reasons(mode)[field].because
    assert "the model" in next(iter(reasons(mode).values())).because


def test_a_setting_is_named_and_so_is_what_no_setting_changes():
    limited = reasons("chat_completions", max_tokens=77, max_tokens_key="max_completion_tokens")
    assert limited["max_completion_tokens"].because == (
        "`model.max_tokens` or the provider's own limit",
        "the provider's name for the limit",
    )
    assert reasons("codex_responses")["store"].because == ("the protocol itself",)


def test_one_call_may_have_several_reasons():
    request = Request(
        model="m", messages=(Message(role="user", content="q"),), tools=(TOOL,), tool_choice="none"
    )
    found = reasons("chat_completions", request)
    assert found["tool_choice"].because == ("the tools offered", "whether tools may be called")
    assert msgspec.json.encode(list(found.values()))


def test_no_field_that_can_change_a_payload_is_forgotten():
    assert set(explaining._REQUEST) == set(Request.__struct_fields__)
    assert set(explaining._PROVIDER) == set(Provider.__struct_fields__) - NEVER_IN_A_PAYLOAD


def test_the_neutral_value_of_a_provider_is_what_it_has_by_default():
    defaults = msgspec.structs.asdict(Provider(name="", title="", api_mode="chat_completions"))
    odd = {"stream_usage"}
    for field, (neutral, words) in explaining._PROVIDER.items():
        assert words
        assert field in odd or neutral == defaults[field]


CALL = ToolCall("c1", "look", "{}")
PICTURE = Image(media_type="image/png", data="aGk=")
HISTORY = (
    Message(role="system", content="s"),
    Message(role="user", content="q", images=(PICTURE,)),
    Message(role="assistant", tool_calls=(CALL,), provider_data={"reasoning_content": "hm"}, issuer="me"),
    Message(role="tool", tool_call_id="c1", content="seen"),
    Message(role="system", content="be brief"),
    Message(role="user", content="and now?"),
)


@pytest.mark.parametrize(
    ("fact", "value", "field"),
    [
        ("context_window", 50, "max_tokens"),
        ("max_tokens", 50, "max_tokens"),
        ("temperature", 0.3, "temperature"),
        ("efforts", ("low", "high"), "reasoning_effort"),
        ("output", "json_object", "response_format"),
        ("output", "prompt", "messages"),
        ("system_role", "developer", "messages"),
        ("late_system", False, "messages"),
        ("user_after_tool", False, "messages"),
        ("caches", True, "messages"),
        ("echoes", ("reasoning_content",), "messages"),
        ("sees", False, "messages"),
        ("dialect", lambda schema: {**schema, "title": "T"}, "tools"),
        ("prepare", lambda message: {**message, "name": "n"}, "messages"),
        ("quirks", lambda kwargs, request: {**kwargs, "own": request.session_id}, "own"),
    ],
)
def test_what_a_provider_wants_is_named_where_it_shows(fact, value, field):
    request = Request(
        model="m",
        messages=(*HISTORY[:4], HISTORY[-1]) if fact == "user_after_tool" else HISTORY,
        tools=(TOOL,),
        max_output_tokens=None if fact == "max_tokens" else 100,
        effort="high",
        output_schema={"type": "object"},
        issuer="me",
        session_id="7",
    )
    found = reasons("chat_completions", request, **{fact: value})
    assert explaining._PROVIDER[fact][1] in found[field].because


def test_what_a_call_wants_is_named_where_it_shows():
    request = Request(model="m", messages=HISTORY, temperature=0.5, issuer="me", session_id="7")
    found = reasons(
        "chat_completions",
        request,
        echoes=("reasoning_content",),
        quirks=lambda kwargs, asked: {**kwargs, "own": asked.session_id},
    )
    assert found["temperature"].because == ("the temperature of this call",)
    assert "who is asked, and gets back what it sealed" in found["messages"].because
    assert found["own"].because == ("the session", "the provider's own fields")
