"""What a model's name says on every route, and the dialects of schemas that follow from it."""

import copy

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hermes.protocols import Endpoint, Provider
from hermes.providers.base.families import for_family
from hermes.providers.base.schemas import gemini_schema, kimi_schema, without_paths, without_patterns

DIALECTS = [kimi_schema, gemini_schema, without_patterns, without_paths]


def refined(model, **facts):
    provider = Provider(**{"name": "p", "title": "P", "api_mode": "chat_completions", **facts})
    return for_family(Endpoint(provider=provider, model=model, base_url="http://h/v1")).provider


@pytest.mark.parametrize(
    ("model", "facts"),
    [
        ("kimi-k3", {"temperature": "omit", "dialect": kimi_schema}),
        ("moonshotai/Kimi-K2:free", {"temperature": "omit", "dialect": kimi_schema}),
        ("moonshot-v1-8k", {"temperature": None, "dialect": kimi_schema}),
        ("gpt-4o-mini", {"max_tokens_key": "max_completion_tokens", "temperature": None}),
        ("openai/gpt-4.1", {"max_tokens_key": "max_completion_tokens"}),
        ("gpt-6.1-sol", {"max_tokens_key": "max_completion_tokens", "temperature": "omit"}),
        ("o3-mini", {"max_tokens_key": "max_completion_tokens", "temperature": "omit"}),
        ("o1", {"max_tokens_key": "max_completion_tokens"}),
        ("openai/gpt-oss-120b", {"max_tokens_key": "max_tokens", "temperature": None}),
        ("o3d-llama", {"max_tokens_key": "max_tokens"}),
        ("gpt-4-turbo", {"max_tokens_key": "max_tokens"}),
        ("google/gemini-3-pro", {"echoes": ("extra_content",), "dialect": gemini_schema}),
        ("gemma-4", {"echoes": ("extra_content",), "dialect": None}),
        ("my-codex-llama", {"system_role": "system", "max_tokens_key": "max_tokens", "echoes": ()}),
    ],
)
def test_a_family_is_known_by_the_models_own_name(model, facts):
    provider = refined(model)
    assert {fact: getattr(provider, fact) for fact in facts} == facts


def test_what_the_provider_says_for_itself_wins():
    assert refined("kimi-k3", temperature=0.6).temperature == 0.6
    assert refined("kimi-k3", dialect=without_patterns).dialect is without_patterns


def test_echoes_add_up():
    provider = refined("google/gemini-3-pro", echoes=("reasoning_details",))
    assert provider.echoes == ("reasoning_details", "extra_content")
    again = for_family(Endpoint(provider=provider, model="google/gemini-3-pro", base_url="http://h/v1"))
    assert again.provider.echoes == provider.echoes


def test_other_wires_know_their_families_themselves():
    assert refined("kimi-k3", api_mode="anthropic_messages").temperature is None


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (
            {"properties": {"x": {}}},
            {"type": "object", "required": [], "properties": {"x": {"type": "string"}}},
        ),
        (
            {"type": "string", "anyOf": [{"type": "string"}, {"enum": [1]}]},
            {"anyOf": [{"type": "string"}, {"type": "integer", "enum": [1]}]},
        ),
        ({"items": {"const": True}}, {"type": "array", "items": {"type": "boolean", "const": True}}),
        (
            {"type": "object", "properties": {"type": {"type": "object"}}, "required": ["type"]},
            {
                "type": "object",
                "properties": {"type": {"type": "object", "required": []}},
                "required": ["type"],
            },
        ),
        (
            {"$ref": "#/$defs/a", "$defs": {"a": {}}},
            {"$ref": "#/$defs/a", "$defs": {"a": {"type": "string"}}},
        ),
    ],
)
def test_kimi_gets_a_type_everywhere_and_what_objects_require(given, expected):
    assert kimi_schema(given) == expected


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({"type": "object", "$schema": "s", "additionalProperties": False}, {"type": "object"}),
        ({"type": ["string", "null"]}, {"type": "string", "nullable": True}),
        ({"anyOf": [{"type": "integer"}, {"type": "null"}]}, {"type": "integer", "nullable": True}),
        (
            {"oneOf": [{"type": "integer"}, {"type": "string"}], "description": "d"},
            {"anyOf": [{"type": "integer"}, {"type": "string"}], "description": "d"},
        ),
        ({"const": "a"}, {"type": "string", "enum": ["a"]}),
        ({"enum": [1, 2]}, {"type": "integer"}),
        ({"type": "array"}, {"type": "array", "items": {"type": "string"}}),
        (
            {"type": "object", "properties": {"a": {"$ref": "#/$defs/a"}}, "required": ["a", "b"],
             "$defs": {"a": {"type": "number", "exclusiveMinimum": 0}}},
            {"type": "object", "properties": {"a": {"type": "number"}}, "required": ["a"]},
        ),
        (
            {"type": "object", "properties": {"const": {"type": "string"}, "$ref": {"type": "string"}}},
            {"type": "object", "properties": {"const": {"type": "string"}, "$ref": {"type": "string"}}},
        ),
    ],
)  # fmt: skip
def test_gemini_gets_only_keys_it_knows(given, expected):
    assert gemini_schema(given) == expected


def test_a_schema_that_refers_to_itself_ends():
    schema = {"$ref": "#/$defs/node", "$defs": {"node": {"properties": {"next": {"$ref": "#/$defs/node"}}}}}
    assert gemini_schema(schema)["properties"]["next"]["type"] == "object"


NAMES = st.sampled_from(["q", "pattern", "format", "enum", "type", "anyOf", "properties", "required", "$ref"])
LEAVES = st.sampled_from(
    [{}, {"type": "string", "pattern": "^a"}, {"enum": ["a/b"]}, {"type": ["string", "null"]}, {"const": 1}]
)
SCHEMAS = st.recursive(
    LEAVES,
    lambda inner: st.one_of(
        st.dictionaries(NAMES, inner, max_size=3).map(
            lambda named: {"type": "object", "properties": named, "required": sorted(named)}
        ),
        inner.map(lambda item: {"type": "array", "items": item}),
        st.lists(inner, min_size=2, max_size=3).map(lambda branches: {"anyOf": branches}),
    ),
    max_leaves=8,
)


@pytest.mark.parametrize("dialect", DIALECTS)
@given(schema=SCHEMAS)
def test_a_dialect_changes_no_schema_it_is_given_and_is_at_rest_after_once(dialect, schema):
    before = copy.deepcopy(schema)
    once = dialect(schema)
    assert schema == before
    assert dialect(once) == once


@pytest.mark.parametrize("dialect", DIALECTS)
@given(named=st.dictionaries(NAMES, SCHEMAS, min_size=1, max_size=4))
def test_a_property_keeps_its_name_whatever_it_is_called(dialect, named):
    schema = {"type": "object", "properties": named, "required": sorted(named)}
    assert set(dialect(schema)["properties"]) == set(named)
    assert dialect(schema)["required"] == sorted(named)
