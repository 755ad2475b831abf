"""A provider file dropped into the home works in every command, with no other change."""

import json
import re

import pytest

from simulators.chat_completions import ChatSimulator, calls, says
from simulators.scripted import ScriptedServer, http_reply

ACME = """
from hermes.protocols import Provider

PROVIDER = Provider(
    name="acme",
    title="Acme",
    api_mode="chat_completions",
    aliases=("ac",),
    base_url={url!r},
    base_url_env=("ACME_BASE_URL",),
    key_env=("ACME_API_KEY",),
    key_required={required},
    default_model="acme-large",
    models=("acme-large", "acme-small"),
)
"""
KEY = "sk-acme-0123456789"
LARGE = {
    "id": "acme-large",
    "context_length": 128000,
    "supported_parameters": ["tools"],
    "pricing": {"prompt": "0.000002", "completion": "0.00001"},
}
LIST = {"data": [LARGE, {"id": "acme-huge"}]}


def model_list(value):
    return http_reply(200, json.dumps(value).encode(), content_type="application/json")


@pytest.fixture
def drop(hermes):
    def write(url="https://acme.example/v1", *, name="acme", text=None, required=True):
        folder = hermes.home / "providers"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / f"{name}.py").write_text(ACME.format(url=url, required=required) if text is None else text)

    return write


@pytest.mark.parametrize("model", ["acme", "ac", "acme/acme-small", "acme:acme-small", "acme-small", ""])
async def test_a_dropped_file_answers_under_each_of_its_names(hermes, drop, model):
    drop()
    script = calls(("web_search", {"query": "add a provider"})), says("One file. [1]")
    async with ChatSimulator(*script) as server:
        named = ("-m", model) if model else ()
        variables = {"ACME_BASE_URL": server.base_url, "ACME_API_KEY": KEY}
        answer = (await hermes("chat", "-q", "how?", "--json", *named, **variables)).json()
        assert (answer["answer"], answer["provider"]) == ("One file. [1]", "acme")
        assert answer["model"] == ("acme-small" if "small" in model else "acme-large")
        assert server.headers[0]["authorization"] == f"Bearer {KEY}"
        assert server.refusals == []


async def test_settings_doctor_and_the_list_of_models_know_a_dropped_file(hermes, drop):
    drop()
    async with ScriptedServer(model_list(LIST)) as server:
        variables = {"ACME_BASE_URL": f"{server.url}/v1", "ACME_API_KEY": KEY}
        assert (await hermes("config", "set", "model.provider", "ac")).code == 0
        rows = (await hermes("doctor", "--json", **variables)).json()["checks"]
        checks = {row["check"]: row for row in rows}
        assert checks["model"]["detail"].startswith(f"acme/acme-large at {server.url}/v1 (configured)")
        assert checks["model server"]["status"] == "ok"
        listed = (await hermes("models", "--json", **variables)).json()["providers"]
        acme = next(row for row in listed if row["name"] == "acme")
        assert (acme["usable"], acme["reason"], acme["models"]) == (True, "`ACME_API_KEY` is set", 2)
        shown = await hermes("models", **variables)
        assert re.search(r"^✓\tacme\tacme-large\t`ACME_API_KEY` is set, 2 models$", shown.out, re.MULTILINE)
        assert KEY not in shown.out + shown.err
    missing = await hermes("models")
    assert re.search(r"^✗\tacme\tacme-large\tset `ACME_API_KEY`$", missing.out, re.MULTILINE)
    assert missing.code == 0


async def test_a_provider_of_an_installed_package_answers_too(hermes, tmp_path):
    info = tmp_path / "site" / "acme_hermes-1.0.dist-info"
    info.mkdir(parents=True)
    (info / "entry_points.txt").write_text("[hermes.providers]\nacme = acme_hermes:PROVIDER\n")
    (tmp_path / "site" / "acme_hermes.py").write_text(ACME.format(url="https://a.example", required=True))
    async with ChatSimulator(says("Hello.")) as server:
        variables = {"ACME_BASE_URL": server.base_url, "ACME_API_KEY": KEY, "PYTHONPATH": str(info.parent)}
        assert (await hermes("chat", "-q", "hi", "-m", "ac", **variables)).out == "Hello.\n"


async def test_a_broken_file_harms_nobody_who_does_not_ask_for_it(hermes, drop):
    drop(name="broken", text="import nothing_like_this\n")
    fine = await hermes("chat", "-q", "What is scout?")
    assert fine.code == 0
    asked = await hermes("chat", "-q", "hi", "-m", "broken/x")
    assert asked.code == 2
    assert re.search(r"error: .*providers/broken\.py:1: .*ModuleNotFoundError", asked.err)
    rows = (await hermes("doctor", "--offline", "--json")).json()["checks"]
    (row,) = [row for row in rows if row["check"] == "provider files"]
    assert row["status"] == "warning"
    assert "broken.py:1" in row["detail"]
    assert "warning: " in (await hermes("models", "--offline")).err


async def test_the_models_of_one_provider_live_cached_offline_and_garbage(hermes, drop):
    drop()
    async with ScriptedServer([model_list(LIST), http_reply(200, b"<html>"), model_list(["new"])]) as server:
        variables = {"ACME_BASE_URL": f"{server.url}/v1", "ACME_API_KEY": KEY}
        static = (await hermes("models", "ac", "--offline", "--json", **variables)).json()
        assert (static["source"], [row["id"] for row in static["models"]]) == (
            "static",
            ["acme-large", "acme-small"],
        )
        live = (await hermes("models", "acme", "--json", **variables)).json()
        assert (live["provider"], live["source"], len(live["models"])) == ("acme", "live", 2)
        first = live["models"][0]
        assert (first["context_window"], first["tools"], first["input_price"]) == (128000, True, 2.0)
        shown = await hermes("models", "acme", **variables)
        assert shown.out.splitlines() == ["acme-large\t128k\t$2 in, $10 out\ttools", "acme-huge\t-\t-\t"]
        assert "within the hour" in shown.err
        assert len(server.requests) == 1
        garbage = await hermes("models", "acme", "--refresh", **variables)
        assert (garbage.code, garbage.out.splitlines()[0].split()[0]) == (0, "acme-large")
        assert "warning: the list of models is not JSON" in garbage.err
        fresh = (await hermes("models", "acme", "--refresh", "--json", **variables)).json()
        assert [row["id"] for row in fresh["models"]] == ["new"]


async def test_a_key_that_is_refused_is_told_by_the_list_and_by_doctor(hermes, drop):
    drop()
    async with ScriptedServer(http_reply(401, b"{}")) as server:
        variables = {"ACME_BASE_URL": f"{server.url}/v1", "ACME_API_KEY": KEY}
        shown = await hermes("models", **variables)
        assert "the server refuses the key (status 401)" in shown.out
        rows = (await hermes("doctor", "--json", HERMES_MODEL_PROVIDER="scout", **variables)).json()["checks"]
        (row,) = [row for row in rows if row["check"] == "provider"]
        assert (row["status"], row["fix"]) == ("warning", "check `ACME_API_KEY`")


async def test_a_list_that_is_open_to_everybody_needs_no_key_and_gets_none(hermes):
    async with ScriptedServer(model_list(LIST)) as server:
        elsewhere = {"OPENROUTER_BASE_URL": f"{server.url}/v1"}
        shown = await hermes("models", "openrouter", **elsewhere)
        assert [line.split()[0] for line in shown.out.splitlines()] == ["acme-large", "acme-huge"]
        assert shown.err.startswith("warning: no key for OpenRouter")
        await hermes("config", "set", "OPENROUTER_API_KEY", KEY)
        bound = await hermes("models", "openrouter", "--refresh", **elsewhere)
        assert "is stored for `openrouter.ai`" in bound.err
        assert all("authorization" not in request.headers for request in server.requests)
        assert len(server.requests) == 2


async def test_doctor_tells_the_keys_that_work_from_those_that_do_not(hermes):
    async with ScriptedServer(model_list(LIST)) as fine, ScriptedServer(http_reply(401, b"{}")) as wrong:
        variables = {"OPENAI_API_KEY": KEY, "OPENAI_BASE_URL": f"{fine.url}/v1"}
        variables |= {"XAI_API_KEY": KEY, "XAI_BASE_URL": f"{fine.url}/v1"}
        variables |= {"GROQ_API_KEY": KEY, "GROQ_BASE_URL": f"{wrong.url}/v1"}
        rows = (await hermes("doctor", "--json", **variables)).json()["checks"]
    details = {row["check"]: row["detail"] for row in rows}
    assert details["providers"] == "can be used: openai, scout, xai"
    assert details["provider"] == "groq: the server refuses the key (status 401)"


async def test_a_provider_that_signs_is_usable_with_credentials_alone(hermes):
    pytest.importorskip("botocore")
    alone = {
        "AWS_EC2_METADATA_DISABLED": "true",
        "AWS_CONFIG_FILE": "none",
        "AWS_SHARED_CREDENTIALS_FILE": "none",
    }
    for variables, usable in (({}, False), ({"AWS_ACCESS_KEY_ID": "A", "AWS_SECRET_ACCESS_KEY": "S"}, True)):
        rows = (await hermes("models", "--json", **alone, **variables)).json()["providers"]
        bedrock = next(row for row in rows if row["name"] == "bedrock")
        assert bedrock["usable"] is usable
        assert usable or "AWS_ACCESS_KEY_ID" in bedrock["fix"]


@pytest.mark.parametrize(
    "command", [("models", "acmee"), ("models", "acmee/x"), ("chat", "-q", "hi", "-m", "acmee/x")]
)
async def test_an_unknown_provider_offers_the_nearest(hermes, drop, command):
    drop()
    outcome = await hermes(*command, ACME_API_KEY=KEY)
    assert (outcome.code, outcome.out) == (2, "")
    assert "did you mean `acme`" in outcome.err


@pytest.mark.parametrize("name", ["acme/acme-small", "ac:acme-small", "acme-small"])
async def test_one_model_is_shown_under_each_of_its_names(hermes, drop, name):
    drop()
    shown = (await hermes("models", name, "--offline", "--json")).json()
    assert (shown["provider"], [row["id"] for row in shown["models"]]) == ("acme", ["acme-small"])
    unlisted = await hermes("models", "acme/new", "--offline")
    assert (unlisted.out.split()[0], "`new` is not in the list" in unlisted.err) == ("new", True)


async def test_a_server_on_this_machine_is_found_offered_and_used(hermes, drop):
    answer = says("Hello from here.")

    async def serve(exchange):
        request = exchange.request
        body = json.loads(request.body) if request.body else {}
        await exchange.send(model_list(["embed-1", "llama3.2"]) if request.method == "GET" else answer(body))
        exchange.close()

    async with ScriptedServer(serve) as server:
        drop(f"{server.url}/v1", required=False)
        looking = {"HERMES_MODEL_LOCAL_SERVERS": "true"}
        outcome = await hermes("chat", "-q", "hi", **looking)
        assert outcome.out == "Hello from here.\n"
        assert f"`acme/llama3.2` (found at {server.url}/v1)" in outcome.err
        rows = (await hermes("doctor", "--json", **looking)).json()["checks"]
        assert any(row["check"] == "local server" and "acme/llama3.2" in row["detail"] for row in rows)
        shown = await hermes("models", **looking)
        assert re.search(r"^✓\tacme\tllama3.2\tfound at http", shown.out, re.MULTILINE)
        explicit = await hermes("chat", "-q", "What is scout?", "-m", "scout", **looking)
        assert "`scout/scout-1` (asked for)" in explicit.err


async def test_effort_and_temperature_reach_the_model(hermes, drop):
    drop(text=ACME.format(url="https://acme.example/v1", required=True).replace(
        'title="Acme"', 'title="Acme", efforts=("low", "high")'))  # fmt: skip
    async with ChatSimulator(says("ok")) as server:
        variables = {"ACME_BASE_URL": server.base_url, "ACME_API_KEY": KEY}
        settings = {"HERMES_MODEL_EFFORT": "low", "HERMES_MODEL_TEMPERATURE": "0.25"}
        await hermes("chat", "-q", "hi", "-m", "acme", **variables, **settings)
        await hermes("chat", "-q", "hi", "-m", "acme", "--effort", "high", **variables, **settings)
        efforts = [(body["reasoning_effort"], body["temperature"]) for body in server.bodies]
        assert efforts == [("low", 0.25), ("high", 0.25)]


async def test_a_stored_key_is_not_sent_to_another_host_unasked(hermes, drop):
    drop()
    async with ChatSimulator(says("ok")) as server:
        await hermes("config", "set", "ACME_API_KEY", KEY)
        refused = await hermes("chat", "-q", "hi", "-m", "acme", ACME_BASE_URL=server.base_url)
        assert (refused.code, server.bodies) == (2, [])
        assert "is stored for `acme.example` and was not sent to `127.0.0.1`" in refused.err
        assert "hint: run `hermes config set ACME_API_KEY` again" in refused.err
        await hermes("config", "set", "ACME_API_KEY", KEY, ACME_BASE_URL=server.base_url)
        again = await hermes("chat", "-q", "hi", "-m", "acme", ACME_BASE_URL=server.base_url)
        assert again.out == "ok\n"
        assert (await hermes("models", "acme")).err.startswith("warning: the key in `ACME_API_KEY` is stored")
