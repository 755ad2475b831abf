"""Lists of models as servers really give them, and what is not one."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hermes.config import Secret
from hermes.errors import InvalidResponse
from hermes.protocols import Endpoint, Provider
from hermes.providers.base.listing import ModelInfo, list_request, parse_models, whose

PROVIDER = Provider(name="acme", title="Acme", api_mode="chat_completions", headers={"x-version": "1"})


def parsed(value):
    return parse_models(json.dumps(value).encode())


def one(**row):
    (model,) = parsed({"data": [{"id": "m", **row}]})
    return model


def test_the_list_is_asked_for_with_the_key_and_the_providers_headers():
    endpoint = Endpoint(provider=PROVIDER, model="", base_url="https://a.example/v1/", api_key=Secret("sk"))
    request = list_request(endpoint, 4)
    assert (request.method, request.url, request.body) == ("GET", "https://a.example/v1/models", b"")
    assert request.headers["Authorization"] == "Bearer sk"
    assert request.headers["x-version"] == "1"
    assert request.deadlines.total == 4


@pytest.mark.parametrize(
    "body",
    [
        {"object": "list", "data": [{"id": "a"}, {"id": "b"}]},
        {"models": [{"name": "a"}, {"model": "b"}]},
        [{"id": "a"}, {"key": "b"}],
        ["a", "b"],
        {"data": [{"id": "a"}, {"id": "b"}, {"id": "a"}, {"id": ""}, {"id": 7}, {}, None, 3]},
    ],
)
def test_every_form_of_a_list_is_read(body):
    assert {model.id for model in parsed(body)} == {"a", "b"}


@pytest.mark.parametrize(
    "body", [b"", b"<html>", b"{}", b'{"data": null}', b'{"data": "x"}', b"3", b"\xff", b'{"error": "no"}']
)
def test_what_is_no_list_is_an_error(body):
    with pytest.raises(InvalidResponse, match="list"):
        parse_models(body)


@pytest.mark.parametrize(
    "row",
    [
        {"context_length": 8192},
        {"context_window": 8192},
        {"max_context_length": 8192},
        {"max_model_len": 8192},
        {"max_input_tokens": 8192},
        {"meta": {"n_ctx_train": 8192}},
        {"top_provider": {"context_length": 8192.0}},
        {"limits": {"max_input_tokens": 8192}},
        {"context_length": None, "context_window": 8192},
    ],
)
def test_a_context_window_is_found_under_its_many_names(row):
    assert one(**row).context_window == 8192


@pytest.mark.parametrize("odd", [0, -1, "8192", True, None, [], {}, 1e300])
def test_an_odd_window_is_none(odd):
    assert one(context_length=odd, meta=odd).context_window is None


@pytest.mark.parametrize(
    ("row", "able"),
    [
        ({}, (None, None, None)),
        ({"supported_parameters": ["tools", "reasoning", "top_p"]}, (True, None, True)),
        ({"supported_parameters": ["top_p"]}, (False, None, False)),
        ({"architecture": {"input_modalities": ["text", "image"]}}, (None, True, None)),
        ({"architecture": {"input_modalities": ["text"]}}, (None, False, None)),
        ({"supported_input_modalities": ["image"], "capabilities": ["tool-calling"]}, (True, True, False)),
        ({"capabilities": {"function_calling": True, "vision": False}}, (True, False, False)),
        ({"capabilities": {"vision": True, "trained_for_tool_use": True}}, (True, True, False)),
        ({"capabilities": ["completion", "tools", "vision", "thinking"]}, (True, True, True)),
        ({"capabilities": {"vision": {"supported": 1}, "tools": {"supported": False}}}, (False, True, False)),
        ({"capabilities": 3, "architecture": "x"}, (False, False, False)),
    ],
)  # fmt: skip
def test_what_a_model_can_do_is_read_where_it_is_said(row, able):
    model = one(**row)
    assert (model.tools, model.images, model.reasoning) == able


@pytest.mark.parametrize(
    ("price", "dollars"),
    [
        ({"prompt": "0.000003", "completion": "0.000015"}, (3.0, 15.0)),
        ({"input": 0.2, "output": 0.6}, (0.2, 0.6)),
        ({"prompt": "-1", "completion": "0"}, (None, 0.0)),
        ({"prompt": "much"}, (None, None)),
        ("free", (None, None)),
    ],
)
def test_a_price_is_for_a_million_tokens(price, dollars):
    model = one(pricing=price)
    assert (model.input_price, model.output_price) == dollars


@pytest.mark.parametrize(
    ("row", "answers"),
    [
        ({"id": "llama3.2:latest"}, True),
        ({"id": "nomic-embed-text:latest"}, False),
        ({"id": "text-embedding-3-small"}, False),
        ({"id": "bge-m3"}, False),
        ({"id": "x", "type": "embeddings"}, False),
        ({"id": "x", "type": "llm"}, True),
    ],
)
def test_an_embedding_model_cannot_answer(row, answers):
    assert one(**row).answers is answers


def test_a_server_tells_whose_it_is():
    names = {"vllm": ("vllm",), "llamacpp": ("llamacpp", "llama.cpp")}
    assert whose(names, "", [ModelInfo(id="m", owner="llamacpp")]) == "llamacpp"
    assert whose(names, "", [ModelInfo(id="m", owner="vllm")]) == "vllm"
    assert whose(names, "llama.cpp", [ModelInfo(id="m")]) == "llamacpp"
    assert whose(names, "uvicorn", [ModelInfo(id="m", owner="someone")]) is None
    assert whose(names, "", []) is None


FIELDS = ["id", "data", "models", "pricing", "prompt", "meta", "n_ctx_train", "capabilities"]
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.sampled_from(FIELDS), inner),
)


@given(JSON)
def test_no_list_breaks_the_reader(value):
    try:
        models = parsed(value)
    except InvalidResponse:
        return
    assert all(isinstance(model.id, str) and model.id for model in models)
