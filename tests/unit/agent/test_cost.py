"""The cost of an answer: known prices add up, and one unknown price makes the whole unknown."""

import json
import os
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hermes.agent.conversation import Conversation
from hermes.agent.cost import in_dollars
from hermes.agent.send import ModelClient
from hermes.app import Runtime, Terms
from hermes.config import load
from hermes.errors import AuthFailed
from hermes.messages import Usage
from hermes.net.client import Client
from hermes.protocols import Endpoint, Provider, ToolResult, ToolSpec
from hermes.transports.chat_completions import Transport
from simulators import codex_responses as responses
from simulators.chat_completions import ChatSimulator, calls, fails, says
from simulators.talk import turn

PROVIDER = Provider(name="sim", title="Sim", api_mode="chat_completions")
TOKENS = st.integers(min_value=0, max_value=10_000)


@pytest.mark.parametrize(
    ("provider", "model"),
    [
        ("openai", "gpt-4o"),
        ("anthropic", "claude-sonnet-4-5"),
        ("xai", "grok-4"),
        ("bedrock", "us.anthropic.claude-sonnet-4-5-20250929-v1:0"),
    ],
)
def test_a_known_model_has_a_price(provider, model):
    cost = in_dollars(provider, model, Usage(prompt_tokens=1000, completion_tokens=100))
    assert 0 < cost < 1


@given(TOKENS, TOKENS)
def test_more_tokens_cost_more(prompt, completion):
    fewer = in_dollars("openai", "gpt-4o", Usage(prompt_tokens=prompt, completion_tokens=completion))
    longer = in_dollars("openai", "gpt-4o", Usage(prompt_tokens=prompt + 1, completion_tokens=completion))
    wordier = in_dollars("openai", "gpt-4o", Usage(prompt_tokens=prompt, completion_tokens=completion + 1))
    assert fewer < longer < wordier


def test_reading_a_cache_is_cheaper_and_writing_it_dearer():
    def cost(**cache):
        return in_dollars("anthropic", "claude-sonnet-4-5", Usage(prompt_tokens=1000, **cache))

    assert cost(cached_tokens=900) < cost() < cost(cache_write_tokens=900)


@pytest.mark.parametrize(
    ("provider", "model", "usage"),
    [
        ("openai", "no-such-model", Usage(prompt_tokens=10)),
        ("custom", "gpt-4o", Usage(prompt_tokens=10)),
        ("openai", "", Usage(prompt_tokens=10)),
        ("openai", "gpt-4o", Usage(prompt_tokens=10, cached_tokens=20)),
        ("openai", "gpt-4o", Usage(prompt_tokens=-1)),
    ],
    ids=["model", "provider", "no model", "more cached than sent", "negative"],
)
def test_what_the_list_cannot_price_is_unknown(provider, model, usage):
    assert in_dollars(provider, model, usage) is None


def test_without_the_package_every_price_is_unknown(monkeypatch):
    monkeypatch.setitem(sys.modules, "genai_prices", None)
    assert in_dollars("openai", "gpt-4o", Usage(prompt_tokens=10)) is None


def test_a_price_opens_no_socket_and_starts_no_thread():
    script = """
import socket, sys, threading
def refuse(event, _):
    if event.startswith("socket."):
        raise SystemExit(f"network: {event}")
sys.addaudithook(refuse)
from hermes.agent.cost import in_dollars
from hermes.messages import Usage
assert "genai_prices" not in sys.modules
print(in_dollars("openai", "gpt-4o", Usage(prompt_tokens=1000)) > 0, threading.active_count())
"""
    ran = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert ran.stdout.split() == ["True", "1"]


class Log:
    async def append(self, session_id, messages):
        pass


class Tools:
    def specs(self):
        return (ToolSpec("look", "Look.", {"type": "object", "properties": {}}),)

    def fit(self, name, arguments):
        return dict(arguments)

    def effect(self, name):
        return "reads"

    def lack(self, name):
        return None

    def concern(self, name, arguments):
        return None

    async def call(self, name, arguments, judged=None):
        return ToolResult(text="seen")


class Till:
    """Asks these prices, one per call, and remembers for what."""

    def __init__(self, *prices):
        self.prices = list(prices)
        self.asked = []

    def __call__(self, provider, model, usage):
        self.asked.append((provider, model, usage.total_tokens))
        return self.prices.pop(0)


async def _cost(till, *script):
    """The cost of an answer, or of what there is of it when a call fails."""
    client = Client()
    async with ChatSimulator(*script) as server:
        endpoint = Endpoint(provider=PROVIDER, model="m", base_url=server.base_url)
        model = ModelClient(endpoint, Transport(), client)
        asked = turn(Conversation("s1", (), Log()), model, Tools(), lambda _event: None, price=till)
        try:
            return (await asked.answer("why?")).cost
        except AuthFailed:
            return asked.partial().cost
        finally:
            await client.close()


async def test_the_calls_of_a_turn_add_up():
    till = Till(0.25, 0.5)
    assert await _cost(till, calls(("look", {})), says("Because.")) == 0.75
    assert till.asked == [("sim", "m", 15), ("sim", "m", 15)]


@pytest.mark.parametrize("prices", [(None, 0.5), (0.5, None)])
async def test_one_unknown_price_makes_the_whole_unknown(prices):
    assert await _cost(Till(*prices), calls(("look", {})), says("Because.")) is None


async def test_a_free_model_costs_nothing_rather_than_something_unknown():
    assert await _cost(Till(0.0), says("Because.")) == 0.0


async def test_a_call_that_failed_has_no_known_price():
    assert await _cost(Till(0.5), calls(("look", {})), fails(401)) is None


async def test_without_prices_the_cost_is_unknown():
    assert await _cost(None, says("Because.")) is None


@pytest.mark.parametrize("priced", [True, False])
async def test_a_vendor_is_priced_when_asked(tmp_path, priced):
    async with responses.ResponsesSimulator(responses.says("Because.")) as server:
        config = load({"HERMES_HOME": str(tmp_path), "XAI_API_KEY": "k", "XAI_BASE_URL": server.base_url})
        async with Runtime(config) as runtime:
            dialogue = runtime.converse(Terms(model="xai/grok-4", tools=(), priced=priced))
            answer = await dialogue.ask("why?", lambda _event: None)
    expected = in_dollars("xai", "grok-4", answer.usage) if priced else None
    assert answer.cost == expected
    assert priced == bool(answer.cost)


@pytest.mark.parametrize("option", ["--json", "--no-stream"])
def test_the_built_in_model_is_free_and_loads_no_price_list(tmp_path, option):
    script = """
import sys
from hermes.cli._shell import run
try:
    run(sys.argv[1:])
finally:
    print("genai_prices" in sys.modules, file=sys.stderr)
"""
    ran = subprocess.run(
        [sys.executable, "-c", script, "chat", "-m", "scout", "-q", "What is scout?", option],
        env={**os.environ, "HERMES_HOME": str(tmp_path)},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.stderr.split()[-1] == "False"
    if option == "--json":
        assert json.loads(ran.stdout)["cost"] == 0.0
