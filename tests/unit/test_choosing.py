"""Who answers, with real files, a real notebook and real servers on loopback."""

import asyncio
import json

import pytest

from hermes.app import Runtime
from hermes.app.key_hosts import TOPIC
from hermes.app.survey import at_hand
from hermes.config import load
from hermes.config.edit import set_secret, set_value
from hermes.errors import ConnectFailed, InvalidResponse, NotConfigured, UnknownName
from hermes.store.notebook import Notebook
from simulators.scripted import Exchange, ScriptedServer, http_reply

PROVIDER = """
from hermes.protocols import Provider

PROVIDER = Provider(
    name={name!r}, title="T", api_mode="chat_completions", base_url={url!r}, key_required={required},
    base_url_env=({variable!r} + "_BASE_URL",), key_env=({variable!r} + "_API_KEY",), rank={rank},
    models={models!r}, aliases={aliases!r},
)
"""
OPENAI = "https://api.openai.com/v1"


def model_list(*ids, owner="x", **headers):
    body = json.dumps({"object": "list", "data": [{"id": id, "owned_by": owner} for id in ids]}).encode()
    return http_reply(200, body, content_type="application/json", **headers)


@pytest.fixture
def home(tmp_path):
    (tmp_path / "providers").mkdir()
    return tmp_path


@pytest.fixture
def drop(home):
    """Writes a provider file for a server on this machine."""

    def write(name, url, *, required=False, rank=50, models=(), aliases=()):
        text = PROVIDER.format(
            name=name,
            url=url,
            required=required,
            rank=rank,
            models=models,
            aliases=aliases,
            variable=name.upper(),
        )
        (home / "providers" / f"{name}.py").write_text(text)

    return write


def runtime(home, **variables):
    return Runtime(load({"HERMES_HOME": str(home), **variables}))


async def test_a_server_on_this_machine_is_found_and_its_first_model_that_can_answer_used(home, drop):
    async with ScriptedServer(model_list("nomic-embed-text", "llama3.2", "qwen3")) as server:
        drop("near", f"{server.url}/v1")
        async with runtime(home) as run:
            await run.chooser.look_around()
            choice = run.choose_model()
            assert (choice.endpoint.provider.name, choice.endpoint.model) == ("near", "llama3.2")
            assert choice.reason == f"found at {server.url}/v1"
            await run.chooser.look_around("qwen3")
            assert run.choose_model("qwen3").endpoint.model == "qwen3"
        assert server.requests[0].path == "/v1/models"


async def test_what_was_found_is_remembered_for_a_minute(home, drop):
    async with ScriptedServer(model_list("llama3.2")) as server:
        drop("near", f"{server.url}/v1")
        for _ in range(2):
            async with runtime(home) as run:
                await run.chooser.look_around()
                assert run.choose_model().endpoint.model == "llama3.2"
        assert len(server.requests) == 1
    async with runtime(home) as run:
        await run.chooser.look_around()
        assert run.choose_model().reason == "built in", "a server that is gone is not remembered"


@pytest.mark.parametrize(
    "reply",
    [
        http_reply(200, b"<html>a web page</html>", content_type="text/html"),
        http_reply(404, b"{}"),
        http_reply(401, b"{}"),
        http_reply(302, b"", location="http://10.255.255.1/v1/models"),
        model_list("text-embedding-3"),
        model_list(),
        b"SSH-2.0-OpenSSH\r\n",
    ],
)
async def test_what_is_no_model_server_is_passed_over(home, drop, reply):
    async with ScriptedServer(reply) as server:
        drop("near", f"{server.url}/v1")
        async with runtime(home) as run:
            await run.chooser.look_around()
            assert run.choose_model().reason == "built in"
        assert len(server.requests) <= 1


async def test_nobody_is_looked_for_when_the_user_has_said_who_answers(home, drop):
    async with ScriptedServer(model_list("llama3.2")) as server:
        drop("near", f"{server.url}/v1")
        for variables in (
            {"HERMES_MODEL_DEFAULT": "scout/scout-1"},
            {"HERMES_MODEL_PROVIDER": "scout"},
            {"OPENAI_API_KEY": "k"},
            {"HERMES_MODEL_LOCAL_SERVERS": "false"},
        ):
            async with runtime(home, **variables) as run:
                await run.chooser.look_around()
                assert run.choose_model().endpoint.provider.name != "near"
        async with runtime(home) as run:
            await run.chooser.look_around("scout")
        assert server.connections == 0


async def test_no_key_is_shown_to_who_happens_to_listen(home, drop):
    async with ScriptedServer(model_list("llama3.2")) as server:
        drop("near", f"{server.url}/v1")
        async with runtime(home, NEAR_API_KEY="sk-not-for-strangers") as run:
            await run.chooser.look_around()
        assert "authorization" not in server.requests[0].headers


async def test_never_beyond_this_machine(home, drop):
    async with ScriptedServer(model_list("llama3.2")) as server:
        drop("near", f"{server.url}/v1")
        async with runtime(home, NEAR_BASE_URL=f"http://127.0.0.1.example:{server.port}/v1") as run:
            assert await run.chooser.local_servers() == ()
        assert server.connections == 0


@pytest.mark.parametrize(
    ("owner", "headers", "name"),
    [("fastone", {}, "fast"), ("x", {"server": "slow.cpp"}, "slow"), ("x", {}, "fast")],
)
async def test_two_providers_of_one_port_are_told_apart_by_what_the_server_says(
    home, drop, owner, headers, name
):
    async with ScriptedServer(model_list("m", owner=owner, **headers)) as server:
        drop("fast", f"{server.url}/v1", rank=60)
        drop("slow", f"{server.url}/v1", rank=61, aliases=("slow.cpp",))
        async with runtime(home) as run:
            (found,) = await run.chooser.local_servers()
        assert found.provider == name
        assert len(server.requests) == 1


async def test_models_come_live_then_from_memory_then_from_the_file(home, drop):
    async with ScriptedServer([model_list("a", "b"), model_list("c"), http_reply(500)]) as server:
        drop("acme", f"{server.url}/v1", models=("static",))
        async with runtime(home) as run:
            endpoint = run.choose_model("acme/m").endpoint
            catalog = run.chooser.catalog
            assert (await catalog.models(endpoint, live=False)).source == "static"
            live = await catalog.models(endpoint)
            assert ([model.id for model in live.models], live.source) == (["a", "b"], "live")
            cached = await catalog.models(endpoint)
            assert ([model.id for model in cached.models], cached.source) == (["a", "b"], "cached")
            assert (await catalog.models(endpoint, live=False)).source == "cached"
            assert [model.id for model in (await catalog.models(endpoint, fresh=True)).models] == ["c"]
            failed = await catalog.models(endpoint, fresh=True)
            assert ([model.id for model in failed.models], failed.source) == (["static"], "static")
            assert "500" in str(failed.problem)
        assert len(server.requests) == 3


async def test_the_window_that_a_list_told_reaches_the_next_run_and_nobody_is_asked(home, drop):
    rows = [{"id": "a", "context_length": 32_000}, {"id": "b"}]
    listed = http_reply(200, json.dumps({"data": rows}).encode(), content_type="application/json")
    async with ScriptedServer(listed) as server:
        drop("acme", f"{server.url}/v1")
        async with runtime(home) as run:
            assert run.choose_model("acme/a").endpoint.provider.context_window is None
            await run.chooser.catalog.models(run.choose_model("acme/a").endpoint)
        async with runtime(home) as run:
            assert run.choose_model("acme/a").endpoint.provider.context_window == 32_000
            assert run.choose_model("acme/b").endpoint.provider.context_window is None
            stand_in = run.chooser.choose_stand_in("acme/a").endpoint
            assert stand_in.provider.context_window == 32_000
        async with runtime(home, HERMES_MODEL_CONTEXT_WINDOW="9000", HERMES_MODEL_PROVIDER="acme") as run:
            assert run.choose_model("acme/a").endpoint.provider.context_window == 9_000, "the user's wins"
        async with runtime(home, ACME_BASE_URL="http://127.0.0.1:1/v1") as run:
            assert run.choose_model("acme/a").endpoint.provider.context_window is None
        assert len(server.requests) == 1


async def test_a_garbage_list_and_a_dead_server_fall_back_to_the_file(home, drop):
    async with ScriptedServer(http_reply(200, b"<html>")) as server:
        drop("acme", f"{server.url}/v1", models=("static",))
        async with runtime(home) as run:
            listing = await run.chooser.catalog.models(run.choose_model("acme/m").endpoint)
            assert isinstance(listing.problem, InvalidResponse)
    async with runtime(home) as run:
        listing = await run.chooser.catalog.models(run.choose_model("acme/m").endpoint)
        assert isinstance(listing.problem, ConnectFailed)
        assert [model.id for model in listing.models] == ["static"]


async def test_an_empty_list_falls_back_to_the_file_and_says_so(home, drop):
    async with ScriptedServer(model_list()) as server:
        drop("acme", f"{server.url}/v1", models=("static",))
        async with runtime(home) as run:
            listing = await run.chooser.catalog.models(run.choose_model("acme/m").endpoint)
    assert ([model.id for model in listing.models], listing.source) == (["static"], "static")
    assert str(listing.problem) == "the server lists no models"


async def test_a_slow_list_is_given_up_in_time(home, drop):
    async def never(exchange: Exchange) -> None:
        await exchange.client_left()

    async with ScriptedServer(never) as server:
        drop("acme", f"{server.url}/v1", models=("static",))
        async with runtime(home) as run:
            endpoint = run.choose_model("acme/m").endpoint
            listing = await run.chooser.catalog.models(endpoint, seconds=0.1)
        assert listing.source == "static"


def stored(home, **variables):
    for name, value in variables.items():
        set_secret(str(home), name, value)


def host_of(home, **variables):
    """Where the key of `openai` would go with these variables."""
    return runtime(home, **variables).choose_model("openai").endpoint.base_url


def bound(home):
    return list(Notebook(str(home / "notes.db")).entries(TOPIC).values())


def test_a_stored_key_is_bound_to_its_providers_host_when_first_used(home):
    stored(home, OPENAI_API_KEY="sk-stored")
    assert bound(home) == []
    assert host_of(home) == OPENAI
    assert bound(home) == ["api.openai.com"]
    assert "sk-stored" not in (home / "notes.db").read_bytes().decode(errors="replace")


def test_a_stored_key_is_refused_to_another_host(home):
    stored(home, OPENAI_API_KEY="sk-stored")
    host_of(home)
    with pytest.raises(NotConfigured) as caught:
        host_of(home, OPENAI_BASE_URL="https://other.example/v1")
    assert "`OPENAI_API_KEY` is stored for `api.openai.com`" in str(caught.value)
    assert "`other.example`" in str(caught.value)
    assert "hermes config set OPENAI_API_KEY" in caught.value.hint
    assert host_of(home) == OPENAI


def test_a_stored_key_is_not_sent_in_the_open_to_the_host_it_is_for(home):
    stored(home, OPENAI_API_KEY="sk-stored")
    in_the_open = "http://api.openai.com/v1"
    for _ in range(2):
        with pytest.raises(NotConfigured, match=r"was not sent to `http://api\.openai\.com`"):
            host_of(home, OPENAI_BASE_URL=in_the_open)
        assert host_of(home) == OPENAI


def test_a_key_for_a_server_in_the_open_may_go_there_over_tls_later(home):
    stored(home, CUSTOM_API_KEY="sk-stored")
    for url in ("http://lan.example/v1", "http://lan.example/v2", "https://lan.example/v1"):
        assert runtime(home, CUSTOM_BASE_URL=url).choose_model("custom/m").endpoint.base_url == url
    with pytest.raises(NotConfigured):
        runtime(home, CUSTOM_BASE_URL="http://lan.example/v1").choose_model("custom/m")


def test_a_stored_key_that_was_never_used_does_not_meet_a_stranger_first(home):
    stored(home, OPENAI_API_KEY="sk-stored")
    with pytest.raises(NotConfigured):
        host_of(home, OPENAI_BASE_URL="https://other.example/v1")
    assert bound(home) == []
    assert host_of(home, OPENAI_BASE_URL="http://127.0.0.1:1/v1") == "http://127.0.0.1:1/v1"
    with pytest.raises(NotConfigured):
        host_of(home)


def test_a_key_of_the_environment_goes_where_the_user_says(home):
    for url in (OPENAI, "https://other.example/v1", "http://127.0.0.1:1/v1"):
        assert host_of(home, OPENAI_API_KEY="sk-env", OPENAI_BASE_URL=url) == url
    assert not (home / "notes.db").exists()


def test_a_provider_without_a_host_of_its_own_is_bound_to_the_first(home):
    stored(home, CUSTOM_API_KEY="sk-stored")

    def use(url):
        return runtime(home, CUSTOM_BASE_URL=url).choose_model("custom/m").endpoint.base_url

    assert use("https://one.example/v1")
    assert use("https://one.example:8443/v2")
    with pytest.raises(NotConfigured, match=r"one\.example"):
        use("https://two.example/v1")


def test_a_key_in_the_settings_file_is_bound_too(home):
    set_value(str(home), "model.api_key", "sk-in-file")
    set_value(str(home), "model.provider", "openai")
    assert host_of(home) == OPENAI
    with pytest.raises(NotConfigured, match=r"`model.api_key` is stored for `api.openai.com`"):
        host_of(home, OPENAI_BASE_URL="https://other.example/v1")
    set_value(str(home), "model.provider", "anthropic")
    with pytest.raises(NotConfigured):
        runtime(home).choose_model("anthropic")


def test_who_can_be_asked_is_asked_once_and_a_yes_is_remembered(home):
    stored(home, OPENAI_API_KEY="sk-stored")
    host_of(home)
    asked = []

    def choose(answer):
        run = runtime(home, OPENAI_BASE_URL="https://other.example/v1")
        run.chooser.ask = lambda question: asked.append(question) or answer
        return run.choose_model("openai").endpoint.base_url

    with pytest.raises(NotConfigured):
        choose(False)
    assert choose(True) == "https://other.example/v1"
    assert choose(True) == "https://other.example/v1"
    assert asked == ["send the key stored for api.openai.com to other.example?"] * 2


def test_setting_a_key_again_binds_it_anew(home):
    stored(home, OPENAI_API_KEY="sk-stored")
    host_of(home)
    moved = {"OPENAI_BASE_URL": "https://other.example/v1"}
    runtime(home, **moved).chooser.bind("OPENAI_API_KEY")
    assert host_of(home, **moved) == "https://other.example/v1"
    with pytest.raises(NotConfigured):
        host_of(home)


def test_a_key_set_in_the_settings_file_is_bound_to_the_configured_provider(home):
    set_value(str(home), "model.api_key", "sk-in-file")
    runtime(home).chooser.bind("model.api_key")
    assert bound(home) == [], "nobody is configured yet"
    set_value(str(home), "model.provider", "openai")
    runtime(home).chooser.bind("model.api_key")
    assert bound(home) == ["api.openai.com"]


def test_setting_what_is_no_key_binds_nothing(home):
    stored(home, OPENAI_BASE_URL="https://other.example/v1", UNKNOWN_API_KEY="sk-x")
    for name in ("OPENAI_BASE_URL", "UNKNOWN_API_KEY", "NOT_THERE"):
        runtime(home).chooser.bind(name)
    assert bound(home) == []


def test_each_of_several_stored_keys_is_bound(home):
    stored(home, OPENAI_API_KEY="sk-one,sk-two")
    host_of(home)
    assert bound(home) == ["api.openai.com"] * 2
    stored(home, OPENAI_API_KEY="sk-two")
    with pytest.raises(NotConfigured):
        host_of(home, OPENAI_BASE_URL="https://other.example/v1")


def test_every_one_of_several_keys_is_kept_out_of_texts(home):
    config = load({"HERMES_HOME": str(home), "OPENAI_API_KEY": "sk-first-key-1, sk-second-key-2"})
    assert config.redactor()("a sk-second-key-2 b sk-first-key-1") == "a [redacted] b [redacted]"


def test_an_unknown_name_is_still_unknown_after_a_look_around(home):
    with pytest.raises(UnknownName):
        runtime(home).choose_model("scuot")


async def test_who_is_at_hand_stands_in_order_and_strangers_are_not_named(home, drop):
    async with ScriptedServer(model_list("llama3.2")) as server:
        drop("here", f"{server.url}/v1")
        drop("away", "https://away.example/v1", required=True)
        variables = {"AWAY_API_KEY": "k-0123456789", "CUSTOM_BASE_URL": "https://other.example/v1"}
        async with runtime(home, **variables) as run:
            offers = await at_hand(run.chooser)
    assert [offer.name for offer in offers] == ["away", "here", "custom", "scout"]
    assert (offers[1].default_model, offers[1].reason) == ("llama3.2", f"found at {server.url}/v1")
    assert len(server.requests) == 1


async def test_a_server_that_never_answers_holds_up_a_first_question_only_so_long(home, drop, monkeypatch):
    monkeypatch.setattr("hermes.app.catalog.ANSWERED_WITHIN", 0.1)

    async def hang(exchange):
        await exchange.client_left()

    async with ScriptedServer(hang) as server:
        drop("here", f"{server.url}/v1")
        async with runtime(home) as run:
            await run.chooser.look_around("scout")
            assert server.requests == [], "who is named is not looked for"
            async with asyncio.timeout(5):
                await run.chooser.look_around()
            assert run.choose_model().is_last_resort
