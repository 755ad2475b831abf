"""Who is asked when the chosen model fails, and what the user sees of it."""

import json
from typing import Any

import msgspec
import pytest

from hermes.agent.chain import Models
from hermes.agent.conversation import Conversation
from hermes.agent.send import ModelClient
from hermes.config.secret import Secret
from hermes.errors import (
    AuthFailed,
    ContentBlocked,
    IncompleteResponse,
    NotConfigured,
    Overloaded,
    TlsFailed,
    UnknownName,
)
from hermes.events import Notice, Switched, Text
from hermes.messages import Message, Usage
from hermes.net.client import Client
from hermes.protocols import Endpoint, Provider, Request, ToolResult, ToolSpec
from hermes.store.notebook import Notebook
from hermes.transports import anthropic_messages, chat_completions
from simulators import anthropic_messages as messages_wire
from simulators.anthropic_messages import MessagesSimulator
from simulators.chat_completions import ChatSimulator, calls, fails, says
from simulators.naps import Naps
from simulators.scripted import Exchange, ScriptedServer, http_reply
from simulators.talk import turn

LIMITED = fails(429, "slow down", retry_after=99999)


class Log:
    def __init__(self):
        self.kept = []

    async def append(self, session_id, messages):
        self.kept += messages


class Tools:
    def specs(self):
        return (ToolSpec("look", "Look.", {"type": "object", "properties": {"q": {"type": "string"}}}),)

    def fit(self, name, arguments):
        return dict(arguments)

    def effect(self, name):
        return "reads"

    def lack(self, name):
        return None

    def concern(self, name, arguments):
        return None

    async def call(self, name, arguments, judged=None):
        return ToolResult(text="saw it")


class Bench:
    """A conversation with a chosen model `one/m` and fallbacks `two/m`, `three/m`, each with its server."""

    def __init__(self, *scripts: Any, fallback: tuple[str, ...] = ("two", "three"), notebook=None):
        self.servers = [ChatSimulator(*script) for script in scripts]
        self.notebook = notebook or Notebook(None)
        self.naps, self.events, self.log = Naps(), [], Log()
        self.fallback, self.made = fallback, []
        self.now = 1000.0

    async def __aenter__(self):
        for server in self.servers:
            await server.__aenter__()
        self.client = Client(sleep=self.naps, random=lambda: 0.0, environ={})
        self.conversation = Conversation("s1", (), self.log)
        self.models = Models(self.make("one"), self.fallback, self.make, self.notebook)
        return self

    async def __aexit__(self, *error):
        await self.client.close()
        for server in self.servers:
            await server.__aexit__(*error)

    def make(self, name: str) -> ModelClient:
        self.made.append(name)
        if name == "unset":
            raise NotConfigured("no key for Unset", hint="set `UNSET_API_KEY`")
        if name == "nonsense":
            raise UnknownName("provider", name, ["one", "two"])
        server = self.servers[["one", "two", "three"].index(name.removeprefix("again-"))]
        provider = Provider(name=name.removeprefix("again-"), title=name, api_mode="chat_completions")
        endpoint = Endpoint(
            provider=provider, model="m", base_url=server.base_url, api_key=Secret(f"sk-{name}")
        )
        return ModelClient(endpoint, chat_completions.Transport(), self.client, self.notebook, self.naps)

    async def ask(self, price=None):
        asked = turn(self.conversation, self.models, Tools(), self.events.append, calls=3, price=price)
        return await asked.answer("why?")

    def counts(self):
        return [len(server.bodies) for server in self.servers]

    def switches(self):
        return [(e.from_model, e.to_model) for e in self.events if isinstance(e, Switched)]


async def test_a_fallback_is_made_only_when_it_is_needed():
    async with Bench([says("mine")], [says("theirs")]) as bench:
        answer = await bench.ask()
        assert (answer.text, answer.provider) == ("mine", "one")
        assert (bench.made, bench.switches(), bench.counts()) == (["one"], [], [1, 0])


@pytest.mark.parametrize(
    ("failure", "requests"),
    [
        (fails(401), 1),
        (fails(402), 1),
        (fails(403), 1),
        (fails(400, "whatever"), 1),
        (fails(400, "blocked by the content policy"), 1),
        (fails(404, "no such model"), 1),
        (LIMITED, 1),
        (fails(429, "slow down", retry_after=1), 2),
        (fails(429, "overloaded"), 2),
        (fails(500), 2),
        (fails(503), 2),
        (says("", finish=None), 2),
    ],
)
async def test_a_fallback_answers_and_is_named_everywhere(failure, requests):
    async with Bench([failure], [says("theirs")]) as bench:
        charged = []

        def till(provider: str, model: str, usage: Usage) -> float:
            charged.append(provider)
            return 1.0

        answer = await bench.ask(till)
        assert (answer.text, answer.provider, answer.model, answer.cost) == ("theirs", "two", "m", 1.0)
        assert charged == ["two"]
        assert bench.switches() == [("one/m", "two/m")]
        assert bench.counts() == [requests, 1]
        assert bench.servers[1].headers[0]["authorization"] == "Bearer sk-two"


async def test_the_chain_is_walked_in_order_and_the_last_failure_is_told():
    async with Bench([fails(401)], [fails(503)], [fails(400, "content policy")]) as bench:
        with pytest.raises(ContentBlocked):
            await bench.ask()
        assert bench.switches() == [("one/m", "two/m"), ("two/m", "three/m")]
        assert bench.counts() == [1, 2, 1]


async def test_the_rest_of_a_question_stays_with_who_answered():
    async with Bench([fails(401)], [calls(("look", {"q": "x"})), says("theirs")]) as bench:
        assert (await bench.ask()).text == "theirs"
        assert (bench.counts(), len(bench.switches())) == ([1, 2], 1)
        assert (await bench.ask()).text == "theirs"
        assert (bench.counts(), len(bench.switches())) == ([2, 3], 2)


async def test_the_summary_at_the_limit_of_calls_takes_the_same_way():
    look = calls(("look", {"q": "x"}))
    async with Bench([look, look, look, fails(401)], [says("in short")]) as bench:
        answer = await bench.ask()
        assert (answer.text, answer.complete, answer.provider) == ("in short", False, "two")
        assert bench.servers[1].bodies[0]["tool_choice"] == "none"


async def test_a_model_that_was_limited_rests_until_its_time_is_over():
    now = [1000.0]
    async with Bench(
        [fails(402), says("mine")], [says("theirs")], notebook=Notebook(None, lambda: now[0])
    ) as bench:
        assert (await bench.ask()).text == "theirs"
        now[0] += 59
        assert (await bench.ask()).text == "theirs"
        assert bench.counts() == [1, 2]
        assert bench.switches() == [("one/m", "two/m")] * 2
        now[0] += 2
        assert (await bench.ask()).text == "mine"


async def test_a_resting_model_is_asked_when_nobody_else_answers():
    async with Bench([fails(402), says("mine")], [says("theirs"), fails(401)], fallback=("two",)) as bench:
        assert (await bench.ask()).text == "theirs"
        assert (await bench.ask()).text == "mine"
        assert bench.switches() == [("one/m", "two/m"), ("one/m", "two/m"), ("two/m", "one/m")]


async def test_nobody_else_is_asked_once_a_word_was_shown():
    async with Bench([says("half", finish=None)], [says("theirs")]) as bench:
        with pytest.raises(IncompleteResponse):
            await bench.ask()
        assert (bench.counts(), bench.switches()) == ([1, 0], [])
        assert "".join(e.delta for e in bench.events if isinstance(e, Text)) == "half"


async def test_a_fallback_that_cannot_be_used_is_told_once_and_passed_over():
    async with Bench([fails(401)], [says("theirs")], fallback=("unset", "nonsense", "two")) as bench:
        for _ in range(2):
            assert (await bench.ask()).provider == "two"
        notices = [event for event in bench.events if isinstance(event, Notice)]
        assert [notice.hint for notice in notices][:1] == ["set `UNSET_API_KEY`"]
        assert len(notices) == 2


async def test_without_a_usable_fallback_the_chosen_model_has_all_its_attempts():
    async with Bench([fails(503)], fallback=("unset",)) as bench:
        with pytest.raises(Overloaded):
            await bench.ask()
        assert bench.counts() == [3]


async def test_the_same_model_under_another_name_is_passed_over():
    async with Bench([fails(401)], [says("theirs")], fallback=("one", "again-one", "two")) as bench:
        assert (await bench.ask()).provider == "two"
        assert bench.counts() == [1, 1]


async def test_a_server_that_cannot_prove_who_it_is_ends_the_question():
    no_tls = ScriptedServer(http_reply(), reads=False)
    async with Bench([says("mine")], [says("theirs")]) as bench, no_tls as server:
        address = server.url.replace("http:", "https:")
        endpoint = msgspec.structs.replace(bench.models.endpoint, base_url=address)
        chosen = ModelClient(endpoint, chat_completions.Transport(), bench.client, sleep=bench.naps)
        bench.models = Models(chosen, ("two",), bench.make)
        with pytest.raises(TlsFailed):
            await bench.ask()
        assert server.connections == 1
        assert (bench.counts(), bench.naps, bench.switches()) == ([0, 0], [], [])


async def test_all_models_of_a_question_spend_from_one_ledger():
    async with Bench([fails(503)], [fails(503)], [fails(503)]) as bench:
        chain = bench.models.question()
        for _ in range(9):
            assert chain.ledger.spend()
        with pytest.raises(Overloaded):
            await chain.send(Request(messages=(Message(role="user", content="hi"),)), bench.events.append)
        assert bench.counts() == [2, 1, 1]


async def test_a_turn_goes_on_elsewhere_and_nothing_of_the_first_provider_goes_with_it():
    """From signed thinking on one wire to a server on another that wants its own reasoning back."""
    bodies, headers = [], []

    async def handler(exchange: Exchange) -> None:
        assert exchange.request is not None
        bodies.append(json.loads(exchange.request.body))
        headers.append(exchange.request.headers)
        await exchange.send(says("done")(bodies[-1]))
        exchange.close()

    thinking = messages_wire.answers(
        messages_wire.thinks("secret thoughts"), messages_wire.uses("look", {"q": "x"})
    )
    busy = messages_wire.fails(529, "overloaded_error")
    async with MessagesSimulator(thinking, busy) as first, ScriptedServer(handler) as second:
        client, log, events = Client(sleep=Naps(), environ={}), Log(), []
        one = Provider(
            name="one",
            title="One",
            api_mode="anthropic_messages",
            auth_style="x-api-key",
            headers={"anthropic-version": "2023-06-01"},
        )
        two = Provider(
            name="two", title="Two", api_mode="chat_completions", echoes=("reasoning_content",), max_tokens=77
        )

        def make(_name: str) -> ModelClient:
            endpoint = Endpoint(
                provider=two, model="chat", base_url=f"{second.url}/v1", api_key=Secret("sk-two")
            )
            return ModelClient(endpoint, chat_completions.Transport(), client, sleep=Naps())

        endpoint = Endpoint(
            provider=one, model="claude-sonnet-4-6", base_url=first.base_url, api_key=Secret("sk-one")
        )
        chosen = ModelClient(endpoint, anthropic_messages.Transport(), client, sleep=Naps())
        models = Models(chosen, ("two/chat",), make)
        answer = await turn(Conversation("s1", (), log), models, Tools(), events.append).answer("why?")
        await client.close()
        assert len(first.bodies) == 3
    assert (answer.text, answer.provider, answer.api_mode) == ("done", "two", "chat_completions")
    [sent] = bodies
    asked = next(message for message in sent["messages"] if message["role"] == "assistant")
    assert asked["reasoning_content"].strip() == ""
    assert asked["tool_calls"][0]["function"]["name"] == "look"
    assert (sent["model"], sent["max_tokens"]) == ("chat", 77)
    assert not {"system", "thinking", "output_config"} & set(sent)
    spoken = json.dumps(sent)
    assert not any(word in spoken for word in ("secret thoughts", "signature", "claude", "cache_control"))
    assert headers[0]["authorization"] == "Bearer sk-two"
    assert not {"x-api-key", "anthropic-version", "anthropic-beta"} & set(headers[0])
    issuers = [message.issuer.partition(" ")[0] for message in log.kept if message.provider_data]
    assert issuers in (["one"], ["one", "two"])


async def test_the_failure_of_the_chosen_model_is_told_when_there_is_nobody_else():
    async with Bench([fails(401, "bad key")], fallback=("unset", "one")) as bench:
        with pytest.raises(AuthFailed, match="bad key"):
            await bench.ask()
