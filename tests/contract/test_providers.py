"""Every file under `providers/`: a value that is whole, unique, and makes requests that its wire accepts."""

import re
from collections import Counter
from contextlib import AsyncExitStack
from pathlib import Path

import pytest

import hermes.providers
from hermes.agent.send import ModelClient
from hermes.messages import Image, Message, with_ids
from hermes.net.client import Client
from hermes.net.retry import RetryPolicy
from hermes.protocols import Provider, Request, ToolSpec
from hermes.providers.base import Registry
from simulators import anthropic_messages, bedrock_converse, chat_completions, codex_responses
from simulators.vendors import KEY, endpoint_of, transport_of

load = Registry().load
ALL = Registry().names()
FOLDER = Path(hermes.providers.__path__[0])
SERVERS = [name for name in ALL if load(name).engine is None]
MODELS_TO_TRY = {
    "azure-foundry": ("gpt-4o", "gpt-6.1-sol", "Mistral-Large-3"),
    "bedrock": ("anthropic.claude-sonnet-4-5-20250929-v1:0", "amazon.nova-pro-v1:0"),
    "custom": ("some-model", "gpt-5", "kimi-k3", "gemini-3-pro"),
    "deepseek": ("deepseek-chat", "deepseek-v4.1-flash"),
    "gemini": ("gemma-3",),
    "openrouter": ("anthropic/claude-sonnet-4.5", "openai/gpt-4.1", "deepseek/deepseek-v4-pro"),
}
"""Models beside those that a file lists, where other names mean other rules."""
FIELDS = {
    "alibaba": {"enable_thinking"},
    "custom": {"think", "options"},
    "deepseek": {"thinking"},
    "gemini": {"extra_body"},
    "groq": {"reasoning_format", "reasoning_effort"},
    "kimi-coding": {"thinking"},
    "kimi-coding-cn": {"thinking"},
    "nous": {"tags", "reasoning"},
    "ollama": {"think", "options"},
    "openrouter": {"reasoning", "verbosity", "session_id"},
    "qwen-oauth": {"vl_high_resolution_images", "metadata"},
    "together": {"reasoning"},
    "zai": {"thinking"},
}
"""The fields of a chat request that a vendor documents beside the protocol's."""
LOOK = ToolSpec(
    "look",
    "Look it up.",
    {
        "type": "object",
        "properties": {"q": {"type": "string", "pattern": "^a"}, "any": {}},
        "required": ["q"],
    },
)
PICTURE = Image("image/png", "QUJD")
TURNS = 4


@pytest.mark.parametrize("name", ALL)
def test_the_value_is_whole(name):
    provider = load(name)
    assert isinstance(provider, Provider)
    assert provider.title
    assert provider.engine or provider.base_url_env, "a server's address can always be overridden"
    assert not provider.key_required or provider.key_env
    assert (
        not provider.base_url or provider.base_url.startswith("https://") or "127.0.0.1" in provider.base_url
    )
    assert not provider.base_url.endswith("/")
    assert provider.default_model == (provider.models[0] if provider.models else "")
    assert all(variable.isupper() for variable in (*provider.base_url_env, *provider.key_env))


@pytest.mark.parametrize("name", ALL)
def test_the_file_has_the_providers_name(name):
    module = name.replace("-", "_")
    assert load(name).name == name
    assert (FOLDER / f"{module}.py").is_file() or (FOLDER / module / "__init__.py").is_file()


def test_names_and_aliases_and_variables_have_one_owner():
    providers = [load(name) for name in ALL]
    words = Counter(word for provider in providers for word in (provider.name, *provider.aliases))
    variables = Counter(
        variable for provider in providers for variable in (*provider.base_url_env, *provider.key_env)
    )
    assert not Registry().problems
    assert [word for word, owners in (words + variables).items() if owners > 1] == []


def test_a_token_that_is_set_for_other_reasons_chooses_nobody():
    for variable in ("HF_TOKEN", "GITHUB_TOKEN", "AWS_BEARER_TOKEN_BEDROCK"):
        owner = next(load(name) for name in ALL if variable in load(name).key_env)
        assert owner.rank == 0


@pytest.mark.parametrize("name", SERVERS)
def test_refining_twice_is_refining_once(name):
    once = endpoint_of(name)
    refine = once.provider.refine
    again = refine(once) if refine else once
    assert (again.base_url, again.model, again.provider.api_mode) == (
        once.base_url,
        once.model,
        once.provider.api_mode,
    )
    assert again.provider.headers == once.provider.headers


def test_what_the_manual_says_of_providers_is_so():
    guides = Path(__file__).parents[2] / "docs" / "guides"
    page = "".join((guides / name).read_text(encoding="utf-8") for name in ("keys.md", "local-models.md"))
    rows = re.findall(r"^- `([\w-]+)`(?: \(also (.+?)\))? is (.+?): (.+)\.$", page, re.M)
    assert len(rows) > 20
    for name, aliases, title, facts in rows:
        provider = load(name)
        assert provider.title == title
        assert tuple(re.findall(r"`(.+?)`", aliases)) == provider.aliases
        variables = tuple(re.findall(r"`([A-Z_]+)`", facts))
        assert variables == provider.key_env + (() if provider.key_required else provider.base_url_env)
        assert re.findall(r"default model `(.+?)`", facts) == list(provider.models[:1])


def simulator_for(endpoint):
    """The strict server of the endpoint's wire. Its models think, call a tool, and answer twice."""
    provider = endpoint.provider
    match provider.api_mode:
        case "chat_completions":
            extras = chat_completions.Extras(
                fields=frozenset(FIELDS.get(provider.name, ())),
                echoes=frozenset(provider.echoes),
                roles=frozenset({provider.system_role} - {"system"}),
                parts=provider.caches or provider.prepare is not None,
            )
            details = [{"type": "reasoning.text", "text": "hm", "signature": "s"}]
            thought = {"reasoning_content": "hm", "reasoning_details": details}
            seal = {"google": {"thought_signature": "sealed"}}
            return chat_completions.ChatSimulator(
                chat_completions.says("hello"),
                chat_completions.calls(("look", {"q": "a"}), seal=seal, **thought),
                chat_completions.says("found", **thought),
                chat_completions.says("seen"),
                extras=extras,
            )
        case "anthropic_messages":
            wire = anthropic_messages
            thought = wire.thinks("hm")
            return wire.MessagesSimulator(
                wire.says("hello"),
                wire.answers(thought, wire.uses("look", {"q": "a"})),
                wire.answers(thought, wire.text("found")),
                wire.says("seen"),
                bearer=provider.auth_style == "bearer",
            )
        case "codex_responses":
            wire = codex_responses
            return wire.ResponsesSimulator(
                wire.says("hello"),
                wire.calls(("look", {"q": "a"}), thought="hm"),
                wire.says("found", thought="hm"),
                wire.says("seen"),
            )
        case "bedrock_converse":
            wire = bedrock_converse
            return wire.ConverseSimulator(
                wire.says("hello"),
                wire.calls(("look", {"q": "a"}), before=[wire.thought("hm")]),
                wire.answers(wire.thought("hm"), {"text": "found"}),
                wire.says("seen"),
            )


def requests(history):
    """What is asked in each turn: plainly, with a tool and thinking, with its result, and with a picture."""
    history.append(Message(role="user", content="hi"))
    yield {}
    history.append(Message(role="user", content="look it up"))
    yield {"tools": (LOOK,), "effort": "high", "max_output_tokens": 5000, "session_id": "s" * 80}
    call = history[-1].tool_calls[0]
    history.append(Message(role="tool", tool_call_id=call.id, content="saw a"))
    yield {"tools": (LOOK,), "effort": "high", "temperature": 0.2, "session_id": "s" * 80}
    history.append(Message(role="user", content="and this?", images=(PICTURE,)))
    yield {"tools": (LOOK,), "effort": "none"}


async def converse(name, model, *, stream):
    """A conversation of four turns in which the provider's own opaque data is sent back to it."""
    planned = endpoint_of(name, model)
    key = bedrock_converse.API_KEY if planned.provider.api_mode == "bedrock_converse" else KEY
    async with simulator_for(planned) as server, AsyncExitStack() as stack:
        endpoint = endpoint_of(name, model, base_url=server.base_url, key=key)
        assert endpoint.provider.api_mode == planned.provider.api_mode
        client = Client(retry=RetryPolicy(attempts=1), environ={})
        stack.push_async_callback(client.close)
        model_client = ModelClient(endpoint, transport_of(endpoint), client)
        history = [Message(role="system", content="Be brief.")]
        for fields in requests(history):
            request = Request(messages=tuple(history), stream=stream, **fields)
            reply = await model_client.send(request, lambda event: None)
            history.append(
                Message(
                    role="assistant",
                    content=reply.content,
                    tool_calls=with_ids(reply.tool_calls or ()),
                    provider_data=reply.provider_data,
                    issuer=endpoint.issuer,
                )
            )
        return server


@pytest.mark.parametrize("stream", [True, False], ids=["streamed", "whole"])
@pytest.mark.parametrize(
    ("name", "model"),
    [
        (name, model)
        for name in SERVERS
        for model in (*load(name).models, *MODELS_TO_TRY.get(name, ())) or ("some-model",)
    ],
)
async def test_its_wire_accepts_text_tools_thinking_and_pictures(name, model, stream):
    server = await converse(name, model, stream=stream)
    assert server.refusals == []
    assert len(server.bodies) == TURNS


@pytest.mark.parametrize("name", [name for name in SERVERS if load(name).echoes])
async def test_what_it_wants_back_comes_back(name):
    provider = load(name)
    server = await converse(name, provider.default_model, stream=True)
    asked = next(message for message in server.bodies[2]["messages"] if message.get("tool_calls"))
    assert set(provider.echoes) <= set(asked)
