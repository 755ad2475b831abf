"""Names and settings become an endpoint, or an error that says exactly what is missing."""

import pytest

from hermes.config import Secret
from hermes.errors import ConfigError, NotConfigured, UnknownName, UsageError
from hermes.providers.base import Keys, LocalServer, Preferences, Registry, Resolver

REGISTRY = Registry()
load = REGISTRY.load


def choose(wanted="", environment=None, registry=REGISTRY, servers=(), **preferences):
    variables = environment or {}

    def keys(name):
        return Keys(name, Secret(variables[name]).split()) if name in variables else None

    return Resolver(registry, Preferences(**preferences), variables.get, keys, servers).choose(wanted)


def key(text):
    return Keys("model.api_key", Secret(text).split())


@pytest.fixture
def with_files(tmp_path):
    """A registry with more providers, each a file in a home: its name and its fields."""

    def write(**files):
        folder = tmp_path / "providers"
        folder.mkdir(exist_ok=True)
        for name, fields in files.items():
            (folder / f"{name}.py").write_text(
                "from hermes.protocols import Provider\n"
                f"PROVIDER = Provider(name={name.replace('_', '-')!r}, title='T', "
                f"api_mode='chat_completions', {fields})\n"
            )
        return Registry(str(tmp_path))

    return write


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
    assert REGISTRY.split_model(text) == parts


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
    settings = {"provider": "scout", "model": "scout-1", "base_url": "http://h/v1", "api_key": key("k")}
    with pytest.raises(NotConfigured, match="base URL"):
        choose("custom/m", **settings)


def test_a_configured_model_may_name_its_provider():
    choice = choose(environment=BASE, model="custom/m")
    assert (choice.endpoint.provider.name, choice.endpoint.model, choice.reason) == (
        "custom",
        "m",
        "configured",
    )


def test_a_key_in_the_settings_wins_over_the_providers_variables():
    variables = {**BASE, "CUSTOM_API_KEY": "from-env"}
    endpoint = choose(
        "custom/m", environment=variables, provider="custom", base_url="http://h/v1", api_key=key("kept")
    ).endpoint
    assert (endpoint.base_url, endpoint.api_key.reveal()) == ("http://127.0.0.1:1/v1", "kept")
    other = choose("custom/m", environment=variables, provider="scout", api_key=key("kept")).endpoint
    assert other.api_key.reveal() == "from-env"


def test_a_key_of_nobody_in_particular_is_not_sent_to_a_vendor_that_nobody_named():
    choice = choose(environment={"OPENAI_API_KEY": "sk-own"}, api_key=key("whose"))
    assert (choice.endpoint.provider.name, choice.endpoint.api_key.reveal()) == ("openai", "sk-own")
    named = choose("openai", environment={"OPENAI_API_KEY": "sk-own"}, api_key=key("whose"))
    assert named.endpoint.api_key.reveal() == "whose"


def test_a_variable_may_hold_several_keys():
    endpoint = choose("openai", environment={"OPENAI_API_KEY": " a, b ,,c,"}).endpoint
    assert endpoint.api_key.reveal() == "a"
    assert [spare.reveal() for spare in endpoint.spare_keys] == ["b", "c"]


def test_the_variables_of_a_key_are_tried_in_order(with_files):
    registry = with_files(
        acme="base_url='https://acme.example', key_env=('A_KEY', 'B_KEY'), default_model='m'"
    )
    assert choose("acme", {"B_KEY": "b"}, registry).endpoint.api_key.reveal() == "b"
    assert choose("acme", {"B_KEY": "b", "A_KEY": "a"}, registry).endpoint.api_key.reveal() == "a"


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
    assert {"custom", "scout"} <= set(REGISTRY.names())


MODELS = {
    "acme": "aliases=('ac', 'a.c'), base_url='http://127.0.0.1:1/v1', key_required=False, "
    "default_model='one', models=('one', 'org/two', 'shared')",
    "bold_ai": "base_url='http://127.0.0.1:2/v1', key_required=False, models=('shared', 'big')",
}


@pytest.mark.parametrize(
    ("wanted", "chosen"),
    [
        ("acme/one", ("acme", "one")),
        ("acme:one", ("acme", "one")),
        ("acme", ("acme", "one")),
        ("ACME", ("acme", "one")),
        ("ac", ("acme", "one")),
        ("a.c/x", ("acme", "x")),
        ("ac:x/y:z", ("acme", "x/y:z")),
        ("one", ("acme", "one")),
        ("org/two", ("acme", "org/two")),
        ("big", ("bold-ai", "big")),
        ("bold-ai/big", ("bold-ai", "big")),
        ("bold_ai/big", ("bold-ai", "big")),
        ("bold-ai/shared", ("bold-ai", "shared")),
    ],
)
def test_every_way_to_name_a_model_means_the_same_everywhere(with_files, wanted, chosen):
    registry = with_files(**MODELS)
    asked, set_up = choose(wanted, registry=registry), choose(registry=registry, model=wanted)
    assert (asked.endpoint.provider.name, asked.endpoint.model) == chosen
    assert asked.endpoint == set_up.endpoint
    assert (asked.reason, set_up.reason) == ("asked for", "configured")


def test_a_model_that_several_list_is_an_error_that_names_them(with_files):
    registry = with_files(**MODELS)
    with pytest.raises(UsageError, match="`shared` is listed by `acme` and `bold-ai`") as caught:
        choose("shared", registry=registry)
    assert caught.value.hint == "name one, as in `acme/shared`"
    configured = choose("shared", registry=registry, provider="bold-ai").endpoint
    assert configured.provider.name == "bold-ai"


def test_a_bare_model_is_one_of_the_configured_provider_unless_only_another_lists_it(with_files):
    registry = with_files(**MODELS)
    assert choose("big", BASE, registry, provider="custom").endpoint.provider.name == "custom"
    assert choose("big", registry=registry, provider="acme").endpoint.provider.name == "bold-ai"
    assert choose("new", registry=registry, provider="acme").endpoint.provider.name == "acme"


def test_the_lowest_rank_is_chosen_and_zero_never(with_files):
    common = "base_url='https://x.example', default_model='m', key_env=({!r},), rank={}"
    registry = with_files(
        zeta=common.format("Z_KEY", 5), acme=common.format("A_KEY", 6), never=common.format("N_KEY", 0)
    )
    keys = {"A_KEY": "a", "Z_KEY": "z", "N_KEY": "n"}
    assert choose(environment=keys, registry=registry).reason == "`Z_KEY` is set"
    assert choose(environment={"N_KEY": "n"}, registry=registry).reason == "built in"
    assert choose("never", environment=keys, registry=registry).endpoint.model == "m"


LOCAL = "base_url='http://127.0.0.1:1/v1', base_url_env=('LOCAL_URL',), key_required=False"
SERVER = LocalServer("near", "http://127.0.0.1:1/v1", ("llama", "other"))


def test_a_server_on_this_machine_comes_after_keys_and_before_scout(with_files):
    registry = with_files(near=LOCAL)
    found = choose(registry=registry, servers=[SERVER])
    assert (found.endpoint.provider.name, found.endpoint.model) == ("near", "llama")
    assert found.reason == "found at http://127.0.0.1:1/v1"
    assert choose("other", registry=registry, servers=[SERVER]).endpoint.model == "other"
    with pytest.raises(UnknownName):
        choose("new", registry=registry, servers=[SERVER])
    with_key = choose(environment={"OPENAI_API_KEY": "k"}, registry=registry, servers=[SERVER])
    assert with_key.endpoint.provider.name == "openai"
    for explicit in ({"provider": "scout"}, {"model": "scout"}, {"base_url": "http://h/v1", "model": "m"}):
        assert choose(registry=registry, servers=[SERVER], **explicit).endpoint.provider.name != "near"
    assert choose("scout", registry=registry, servers=[SERVER]).endpoint.provider.name == "scout"


def test_a_variable_that_moves_a_local_server_elsewhere_offers_it(with_files):
    registry = with_files(near=LOCAL)
    assert choose(environment={"LOCAL_URL": "http://127.0.0.1:9/v1"}, registry=registry).reason == "built in"
    away = choose(environment={"LOCAL_URL": "http://10.0.0.9/v1"}, registry=registry, model="m")
    assert (away.endpoint.base_url, away.reason) == ("http://10.0.0.9/v1", "`LOCAL_URL` is set")
    nameless = choose(environment={"LOCAL_URL": "http://10.0.0.9/v1"}, registry=registry)
    assert nameless.reason == "built in", "there is no model to ask it for"


def test_only_this_machine_is_ever_looked_at(with_files):
    registry = with_files(near=LOCAL, far="base_url='https://far.example', base_url_env=('FAR_URL',)")

    def looked_at(**variables):
        resolver = Resolver(registry, Preferences(), variables.get, lambda _name: None)
        return [endpoint.base_url for endpoint in resolver.local()]

    assert "http://127.0.0.1:1/v1" in looked_at()
    assert "http://localhost:7/v1" in looked_at(LOCAL_URL="http://localhost:7/v1")
    assert "http://10.0.0.9/v1" not in looked_at(LOCAL_URL="http://10.0.0.9/v1")
    assert "http://127.0.0.1.evil.example/v1" not in looked_at(LOCAL_URL="http://127.0.0.1.evil.example/v1")
    assert "http://127.0.0.1:8/v1" not in looked_at(FAR_URL="http://127.0.0.1:8/v1")


REFINING = """
import msgspec
from hermes.protocols import Provider

def _refine(endpoint):
    provider = msgspec.structs.replace(endpoint.provider, api_mode="anthropic_messages", max_tokens=5)
    url = endpoint.base_url if "://" in endpoint.base_url else f"http://{endpoint.base_url}/v1"
    return msgspec.structs.replace(endpoint, provider=provider, base_url=url)

PROVIDER = Provider(
    name="acme", title="A", api_mode="chat_completions", base_url="https://acme.example/v1",
    base_url_env=("ACME_HOST",), key_required=False, default_model="m", refine=_refine,
)
"""


def test_a_provider_refines_its_endpoint_before_the_address_is_judged(tmp_path):
    (tmp_path / "providers").mkdir()
    (tmp_path / "providers" / "acme.py").write_text(REFINING)
    registry = Registry(str(tmp_path))
    endpoint = choose("acme", {"ACME_HOST": "127.0.0.1:7"}, registry).endpoint
    assert (endpoint.base_url, endpoint.provider.api_mode) == ("http://127.0.0.1:7/v1", "anthropic_messages")
    assert endpoint.provider.max_tokens == 5
    set_up = choose("acme", registry=registry, max_tokens=7, context_window=9).endpoint.provider
    assert (set_up.max_tokens, set_up.context_window) == (7, 9)


def test_a_choice_knows_the_providers_own_hosts():
    assert choose("openai", {"OPENAI_API_KEY": "k", "OPENAI_BASE_URL": "http://h/v1"}).own_hosts == (
        "api.openai.com",
    )
    assert choose("custom/m", BASE).own_hosts == ()


def test_an_address_in_the_settings_wins_over_a_key_in_the_environment():
    choice = choose(
        environment={"ANTHROPIC_API_KEY": "k"}, base_url="http://h/v1", model="m", api_key=key("mine")
    )
    assert (choice.endpoint.provider.name, choice.reason) == ("custom", "`model.base_url` is set")
    assert choice.endpoint.api_key.reveal() == "mine"


def test_a_stand_in_gets_no_address_and_no_key_that_was_set_for_another():
    def stands_in(**preferences):
        variables = {"OPENAI_API_KEY": "sk-own"}
        keys = {"OPENAI_API_KEY": Keys("OPENAI_API_KEY", (Secret("sk-own"),))}
        resolver = Resolver(REGISTRY, Preferences(**preferences), variables.get, keys.get)
        endpoint = resolver.choose_stand_in("openai/m").endpoint
        return endpoint.base_url, endpoint.api_key.reveal()

    settings = {"base_url": "http://h/v1", "api_key": key("mine")}
    own = ("https://api.openai.com/v1", "sk-own")
    assert stands_in(**settings) == own
    assert stands_in(model="m", **settings) == own
    assert stands_in(provider="custom", **settings) == own
    assert stands_in(provider="openai", **settings) == ("http://h/v1", "mine")


def test_the_settings_of_one_provider_are_not_tried_on_all_the_others():
    def considered(name, **preferences):
        resolver = Resolver(REGISTRY, Preferences(**preferences), {}.get, lambda _name: None)
        return resolver.consider(load(name)).endpoint

    settings = {"api_key": key("mine"), "base_url": "http://h/v1"}
    assert considered("custom", model="m", **settings).base_url == "http://h/v1"
    for name in ("openai", "anthropic", "xai"):
        with pytest.raises(NotConfigured, match="no key"):
            considered(name, **settings)
        with pytest.raises(NotConfigured, match="no key"):
            considered(name, provider="custom", **settings)
    assert considered("custom", **settings).api_key.reveal() == "mine"
    assert considered("openai", provider="openai", **settings).api_key.reveal() == "mine"
    with pytest.raises(NotConfigured, match="base URL"):
        considered("custom", provider="openai", **settings)
    with pytest.raises(NotConfigured, match="no key"):
        considered("openai", provider="nobody", **settings)


GATE = {
    "gate": "base_url='https://gate.example/v1', key_env=('GATE_KEY',), default_model='acme/one', "
    "models=('acme/one', 'gate/own')",
    "acme": "base_url='https://acme.example/v1', key_env=('ACME_KEY',), default_model='one', models=('one',)",
}


@pytest.mark.parametrize(
    ("wanted", "keys", "chosen"),
    [
        ("acme/one", "GATE_KEY", ("gate", "acme/one")),
        ("acme/one", "GATE_KEY ACME_KEY", ("gate", "acme/one")),
        ("acme/new", "GATE_KEY", ("gate", "acme/new")),
        ("acme/new", "GATE_KEY ACME_KEY", ("acme", "new")),
        ("acme:new", "GATE_KEY ACME_KEY", ("acme", "new")),
        ("gate/acme/one", "GATE_KEY ACME_KEY", ("gate", "acme/one")),
        ("gate/own", "GATE_KEY", ("gate", "gate/own")),
        ("stranger/new", "GATE_KEY", ("gate", "stranger/new")),
        ("one", "GATE_KEY ACME_KEY", ("acme", "one")),
        ("acme", "GATE_KEY ACME_KEY", ("acme", "one")),
    ],
)
@pytest.mark.parametrize("configured", [{"provider": "gate"}, {"model": "gate/acme/one"}])
def test_a_configured_provider_that_routes_to_vendors_has_their_names_for_models(
    with_files, wanted, keys, chosen, configured
):
    registry = with_files(**GATE)
    endpoint = choose(wanted, dict.fromkeys(keys.split(), "k"), registry, **configured).endpoint
    assert (endpoint.provider.name, endpoint.model) == chosen


@pytest.mark.parametrize(("wanted", "missing"), [("acme", "no key for T"), ("custom/m", "needs a base URL")])
def test_who_is_named_alone_or_needs_no_key_is_not_routed(with_files, wanted, missing):
    with pytest.raises(NotConfigured, match=missing):
        choose(wanted, {"GATE_KEY": "k"}, with_files(**GATE), provider="gate")


def test_models_of_a_configured_server_may_begin_with_the_name_of_a_provider():
    for wanted in ("Qwen/Qwen3-8B", "google/gemma-3", "mistral:7b"):
        endpoint = choose(wanted, BASE, provider="custom").endpoint
        assert (endpoint.provider.name, endpoint.model) == ("custom", wanted)


@pytest.mark.parametrize("preferences", [{}, {"provider": "deepseek"}])
def test_a_misspelt_provider_is_no_model_of_whoever_is_there(preferences):
    keys = {"DEEPSEEK_API_KEY": "k"}
    with pytest.raises(UnknownName, match="provider `deepsek`") as caught:
        choose("deepsek/deepseek-chat", keys, **preferences)
    assert "`deepseek`" in caught.value.hint
    with pytest.raises(UnknownName):
        choose(environment=keys, model="deepsek/deepseek-chat")
    elsewhere = {**keys, "DEEPSEEK_BASE_URL": "http://127.0.0.1:1/v1"}
    assert choose("org/m", elsewhere).endpoint.model == "org/m", "who moves a provider knows its models"


@pytest.mark.parametrize("wanted", ["anthropc/x", "scuot"])
def test_a_stand_in_that_nobody_has_is_not_sought_at_whoever_is_there(wanted):
    resolver = Resolver(REGISTRY, Preferences(), BASE.get, lambda _name: None)
    with pytest.raises(UnknownName):
        resolver.choose_stand_in(wanted)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("deepseek", ("deepseek", "")),
        ("deepseek/deepseek-chat", ("deepseek", "deepseek-chat")),
        ("deepseek:deepseek-chat", ("deepseek", "deepseek-chat")),
        ("claude", ("anthropic", "")),
        ("deepseek-v4-pro", ("deepseek", "deepseek-v4-pro")),
    ],
)
def test_who_is_meant_by_a_name_needs_no_key(text, found):
    provider, model = Resolver(REGISTRY, Preferences(), lambda _name: None, lambda _name: None).whose(text)
    assert (provider.name, model) == found


@pytest.mark.parametrize("preferences", [{}, {"provider": "custom"}, {"provider": "nobody"}])
def test_a_name_that_nobody_has_is_unknown_whatever_is_configured(preferences):
    with pytest.raises(UnknownName):
        Resolver(REGISTRY, Preferences(**preferences), BASE.get, lambda _name: None).whose("deepsek")
