"""What each vendor's models are sent, field by field, built as a run builds it."""

import re

import pytest

from hermes.errors import ConfigError, ProviderDown, RateLimited
from hermes.messages import Image, Message, ToolCall
from hermes.protocols import Endpoint, Request, ToolSpec
from hermes.providers.base import Registry
from simulators.vendors import built, endpoint_of, transport_of

load = Registry().load

THINKING = (
    "thinking", "reasoning", "reasoning_effort", "verbosity", "think", "extra_body", "enable_thinking",
    "reasoning_format", "reasoning_split", "include",
)  # fmt: skip
"""Every field that says something about thinking on the chat wire or the Responses wire."""


def thinking_of(body):
    return {field: body[field] for field in THINKING if field in body}


def google(**config):
    return {"extra_body": {"google": {"thinking_config": config}}}


ON, OFF = {"type": "enabled"}, {"type": "disabled"}
SEALED = {"include": ["reasoning.encrypted_content"]}
GROK = {"summary": "auto"}


@pytest.mark.parametrize(
    ("name", "model", "effort", "expected"),
    [
        ("kimi", "kimi-k3", None, {"thinking": ON}),
        ("kimi", "kimi-k3", "high", {"reasoning_effort": "high"}),
        ("kimi", "kimi-k3", "none", {"thinking": OFF}),
        ("kimi", "kimi-k3", "xhigh", {"thinking": ON}),
        ("kimi-cn", "kimi-k3", "low", {"reasoning_effort": "low"}),
        ("custom", "m", None, {}),
        ("custom", "m", "none", {"reasoning_effort": "none", "think": False}),
        ("custom", "m", "high", {"reasoning_effort": "high"}),
        ("ollama", "qwen3", "none", {"reasoning_effort": "none", "think": False}),
        ("ollama", "qwen3", "low", {"reasoning_effort": "low"}),
        ("openrouter", "anthropic/claude-sonnet-4.6", "high", {"verbosity": "high"}),
        ("openrouter", "anthropic/claude-sonnet-5.5", "minimal", {"verbosity": "low"}),
        ("openrouter", "anthropic/claude-opus-4.7", "none", {}),
        (
            "openrouter",
            "anthropic/claude-sonnet-4.5",
            "high",
            {"reasoning": {"enabled": True, "effort": "high"}},
        ),
        ("openrouter", "openai/gpt-6.1-sol", None, {"reasoning": {"enabled": True, "effort": "medium"}}),
        ("openrouter", "deepseek/deepseek-v4-pro", "none", {"reasoning": {"enabled": False}}),
        ("openrouter", "mistralai/mistral-large", "high", {}),
        ("nous", "Hermes-4-405B", "none", {}),
        ("nous", "Hermes-4-405B", "low", {"reasoning": {"enabled": True, "effort": "low"}}),
        ("deepseek", "deepseek-v4-pro", None, {"thinking": ON}),
        ("deepseek", "deepseek-v4-pro", "xhigh", {"thinking": ON, "reasoning_effort": "max"}),
        ("deepseek", "deepseek-v4-pro", "medium", {"thinking": ON, "reasoning_effort": "medium"}),
        ("deepseek", "deepseek-v4-pro", "none", {"thinking": OFF}),
        ("deepseek", "deepseek-reasoner", None, {"thinking": ON}),
        ("deepseek", "deepseek-chat", "xhigh", {}),
        ("deepseek", "deepseek-v3.2", "high", {}),
        ("zai", "glm-4-9b", "none", {}),
        ("zai", "glm-4-32b-0414", "high", {}),
        ("zai", "glm-4.6", None, {}),
        ("zai", "glm-4.6", "none", {"thinking": OFF}),
        ("zai", "glm-4.5v", "high", {"thinking": ON}),
        ("zai", "z-ai/glm-5p2", "low", {"thinking": ON, "reasoning_effort": "high"}),
        ("zai", "glm-5-2", "xhigh", {"thinking": ON, "reasoning_effort": "max"}),
        ("zai", "glm-5.3", "max", {"thinking": ON, "reasoning_effort": "max"}),
        ("gemini", "gemini-3-pro", "medium", google(include_thoughts=True, thinking_level="low")),
        ("gemini", "gemini-3-pro", "xhigh", google(include_thoughts=True, thinking_level="high")),
        ("gemini", "gemini-3.8-flash", "medium", google(include_thoughts=True, thinking_level="medium")),
        ("gemini", "gemini-2.5-flash", "high", google(include_thoughts=True)),
        ("gemini", "gemini-3-pro", "none", google(include_thoughts=False)),
        ("gemini", "gemini-3-pro", None, {}),
        ("gemini", "gemma-3", "high", {}),
        ("xai", "grok-4", "high", SEALED),
        ("xai", "grok-4.3", "xhigh", {"reasoning": {"effort": "high", **GROK}, **SEALED}),
        ("xai", "grok-4.5", "minimal", {"reasoning": {"effort": "low", **GROK}, **SEALED}),
        ("xai", "grok-4.20-multi-agent-0309", "low", {"reasoning": {"effort": "low", **GROK}, **SEALED}),
        ("xai", "grok-4.20-non-reasoning", "high", {}),
        ("xai", "grok-3-mini", "medium", {"reasoning": {"effort": "low", **GROK}, **SEALED}),
        ("mistral", "mistral-medium-latest", "low", {"reasoning_effort": "high"}),
        ("mistral", "mistral-small-latest", "none", {"reasoning_effort": "none"}),
        ("mistral", "mistral-large-latest", "high", {}),
        ("groq", "openai/gpt-oss-120b", "max", {"reasoning_effort": "high"}),
        ("groq", "qwen/qwen3.8-27b", "none", {"reasoning_format": "parsed", "reasoning_effort": "none"}),
        ("groq", "qwen/qwen3.8-27b", "high", {"reasoning_format": "parsed", "reasoning_effort": "default"}),
        ("groq", "llama-3.3-70b-versatile", "high", {}),
        ("together", "zai-org/GLM-5.3", "none", {"reasoning": {"enabled": False}}),
        ("together", "openai/gpt-oss-120b", "low", {"reasoning_effort": "low"}),
        ("alibaba", "qwen-plus", "none", {"enable_thinking": False}),
        ("alibaba", "qwen-plus", None, {}),
        ("fireworks", "accounts/fireworks/models/glm-5p3", "low", {"reasoning_effort": "high"}),
        ("fireworks", "accounts/fireworks/models/deepseek-v4-pro", "max", {"reasoning_effort": "xhigh"}),
        ("fireworks", "accounts/fireworks/models/kimi-k3", "max", {"reasoning_effort": "high"}),
        ("fireworks", "accounts/fireworks/models/llama-v3p1-8b-instruct", "high", {}),
        ("lmstudio", "qwen3", "max", {"reasoning_effort": "xhigh"}),
        ("ollama-cloud", "gpt-oss:120b", "xhigh", {"reasoning_effort": "max"}),
        ("ollama-cloud", "gpt-oss:120b", "minimal", {}),
        ("perplexity", "sonar-deep-research", "high", {"reasoning_effort": "high"}),
        ("perplexity", "sonar-pro", "high", {}),
        ("vllm", "m", "high", {}),
    ],
)
def test_how_hard_to_think_is_said_in_the_vendors_words(name, model, effort, expected):
    body, _ = built(name, model, effort=effort)
    assert thinking_of(body) == expected


@pytest.mark.parametrize(
    ("name", "model", "asked", "expected"),
    [
        ("nvidia", "", None, {"max_tokens": 16_384}),
        ("qwen", "", None, {"max_tokens": 65_536}),
        ("custom", "llama3", None, {"max_tokens": 65_536}),
        ("kimi", "", None, {"max_tokens": 32_000}),
        ("minimax", "", None, {"max_tokens": 131_072}),
        ("kimi", "", 100, {"max_tokens": 100}),
        ("custom", "o3-mini", 50, {"max_completion_tokens": 50}),
        ("custom", "llama3", 50, {"max_tokens": 50}),
        ("custom", "gpt-oss-120b", 50, {"max_tokens": 50}),
        ("openrouter", "openai/gpt-4.1", 50, {"max_completion_tokens": 50}),
        ("openrouter", "anthropic/claude-sonnet-5.5", 50, {"max_tokens": 50}),
        ("azure", "Mistral-Large-3", 50, {"max_completion_tokens": 50}),
        ("openai", "", 50, {"max_output_tokens": 50}),
        ("codex", "", 50, {}),
        ("vllm", "llama3", None, {}),
    ],
)
def test_the_output_limit_has_the_vendors_name_and_default(name, model, asked, expected):
    body, _ = built(name, model, max_output_tokens=asked)
    names = ("max_tokens", "max_completion_tokens", "max_output_tokens")
    assert {field: body[field] for field in names if field in body} == expected


@pytest.mark.parametrize(
    ("name", "model", "expected"),
    [
        ("kimi", "kimi-k3", None),
        ("openrouter", "moonshotai/kimi-k2", None),
        ("fireworks", "accounts/fireworks/models/kimi-k2p5", None),
        ("custom", "gpt-5", None),
        ("custom", "llama3", 0.2),
        ("mistral", "mistral-large-latest", 0.2),
    ],
)
def test_a_temperature_is_sent_only_where_it_may_be(name, model, expected):
    assert built(name, model, temperature=0.2)[0].get("temperature") == expected


@pytest.mark.parametrize(
    ("name", "model", "role"),
    [
        ("openrouter", "openai/gpt-5", "developer"),
        ("openrouter", "openai/gpt-4.1", "system"),
        ("openrouter", "anthropic/claude-sonnet-5.5", "system"),
        ("azure", "gpt-4o", "system"),
        ("custom", "gpt-5", "system"),
        ("custom", "my-codex-llama", "system"),
    ],
)
def test_instructions_have_the_role_that_the_vendor_gives_them(name, model, role):
    rules, question = Message(role="system", content="Be brief."), Message(role="user", content="why?")
    body, _ = built(name, model, messages=(rules, question))
    assert body["messages"][0]["role"] == role
    assert rules.role == "system"


CALL = ToolCall(
    "call_1", "look", "{}", provider_data={"extra_content": {"google": {"thought_signature": "s"}}}
)
OPAQUE = {"reasoning_content": "hm", "reasoning_details": [{"type": "reasoning.text", "text": "hm"}]}


def history(issuer):
    return (
        Message(role="user", content="why?"),
        Message(role="assistant", tool_calls=(CALL,), provider_data=OPAQUE, issuer=issuer),
        Message(role="tool", tool_call_id="call_1", content="saw"),
    )


@pytest.mark.parametrize(
    ("name", "model", "kept"),
    [
        ("openrouter", "google/gemini-3-pro", {"reasoning_details", "extra_content"}),
        ("openrouter", "anthropic/claude-sonnet-5.5", {"reasoning_details"}),
        ("gemini", "gemini-3-pro", {"extra_content"}),
        ("custom", "gemma-4", {"extra_content"}),
        ("mistral", "mistral-large", set()),
        ("groq", "llama-3.3-70b-versatile", set()),
        ("deepseek", "deepseek-v4-pro", {"reasoning_content"}),
        ("kimi", "kimi-k3", {"reasoning_content"}),
        ("xiaomi", "mimo-v2.6-pro", {"reasoning_content"}),
    ],
)
def test_opaque_data_goes_back_to_those_who_want_it_and_to_nobody_else(name, model, kept):
    body, _ = built(name, model, messages=history(endpoint_of(name, model).issuer))
    message = body["messages"][1]
    keys = set(message) | set(message["tool_calls"][0])
    assert keys & {"reasoning_content", "reasoning_details", "extra_content"} == kept


@pytest.mark.parametrize("name", ["deepseek", "kimi", "xiaomi"])
def test_thoughts_of_another_vendor_become_a_blank(name):
    body, _ = built(name, messages=history("somebody else"))
    assert body["messages"][1]["reasoning_content"] == " "


SCHEMA = {"type": "object", "properties": {"x": {}, "when": {"type": "string", "format": "date"}}}
PICKY = {
    "type": "object",
    "properties": {
        "kind": {"enum": ["a/b", "c"]},
        "unit": {"enum": ["m", "s"]},
        "pattern": {"type": "string", "pattern": "^a"},
    },
    "additionalProperties": False,
}


@pytest.mark.parametrize(
    ("name", "model", "given", "expected"),
    [
        (
            "kimi",
            "kimi-k3",
            SCHEMA,
            {
                "required": [],
                "type": "object",
                "properties": {"x": {"type": "string"}, "when": {"type": "string", "format": "date"}},
            },
        ),
        (
            "openrouter",
            "google/gemini-3-pro",
            PICKY,
            {
                "type": "object",
                "properties": {
                    "kind": {"type": "string", "enum": ["a/b", "c"]},
                    "unit": {"type": "string", "enum": ["m", "s"]},
                    "pattern": {"type": "string", "pattern": "^a"},
                },
            },
        ),
        (
            "xai",
            "grok-4.5",
            PICKY,
            {
                "type": "object",
                "properties": {"kind": {}, "unit": {"enum": ["m", "s"]}, "pattern": {"type": "string"}},
                "additionalProperties": False,
            },
        ),
        (
            "llamacpp",
            "m",
            SCHEMA,
            {"type": "object", "properties": {"x": {}, "when": {"type": "string"}}},
        ),
        ("custom", "llama3", SCHEMA, SCHEMA),
    ],
)
def test_a_tools_schema_is_in_the_models_dialect(name, model, given, expected):
    tool = built(name, model, tools=(ToolSpec("look", "Look.", given),))[0]["tools"][0]
    assert tool.get("function", tool)["parameters"] == expected


def test_ollama_and_custom_servers_are_told_the_window_that_is_set():
    for name in ("ollama", "custom"):
        provider = type(load(name))(**{**_fields(load(name)), "context_window": 8192})
        endpoint = provider.refine(Endpoint(provider=provider, model="m", base_url="http://127.0.0.1:9/v1"))
        request = Request(model="m", messages=(Message(role="user", content="why?"),))
        body = transport_of(endpoint).build_kwargs(request, endpoint.provider)
        assert body["options"] == {"num_ctx": 8192}


def _fields(provider):
    return {field: getattr(provider, field) for field in provider.__struct_fields__}


@pytest.mark.parametrize(
    ("said", "address"),
    [
        ("localhost", "http://localhost:11434/v1"),
        ("127.0.0.1:5000", "http://127.0.0.1:5000/v1"),
        ("0.0.0.0", "http://127.0.0.1:11434/v1"),
        (":5000", "http://127.0.0.1:5000/v1"),
        ("[::1]:5000", "http://[::1]:5000/v1"),
        ("http://box:11434", "http://box:11434/v1"),
        ("https://ollama.example/", "https://ollama.example:443/v1"),
        ("http://box:11434/v1/", "http://box:11434/v1"),
        ("http://box/proxy", "http://box:80/proxy/v1"),
    ],
)
def test_ollamas_host_is_read_as_ollama_reads_it(said, address):
    assert endpoint_of("ollama", "m", base_url=said).base_url == address


@pytest.mark.parametrize("name", ["ollama", "custom", "azure", "nvidia"])
@pytest.mark.parametrize("said", ["http://h:port/v1", "http://[::1/v1"])
def test_an_address_that_is_none_is_said_to_be_none(name, said):
    with pytest.raises(ConfigError, match="cannot be read") as caught:
        endpoint_of(name, "m", base_url=said)
    assert caught.value.hint


@pytest.mark.parametrize(
    ("name", "address", "listed"),
    [
        ("anthropic", "", "https://api.anthropic.com/v1/models"),
        ("minimax", "", "https://api.minimax.io/anthropic/v1/models"),
        ("minimax", "https://h/v1", "https://h/v1/models"),
        ("custom", "https://h/anthropic/v1", "https://h/anthropic/v1/models"),
        ("deepseek", "https://h/anthropic", "https://h/anthropic/v1/models"),
        ("openrouter", "", "https://openrouter.ai/api/v1/models"),
    ],
)
def test_models_are_listed_where_the_wire_has_its_list(name, address, listed):
    endpoint = endpoint_of(name, base_url=address)
    assert endpoint.base_url + endpoint.provider.models_path == listed


@pytest.mark.parametrize(
    ("name", "model", "address", "key", "mode", "base_url"),
    [
        ("kimi", "kimi-k3", "", "sk-1", "chat_completions", "https://api.moonshot.ai/v1"),
        ("kimi", "kimi-k3", "", "sk-kimi-1", "anthropic_messages", "https://api.kimi.com/coding"),
        ("kimi", "kimi-k3", "https://h/v1", "sk-kimi-1", "chat_completions", "https://h/v1"),
        ("deepseek", "m", "https://h/anthropic", "k", "anthropic_messages", "https://h/anthropic"),
        ("custom", "m", "https://h/anthropic/v1", "k", "anthropic_messages", "https://h/anthropic/v1"),
        ("minimax", "MiniMax-M3", "", "k", "anthropic_messages", "https://api.minimax.io/anthropic"),
        ("minimax", "MiniMax-M3", "https://h/v1", "k", "chat_completions", "https://h/v1"),
        ("azure", "gpt-4o", "https://r.openai.azure.com", "k", "chat_completions",
         "https://r.openai.azure.com/openai/v1"),
        ("azure", "gpt-6.1-sol", "https://r.openai.azure.com/openai", "k", "codex_responses",
         "https://r.openai.azure.com/openai/v1"),
        ("azure", "o3-mini", "https://r.services.ai.azure.com/models?api-version=2024-05-01", "k",
         "codex_responses", "https://r.services.ai.azure.com/openai/v1"),
        ("azure", "claude-opus-5-5", "https://r.services.ai.azure.com/anthropic", "k", "anthropic_messages",
         "https://r.services.ai.azure.com/anthropic"),
        ("azure", "gpt-4o", "https://gateway.example/openai", "k", "chat_completions",
         "https://gateway.example/openai"),
    ],
)  # fmt: skip
def test_the_address_the_key_and_the_model_choose_the_wire(name, model, address, key, mode, base_url):
    endpoint = endpoint_of(name, model, base_url=address, key=key)
    assert (endpoint.provider.api_mode, endpoint.base_url) == (mode, base_url)


def test_the_coding_plan_has_a_model_of_its_own():
    assert endpoint_of("kimi", key="sk-kimi-1").model == "kimi-for-coding"
    assert endpoint_of("kimi", "k3", key="sk-kimi-1").model == "k3"


UNSIGNED, SIGNED = (
    {"type": "thinking", "thinking": ""},
    {"type": "thinking", "thinking": "hm", "signature": "s"},
)


@pytest.mark.parametrize(
    ("name", "address", "key"),
    [
        ("kimi", "", "sk-kimi-1"),
        ("deepseek", "https://api.deepseek.com/anthropic", "k"),
        ("custom", "https://h/anthropic", "k"),
        ("minimax", "", "k"),
    ],
)
def test_over_messages_ones_own_unsigned_thoughts_go_back_and_those_of_others_do_not(name, address, key):
    at = {"base_url": address, "key": key}
    me = endpoint_of(name, "m", **at).issuer

    def kinds(block, issuer):
        data = {"anthropic_content_blocks": [block, {"type": "text", "text": "so"}]}
        said = Message(role="assistant", content="so", provider_data=data, issuer=issuer)
        messages = (Message(role="user", content="why?"), said, Message(role="user", content="and?"))
        body, _ = built(name, "m", messages=messages, **at)
        return [block["type"] for block in body["messages"][1]["content"]]

    assert kinds(UNSIGNED, me) == ["thinking", "text"]
    assert kinds(SIGNED, "anthropic api.anthropic.com anthropic_messages") == ["text"]


def test_a_dated_azure_address_names_the_deployment():
    address = "https://r.openai.azure.com/openai/deployments/mine?api-version=2024-10-21"
    endpoint = endpoint_of("azure", "gpt-4o", base_url=address)
    assert (endpoint.model, endpoint.base_url) == ("mine", "https://r.openai.azure.com/openai/v1")


@pytest.mark.parametrize("name", ["custom", "deepseek"])
def test_a_messages_address_gets_the_headers_and_nothing_of_the_chat_wire(name):
    body, headers = built(name, "m", base_url="https://h/anthropic", effort="none")
    assert headers["anthropic-version"] == "2023-06-01"
    assert headers["x-api-key"] == "sk-test"
    assert not {"think", "thinking", "reasoning_effort", "options"} & set(body)


def test_a_key_is_sent_as_the_vendor_wants_it():
    assert built("minimax")[1]["Authorization"] == "Bearer sk-test"
    assert built("azure", "gpt-4o")[1]["api-key"] == "sk-test"
    assert "Authorization" not in built("ollama", "m")[1]
    assert built("gemini")[1]["Authorization"] == "Bearer sk-test"


@pytest.mark.parametrize(
    ("name", "model", "header"),
    [
        ("xai", "grok-4.5", "x-grok-conv-id"),
        ("openrouter", "x-ai/grok-4.7", "x-grok-conv-id"),
        ("codex", "", "session_id"),
        ("codex", "", "x-client-request-id"),
    ],
)
def test_a_conversation_is_kept_together(name, model, header):
    assert built(name, model, session_id="s1")[1][header] == "s1"
    assert header not in built(name, model)[1]


def test_a_long_session_id_is_shortened_for_codex():
    headers = built("codex", session_id="s" * 80)[1]
    assert len(headers["session_id"]) <= 64
    assert headers["session_id"] == built("codex", session_id="s" * 80)[1]["session_id"]
    assert headers["session_id"] != built("codex", session_id="s" * 81)[1]["session_id"]


def test_nvidias_own_service_is_told_who_calls_and_other_servers_are_not():
    assert built("nvidia")[1]["X-BILLING-INVOKE-ORIGIN"] == "hermes"
    assert "X-BILLING-INVOKE-ORIGIN" not in built("nvidia", base_url="http://127.0.0.1:9/v1")[1]


def test_openrouter_is_told_the_product_and_the_session():
    body, headers = built("openrouter", session_id="s1")
    assert headers["X-Title"] == "Hermes"
    assert body["session_id"] == "s1"


def test_nous_is_told_the_product_and_the_conversation():
    assert built("nous", effort="none")[0]["tags"] == ["product=hermes"]
    assert built("nous", session_id="s1")[0]["tags"] == ["product=hermes", "conversation=s1"]


def test_qwen_gets_parts_a_mark_and_its_metadata():
    rules, question = Message(role="system", content="Be brief."), Message(role="user", content="why?")
    body, _ = built("qwen", messages=(rules, question), session_id="s1")
    mark = {"cache_control": {"type": "ephemeral"}}
    assert body["messages"] == [
        {"role": "system", "content": [{"type": "text", "text": "Be brief.", **mark}]},
        {"role": "user", "content": [{"type": "text", "text": "why?"}]},
    ]
    assert body["vl_high_resolution_images"] is True
    assert body["metadata"] == {"sessionId": "s1", "promptId": "s1-1"}
    assert "metadata" not in built("qwen")[0]


@pytest.mark.parametrize(
    ("name", "model", "is_marked"),
    [
        ("openrouter", "anthropic/claude-sonnet-5.5", True),
        ("openrouter", "moonshotai/kimi-k3", True),
        ("openrouter", "openai/gpt-6.1-sol", False),
        ("nous", "qwen/qwen3.8-max", True),
        ("nous", "Hermes-4-405B", False),
        ("alibaba", "qwen-plus", True),
        ("alibaba", "deepseek-v4-pro", False),
        ("minimax", "MiniMax-M3", True),
        ("deepseek", "deepseek-v4-pro", False),
    ],
)
def test_prompt_caches_are_marked_where_marks_are_read(name, model, is_marked):
    body, _ = built(name, model)
    assert ("cache_control" in str(body["messages"])) is is_marked


def test_mistral_gets_ids_of_nine_letters_and_digits_that_stay_the_same():
    body, _ = built("mistral", messages=history(""))
    call, result = body["messages"][1]["tool_calls"][0], body["messages"][2]
    assert re.fullmatch(r"[a-zA-Z0-9]{9}", call["id"])
    assert result["tool_call_id"] == call["id"]
    assert built("mistral", messages=history(""))[0] == body


def test_mistral_gets_no_question_right_after_a_result():
    body, _ = built("mistral", messages=(*history(""), Message(role="user", content="well?")))
    assert [message["role"] for message in body["messages"]] == [
        "user",
        "assistant",
        "tool",
        "assistant",
        "user",
    ]


def test_mistral_is_not_asked_to_count_while_it_streams():
    assert "stream_options" not in built("mistral", stream=True)[0]


def test_perplexity_gets_no_tools_and_is_told_what_they_did():
    tool = ToolSpec("look", "Look.", {"type": "object", "properties": {}})
    body, _ = built("perplexity", messages=history(""), tools=(tool,), tool_choice="required")
    assert not {"tools", "tool_choice"} & set(body)
    assert body["messages"][1:] == [
        {"role": "assistant", "content": "(called look)"},
        {"role": "user", "content": "The result of a tool:\nsaw"},
    ]


def test_grok_searches_by_itself_and_keeps_the_other_tools():
    tools = tuple(ToolSpec(name, "Do.", {"type": "object"}) for name in ("web_search", "web_extract"))
    body, _ = built("xai", tools=tools)
    assert body["tools"][0] == {"type": "web_search"}
    assert body["tools"][1]["name"] == "web_extract"
    assert "service_tier" not in body


def test_the_responses_cache_is_the_same_for_the_same_tools_in_any_order():
    one, two = (ToolSpec(name, "Do.", {"type": "object"}) for name in ("a", "b"))
    first, _ = built("openai", tools=(one, two), session_id="s1")
    second, _ = built("openai", tools=(two, one), session_id="s2")
    assert first["prompt_cache_key"] == second["prompt_cache_key"]


def test_minimax_over_chat_keeps_thoughts_apart_and_lets_its_newest_models_decide():
    at = {"base_url": "https://api.minimax.io/v1"}
    adaptive = {"thinking": {"type": "adaptive"}, "reasoning_split": True}
    assert thinking_of(built("minimax", "MiniMax-M3", effort="high", **at)[0]) == adaptive
    assert thinking_of(built("minimax", "MiniMax-M3", effort="none", **at)[0])["thinking"] == OFF
    assert thinking_of(built("minimax", "MiniMax-M2.7", effort="high", **at)[0]) == {"reasoning_split": True}
    assert "anthropic-version" not in built("minimax", "MiniMax-M3", **at)[1]


def test_a_deepseek_model_without_eyes_is_told_that_there_was_a_picture():
    seen = Message(role="user", content="what?", images=(Image("image/png", "QUJD"),))
    assert isinstance(
        built("deepseek", "deepseek-v4-pro", messages=(seen,))[0]["messages"][0]["content"], str
    )
    assert isinstance(
        built("deepseek", "deepseek-v4.1-flash", messages=(seen,))[0]["messages"][0]["content"], list
    )


def test_an_overload_of_zai_is_no_quota():
    transport, body = transport_of(endpoint_of("zai")), b'{"error":{"code":"1305","message":"busy"}}'
    assert isinstance(transport.read_error(429, body, None, load("zai").codes), ProviderDown)
    assert isinstance(transport.read_error(429, body), RateLimited)
