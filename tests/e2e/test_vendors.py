"""`hermes chat` in each vendor's own protocol: it searches, answers, cites, and goes on later."""

import pytest

from hermes.providers.base import Registry
from simulators import anthropic_messages, bedrock_converse, codex_responses

load = Registry().load
SEARCH = ("web_search", {"query": "add a provider"})
VENDORS = {
    "anthropic": (
        anthropic_messages.MessagesSimulator,
        anthropic_messages,
        "anthropic",
        {"ANTHROPIC_API_KEY": "sk-vendor-0123456789"},
    ),
    "openai": (
        codex_responses.ResponsesSimulator,
        codex_responses,
        "openai",
        {"OPENAI_API_KEY": "sk-vendor-0123456789"},
    ),
    "xai": (
        codex_responses.ResponsesSimulator,
        codex_responses,
        "grok",
        {"XAI_API_KEY": "sk-vendor-0123456789"},
    ),
    "bedrock": (
        bedrock_converse.ConverseSimulator,
        bedrock_converse,
        "bedrock/anthropic.claude-sonnet-4-5-20250929-v1:0",
        {"AWS_BEARER_TOKEN_BEDROCK": bedrock_converse.API_KEY},
    ),
}


@pytest.mark.parametrize("name", VENDORS)
async def test_a_vendors_model_searches_answers_and_goes_on(hermes, name):
    simulator, wire, model, keys = VENDORS[name]
    script = wire.calls(SEARCH), wire.says("One file is enough. [1]"), wire.says("As I said.")
    async with simulator(*script) as server:
        variables = {load(name).base_url_env[0]: server.base_url, **keys}
        answer = (await hermes("chat", "-q", "how?", "-m", model, "--json", **variables)).json()
        assert answer["answer"] == "One file is enough. [1]"
        assert answer["citations"][0]["url"].startswith("hermes://docs/")
        assert (answer["provider"], answer["api_mode"]) == (name, load(name).api_mode)
        assert answer["usage"]["prompt_tokens"] > 0
        again = await hermes("chat", "-c", "-q", "again?", "-m", model, **variables)
        assert (again.code, again.out) == (0, "As I said.\n")
        assert server.refusals == []
    assert not any(key in again.out + again.err for key in keys.values())


@pytest.mark.parametrize("name", ["anthropic", "openai", "xai"])
async def test_a_key_alone_chooses_its_vendor(hermes, name):
    simulator, wire, _, keys = VENDORS[name]
    async with simulator(wire.says("Hello.")) as server:
        outcome = await hermes("chat", "-q", "hi", **{load(name).base_url_env[0]: server.base_url, **keys})
    assert outcome.out == "Hello.\n"
    assert f"`{load(name).key_env[0]}` is set" in outcome.err


@pytest.mark.parametrize("name", ["anthropic", "openai", "xai"])
async def test_a_vendor_without_a_key_says_which_variable_it_needs(hermes, name):
    outcome = await hermes("chat", "-q", "hi", "-m", name)
    assert outcome.code == 2
    assert f"hint: set `{load(name).key_env[0]}`" in outcome.err
