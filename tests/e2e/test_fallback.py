"""A model that fails, through the real command: who answers instead, and what the next run knows of it."""

import json

import pytest

from simulators.chat_completions import ChatSimulator, fails, says


def settings(server, **more):
    return {"CUSTOM_BASE_URL": server.base_url, "CUSTOM_API_KEY": "sk-test-0123456789abcdef", **more}


@pytest.mark.parametrize("options", [(), ("--json",)])
async def test_the_built_in_model_answers_where_it_is_a_fallback(hermes, options):
    async with ChatSimulator(fails(401, "bad key")) as server:
        outcome = await hermes(
            "chat", "-q", "What is scout?", "-m", "custom/m", *options,
            **settings(server, HERMES_MODEL_FALLBACK="anthropic/claude-x, scout"),
        )  # fmt: skip
    assert outcome.code == 0
    assert "note: the fallback `anthropic/claude-x` is passed over: no key for" in outcome.err
    assert "answers instead of `custom/m`: the provider refused the key (status 401): bad key" in outcome.err
    if options:
        answer = outcome.json()
        assert (answer["provider"], answer["api_mode"], answer["cost"]) == ("scout", "chat_completions", 0.0)
    else:
        assert "scout" in outcome.out


async def test_a_fallback_may_stand_in_the_settings_file_as_a_list(hermes):
    hermes.home.mkdir()
    (hermes.home / "config.yaml").write_text("model:\n  default: custom/m\n  fallback: [scout]\n")
    async with ChatSimulator(fails(503)) as server:
        outcome = await hermes("chat", "-q", "What is scout?", **settings(server))
        assert len(server.bodies) == 2
    assert (outcome.code, "answers instead of `custom/m`" in outcome.err) == (0, True)


async def test_an_address_and_a_key_for_the_chosen_model_never_go_to_a_fallback(hermes):
    async with ChatSimulator(fails(503)) as server:
        outcome = await hermes(
            "chat", "-q", "hello?", "-m", "custom/m", HERMES_MODEL_FALLBACK="openai/gpt-6",
            HERMES_MODEL_BASE_URL=server.base_url, HERMES_MODEL_API_KEY="sk-mine",
        )  # fmt: skip
        assert {header["authorization"] for header in server.headers} == {"Bearer sk-mine"}
        assert {body["model"] for body in server.bodies} == {"m"}
    assert outcome.code == 1
    assert "the fallback `openai/gpt-6` is passed over: no key" in outcome.err


async def test_a_server_is_not_waited_for_beyond_our_patience(hermes):
    async with ChatSimulator(fails(429, "slow down", retry_after=2)) as server:
        outcome = await hermes(
            "chat", "-q", "hello?", "-m", "custom/m", **settings(server, HERMES_MODEL_PATIENCE="1")
        )
        assert len(server.bodies) == 1
    assert outcome.code == 1
    assert "come back in 2 s" in outcome.err


async def test_what_one_run_learned_the_next_one_knows_and_doctor_tells(hermes):
    def reply(body):
        if "stream_options" in body:
            return fails(400, "Unsupported parameter: 'stream_options'")(body)
        return says("ok")(body)

    async with ChatSimulator(reply) as server:
        for _ in range(2):
            outcome = await hermes("chat", "-q", "hello?", "-m", "custom/m", **settings(server))
            assert (outcome.code, outcome.out) == (0, "ok\n")
        assert ["stream_options" in body for body in server.bodies] == [True, False, False]
        outcome = await hermes("doctor", "--offline", **settings(server))
        assert "lessons: custom/m goes without `stream_options`" in outcome.out
        assert (hermes.home / "notes.db").stat().st_mode & 0o077 == 0


async def test_a_run_that_learned_nothing_keeps_no_notebook(hermes):
    async with ChatSimulator(says("ok")) as server:
        assert (await hermes("chat", "-q", "hello?", "-m", "custom/m", **settings(server))).code == 0
    assert (await hermes("doctor", "--offline")).code == 0
    assert not (hermes.home / "notes.db").exists()


async def test_a_list_of_fallbacks_is_set_and_read_back(hermes):
    assert (await hermes("config", "set", "model.fallback", "openai/gpt-6 ,, scout")).code == 0
    assert (await hermes("config", "get", "model.fallback")).out == "openai/gpt-6, scout\n"
    assert "model.fallback: openai/gpt-6, scout\n" in (await hermes("config", "show")).out
    shown = (await hermes("config", "show", "--json")).json()
    assert shown["model"]["fallback"] == ["openai/gpt-6", "scout"]


async def test_a_fallback_that_is_no_list_is_a_mistake_with_its_place(hermes):
    hermes.home.mkdir()
    (hermes.home / "config.yaml").write_text("model:\n  fallback: 7\n")
    outcome = await hermes("chat", "-q", "x")
    assert outcome.code == 2
    assert "config.yaml:2: `model.fallback` must be a list of names, not 7" in outcome.err


async def test_doctor_names_the_fallback_and_who_would_be_passed_over(hermes):
    async def row(names):
        found = (await hermes("doctor", "--offline", "--json", HERMES_MODEL_FALLBACK=names)).json()["checks"]
        return next(row for row in found if row["check"] == "fallback")

    assert (await row("scout"))["detail"] == "scout/scout-1"
    misspelt = await row("scout, anthropc/x")
    assert (misspelt["status"], "`anthropic`" in misspelt["fix"]) == ("warning", True)
    keyless = await row("anthropic/x")
    assert (keyless["status"], keyless["fix"]) == ("warning", "set `ANTHROPIC_API_KEY`")


async def test_a_misspelt_fallback_is_told_and_not_asked_of_whoever_is_there(hermes):
    async with ChatSimulator(fails(503)) as server:
        outcome = await hermes(
            "chat", "-q", "What is scout?", "-m", "custom/m", "--json-lines",
            **settings(server, HERMES_MODEL_FALLBACK="anthropc/x, scuot, scout"),
        )  # fmt: skip
        assert {body["model"] for body in server.bodies} == {"m"}
    events = [json.loads(line) for line in outcome.out.splitlines()]
    notices = [event["message"] for event in events if event["type"] == "notice"]
    assert [notice.partition(" is passed over")[0] for notice in notices] == [
        "the fallback `anthropc/x`",
        "the fallback `scuot`",
    ]
    (switched,) = (event for event in events if event["type"] == "switched")
    assert (switched["from_model"], switched["to_model"]) == ("custom/m", "scout/scout-1")
