"""Limits that the settings set for one answer: reached, the answer is from what there is and exits with 1."""

import json

import pytest

from simulators import anthropic_messages
from simulators.chat_completions import ChatSimulator, calls, says

LOOK = calls(("web_search", {"query": "scout"}))


@pytest.mark.parametrize(
    ("setting", "value", "named", "asked"),
    [
        ("HERMES_AGENT_MAX_TURNS", "2", "2 model calls", 2),
        ("HERMES_AGENT_MAX_TOKENS", "20", "20 tokens", 2),
        ("HERMES_AGENT_MAX_COST", "0", "0 US dollars", 0),
        ("HERMES_AGENT_MAX_SECONDS", "0", "0 seconds", 0),
    ],
)
async def test_a_limit_ends_the_answer_as_not_complete(hermes, setting, value, named, asked):
    def reply(body):
        return (says("So far, so good.") if body.get("tool_choice") == "none" else LOOK)(body)

    async with ChatSimulator(reply) as server:
        variables = {"CUSTOM_BASE_URL": server.base_url, setting: value}
        outcome = await hermes("chat", "-q", "how?", "-m", "custom/m", "--json", **variables)
        lines = await hermes("chat", "-q", "how?", "-m", "custom/m", "--json-lines", **variables)
        assert server.refusals == []
    assert outcome.code == lines.code == 1
    answer = outcome.json()
    assert (answer["answer"], answer["finish_reason"], answer["error"]) == (
        "So far, so good.",
        "incomplete",
        None,
    )
    assert len(answer["tool_calls"]) == asked
    done = json.loads(lines.out.splitlines()[-1])
    assert (done["type"], done["answer"]["complete"]) == ("done", False)
    last = server.bodies[asked]
    assert f"limit of {named}" in last["messages"][-1]["content"]
    assert (last["tool_choice"], bool(last["tools"])) == ("none", True)


async def test_the_option_wins_over_the_setting(hermes):
    async with ChatSimulator(LOOK, says("Enough.")) as server:
        variables = {"CUSTOM_BASE_URL": server.base_url, "HERMES_AGENT_MAX_TURNS": "9"}
        outcome = await hermes("chat", "-q", "how?", "-m", "custom/m", "--max-turns", "1", **variables)
    assert (outcome.code, outcome.out.splitlines()[0]) == (1, "Enough.")


async def test_an_answer_within_its_limits_is_complete(hermes):
    async with ChatSimulator(LOOK, says("Found.")) as server:
        variables = {"HERMES_AGENT_MAX_TOKENS": "31", "HERMES_AGENT_MAX_SECONDS": "60"}
        outcome = await hermes(
            "chat", "-q", "how?", "-m", "custom/m", CUSTOM_BASE_URL=server.base_url, **variables
        )
    assert (outcome.code, outcome.out) == (0, "Found.\n")


async def test_a_limit_of_money_counts_what_the_model_costs(hermes):
    wire = anthropic_messages
    script = wire.calls(("web_search", {"query": "scout"})), wire.says("That was dear.")
    async with wire.MessagesSimulator(*script) as server:
        outcome = await hermes(
            "chat", "-q", "how?", "-m", "anthropic/claude-sonnet-4-5", "--json",
            ANTHROPIC_BASE_URL=server.base_url, ANTHROPIC_API_KEY="sk-vendor-0123456789",
            HERMES_AGENT_MAX_COST="0.000001",
        )  # fmt: skip
        assert server.refusals == []
    answer = outcome.json()
    assert (outcome.code, answer["answer"], answer["finish_reason"]) == (1, "That was dear.", "incomplete")
    assert answer["cost"] > 0.000001
    assert len(server.bodies) == 2


async def test_a_limit_of_money_that_cannot_hold_is_said_once(hermes):
    async with ChatSimulator(LOOK, says("Found.")) as server:
        variables = {"CUSTOM_BASE_URL": server.base_url, "HERMES_AGENT_MAX_COST": "1"}
        outcome = await hermes("chat", "-q", "how?", "-m", "custom/m", **variables)
    assert (outcome.code, outcome.out) == (0, "Found.\n")
    assert outcome.err.count("the price of `custom/m` is unknown") == 1
