"""Every field of a request says what put it there, in every protocol."""

import msgspec
import pytest

from hermes import discover
from hermes.agent.explain import explain
from hermes.messages import Message
from hermes.protocols import Provider, Request, ToolSpec

TOOL = ToolSpec("look", "Look.", {"type": "object", "properties": {}, "required": []})
MODES = {
    "chat_completions": "messages",
    "anthropic_messages": "messages",
    "codex_responses": "input",
    "bedrock_converse": "messages",
}


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
