"""Names and settings become an endpoint, or an error that says exactly what is missing."""

import pytest

from hermes.errors import ConfigError, NotConfigured, UnknownName
from hermes.providers.base import Preferences, load, names, resolve, split_model


class Key:
    def __init__(self, value):
        self.value = value

    def reveal(self):
        return self.value


def choose(wanted="", environment=None, **preferences):
    variables = environment or {}
    return resolve(
        wanted, Preferences(**preferences), lambda name: Key(variables[name]) if name in variables else None
    )


BASE = {"CUSTOM_BASE_URL": "http://127.0.0.1:1/v1"}


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("custom/m", ("custom", "m")),
        ("custom:m", ("custom", "m")),
        ("custom/org/m:tag", ("custom", "org/m:tag")),
        ("openai-compatible/m", ("openai-compatible", "m")),
        ("CUSTOM/m", ("CUSTOM", "m")),
        ("scout", ("scout", "")),
        ("org/m", ("", "org/m")),
        ("m", ("", "m")),
    ],
)
def test_a_model_is_named_in_one_word(text, parts):
    assert split_model(text) == parts


def test_an_alias_is_the_provider_itself():
    assert load("openai-compatible") is load("custom")


def test_with_nothing_configured_the_built_in_model_answers():
    choice = choose()
    assert (choice.endpoint.provider.name, choice.endpoint.model, choice.reason) == (
        "scout",
        "scout-1",
        "built in",
    )


def test_a_variable_in_the_environment_is_enough():
    choice = choose(environment=BASE, model="m")
    assert (choice.endpoint.provider.name, choice.endpoint.model) == ("custom", "m")
    assert choice.reason == "`CUSTOM_BASE_URL` is set"
    assert choose("org/m", environment=BASE).endpoint.model == "org/m"


def test_a_base_url_in_the_settings_is_enough():
    choice = choose(base_url="http://h/v1", model="m")
    assert (choice.endpoint.provider.name, choice.endpoint.base_url) == ("custom", "http://h/v1")


def test_what_is_asked_for_wins_over_the_settings():
    choice = choose("scout", environment=BASE, provider="custom", model="m")
    assert (choice.endpoint.provider.name, choice.endpoint.model) == ("scout", "scout-1")
    assert choose("other", environment=BASE, provider="custom", model="m").endpoint.model == "other"


def test_settings_of_one_provider_do_not_leak_into_another():
    settings = {"provider": "scout", "model": "scout-1", "base_url": "http://h/v1", "api_key": Key("k")}
    with pytest.raises(NotConfigured, match="base URL"):
        choose("custom/m", **settings)


def test_a_configured_model_may_name_its_provider():
    choice = choose(environment=BASE, model="custom/m")
    assert (choice.endpoint.provider.name, choice.endpoint.model, choice.reason) == (
        "custom",
        "m",
        "configured",
    )


def test_the_providers_own_variables_win_over_the_settings():
    variables = {**BASE, "CUSTOM_API_KEY": "from-env"}
    endpoint = choose(
        "custom/m", environment=variables, provider="custom", base_url="http://h/v1", api_key=Key("kept")
    ).endpoint
    assert (endpoint.base_url, endpoint.api_key.reveal()) == ("http://127.0.0.1:1/v1", "from-env")
    kept = choose("custom/m", provider="custom", base_url="http://h/v1", api_key=Key("kept")).endpoint
    assert (kept.base_url, kept.api_key.reveal()) == ("http://h/v1", "kept")


def test_the_users_output_limit_wins_over_the_providers():
    assert choose("custom/m", environment=BASE, max_tokens=77).endpoint.provider.max_tokens == 77
    assert load("custom").max_tokens != 77


@pytest.mark.parametrize(
    ("wanted", "options", "error", "words"),
    [
        ("nope/m", {}, UnknownName, "provider `nope`"),
        ("scuot", {}, UnknownName, "model `scuot`"),
        ("scout/big", {}, UnknownName, "model `big`"),
        ("", {"provider": "custm"}, UnknownName, "provider `custm`"),
        ("custom/m", {}, NotConfigured, "base URL"),
        ("custom", {"environment": BASE}, NotConfigured, "no model is named"),
        ("custom/m", {"environment": {"CUSTOM_BASE_URL": "localhost:1"}}, ConfigError, "must start with"),
    ],
)
def test_what_is_wrong_is_said_exactly(wanted, options, error, words):
    with pytest.raises(error, match=words) as caught:
        choose(wanted, **options)
    assert caught.value.hint


def test_near_names_are_offered():
    with pytest.raises(UnknownName) as caught:
        choose("scuot")
    assert "`scout`" in caught.value.hint


def test_the_folder_is_the_registry():
    assert {"custom", "scout"} <= set(names())
