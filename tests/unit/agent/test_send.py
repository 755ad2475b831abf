"""One call on real sockets: what is mended, what is learned from it, which key is used, what is given up."""

import json
from collections.abc import Callable
from typing import Any

import pytest

from hermes.agent.lessons import Lesson, Lessons, adapt_kwargs, change_for
from hermes.agent.send import Ledger, ModelClient
from hermes.config.secret import Secret
from hermes.errors import (
    AuthFailed,
    FieldRefused,
    IncompleteResponse,
    InvalidResponse,
    OutputLimitTooHigh,
    PictureRefused,
    ProviderDown,
    QuotaExhausted,
    RateLimited,
    ReasoningRefused,
    RequestRejected,
    SchemaRefused,
)
from hermes.events import RetryWaiting, Text
from hermes.messages import Image, Message
from hermes.net.client import Client
from hermes.protocols import Endpoint, Provider, Request, ToolSpec
from hermes.store.notebook import Notebook
from hermes.transports.chat_completions import Transport
from simulators.chat_completions import fails, says
from simulators.naps import Naps
from simulators.scripted import Exchange, ScriptedServer

PROVIDER = Provider(
    name="sim", title="Sim", api_mode="chat_completions", key_env=("SIM_API_KEY",), max_tokens=9000,
    echoes=("reasoning_details",),
)  # fmt: skip
SCHEMA = {
    "type": "object",
    "properties": {
        "url": {"type": "string", "format": "uri", "pattern": "^http"},
        "format": {"type": "string", "enum": ["pattern"]},
    },
}
HI = Message(role="user", content="hi")
Judge = Callable[[dict[str, Any], str], bytes | None]


class Bench:
    """A server that answers unless its judge objects; a client that waits for nothing."""

    def __init__(self, judge: Judge, *, keys: str = "a", notebook: Notebook | None = None) -> None:
        self._judge = judge
        self.notebook = notebook or Notebook(None)
        self.naps, self.events = Naps(), []
        self.bodies: list[dict[str, Any]] = []
        self.keys = ""
        self._given = [Secret(f"sk-{key}") for key in keys]

    async def __aenter__(self) -> "Bench":
        self.server = await ScriptedServer(self._answer).__aenter__()
        self.client = Client(sleep=self.naps, random=lambda: 0.0, environ={})
        self.model = self.make()
        return self

    def make(self) -> ModelClient:
        first, *spare = self._given
        endpoint = Endpoint(
            provider=PROVIDER, model="m", base_url=self.server.url, api_key=first, spare_keys=tuple(spare)
        )
        return ModelClient(endpoint, Transport(), self.client, self.notebook, self.naps)

    async def __aexit__(self, *error: object) -> None:
        await self.client.close()
        await self.server.__aexit__()

    async def _answer(self, exchange: Exchange) -> None:
        assert exchange.request is not None
        body, key = json.loads(exchange.request.body), exchange.request.headers["authorization"][-1]
        self.bodies.append(body)
        self.keys += key
        await exchange.send(self._judge(body, key) or says("ok")(body))
        exchange.close()

    async def ask(self, *messages: Message, ledger: Ledger | None = None, **fields: Any) -> str | None:
        request = Request(messages=messages or (HI,), **fields)
        return (await self.model.send(request, self.events.append, ledger)).content

    def lessons(self) -> list[str]:
        return [str(lesson) for lesson in Lessons(self.notebook).all()]


def refuse_field(name: str, words: str) -> Judge:
    return lambda body, _key: fails(400, words)(body) if name in body else None


async def test_a_refused_field_is_left_out_and_not_sent_again():
    async with Bench(refuse_field("temperature", "Unsupported parameter: 'temperature'")) as bench:
        assert await bench.ask(temperature=0.5) == "ok"
        assert await bench.ask(temperature=0.5) == "ok"
        assert ["temperature" in body for body in bench.bodies] == [True, False, False]
        assert bench.lessons() == ["sim/m goes without `temperature`"]
        bench.model = bench.make()
        assert await bench.ask(temperature=0.5) == "ok"
        assert len(bench.bodies) == 4
        assert bench.naps == []


async def test_two_refused_fields_are_both_left_out():
    def judge(body, _key):
        odd = next((name for name in ("temperature", "stream_options") if name in body), None)
        return fails(422, f"{odd}: Extra inputs are not permitted")(body) if odd else None

    async with Bench(judge) as bench:
        assert await bench.ask(temperature=0.5) == "ok"
        assert len(bench.bodies) == 3


async def test_a_field_gets_the_name_that_the_provider_wants():
    words = "Unsupported parameter: 'max_tokens' is not supported. Use 'max_completion_tokens' instead."
    async with Bench(refuse_field("max_tokens", words)) as bench:
        assert await bench.ask() == "ok"
        assert bench.bodies[1]["max_completion_tokens"] == 9000
        assert "max_tokens" not in bench.bodies[1]
        assert bench.lessons() == ["sim/m wants `max_completion_tokens` instead of `max_tokens`"]


async def test_a_schema_that_is_refused_is_said_in_words_from_then_on():
    words = "json mode cannot be combined with tool/function calling"
    async with Bench(refuse_field("response_format", words)) as bench:
        for _ in range(2):
            assert await bench.ask(output_schema={"type": "array"}) == "ok"
        assert ["response_format" in body for body in bench.bodies] == [True, False, False]
        assert '{"type":"array"}' in bench.bodies[1]["messages"][0]["content"]
        assert bench.lessons() == ["sim/m is told the schema of an answer in words"]


async def test_a_stream_that_is_refused_is_not_asked_for_again_in_the_session():
    words = "Your organization must be verified to stream this model."
    async with Bench(refuse_field("stream", words)) as bench:
        for _ in range(2):
            assert await bench.ask() == "ok"
        assert ["stream" in body for body in bench.bodies] == [True, False, False]
        assert bench.lessons() == []


FIELDS_OF_THE_QUESTION = [
    "model", "messages", "messages.0.content", "body.messages", "request.model", "tools", "tools.0",
    "tools.0.function.name", "tools[0].function", "stream", "nonsense",
]  # fmt: skip


async def test_what_was_learned_is_part_of_the_explanation():
    words = "Unsupported parameter: 'max_tokens' is not supported. Use 'max_completion_tokens' instead."
    async with Bench(refuse_field("max_tokens", words)) as bench:
        assert await bench.ask() == "ok"
        reasons = {reason.field: reason for reason in bench.model.explain(Request(messages=(HI,)))}
        assert {field: reason.value for field, reason in reasons.items()} == bench.bodies[1]
        assert reasons["max_completion_tokens"].because == ("what the provider refused earlier",)


@pytest.mark.parametrize("field", FIELDS_OF_THE_QUESTION)
async def test_what_is_asked_is_never_left_out(field: str):
    async with Bench(lambda body, _key: fails(400, f"Unknown parameter: '{field}'")(body)) as bench:
        with pytest.raises(FieldRefused):
            await bench.ask(tools=(ToolSpec("look", "Look.", SCHEMA),))
        assert len(bench.bodies) == 1
        assert bench.lessons() == []


async def test_a_repair_that_does_not_help_is_tried_once_and_not_learned():
    async with Bench(lambda body, _key: fails(400, "Unknown parameter: 'temperature'")(body)) as bench:
        with pytest.raises(FieldRefused):
            await bench.ask(temperature=0.5)
        assert len(bench.bodies) == 2
        assert bench.lessons() == []


async def test_less_output_is_asked_for_where_the_model_gives_less():
    def judge(body, _key):
        return fails(400, "max_tokens must be <= 8192")(body) if body["max_tokens"] > 8192 else None

    async with Bench(judge) as bench:
        assert await bench.ask() == "ok"
        assert await bench.ask(max_output_tokens=100) == "ok"
        assert [body["max_tokens"] for body in bench.bodies] == [9000, 8192, 100]
        assert bench.lessons() == ["sim/m gives at most 8192 tokens"]


async def test_what_a_long_question_leaves_over_is_asked_for_this_once():
    words = "input length and `max_tokens` exceed context limit: 900 + 9000 > 1000"
    replies = iter([words, None, None])
    async with Bench(lambda body, _key: fails(400, said)(body) if (said := next(replies)) else None) as bench:
        assert await bench.ask() == "ok"
        assert await bench.ask() == "ok"
        assert [body["max_tokens"] for body in bench.bodies] == [9000, 100, 9000]
        assert bench.lessons() == []


async def test_reasoning_that_is_refused_stays_at_home_for_the_session():
    def judge(body, _key):
        refused = "reasoning_details" in json.dumps(body["messages"])
        return fails(400, "Invalid `signature` in `thinking` block")(body) if refused else None

    async with Bench(judge) as bench:
        data = {"reasoning_details": [{"signature": "s"}]}
        issuer = bench.model.endpoint.issuer
        thought = Message(role="assistant", content="hm", provider_data=data, issuer=issuer)
        for _ in range(2):
            assert await bench.ask(HI, thought, HI) == "ok"
        assert len(bench.bodies) == 3
        assert bench.lessons() == []


@pytest.mark.parametrize(
    ("words", "learned"),
    [("this model does not support image input", ["sim/m takes no pictures"]), ("image too large", [])],
)
async def test_a_picture_that_is_refused_is_told_in_words(words: str, learned: list[str]):
    def judge(body, _key):
        return fails(400, words)(body) if "image_url" in json.dumps(body["messages"]) else None

    async with Bench(judge) as bench:
        shown = Message(role="user", content="what is it?", images=(Image("image/png", "QUJD"),))
        for _ in range(2):
            assert await bench.ask(shown) == "ok"
        assert len(bench.bodies) == 3
        assert bench.lessons() == learned


async def test_a_schema_that_is_refused_is_made_simpler():
    def judge(body, _key):
        return fails(400, "failed to parse grammar")(body) if '"uri"' in json.dumps(body["tools"]) else None

    async with Bench(judge) as bench:
        assert await bench.ask(tools=(ToolSpec("look", "Look.", SCHEMA),)) == "ok"
        assert bench.bodies[1]["tools"][0]["function"]["parameters"]["properties"] == {
            "url": {"type": "string"},
            "format": {"type": "string", "enum": ["pattern"]},
        }
        assert bench.bodies[0]["tools"][0]["function"]["parameters"] == SCHEMA
        assert bench.lessons() == ["sim/m takes only simple tool schemas"]


@pytest.mark.parametrize(
    ("kwargs", "field", "left"),
    [
        ({"a": 1, "b": 2}, "a", {"b": 2}),
        ({"reasoning": {"effort": "low"}, "b": 2}, "reasoning.effort", {"b": 2}),
        ({"output_config": {"effort": "low", "x": 1}}, "effort", {"output_config": {"x": 1}}),
        ({"reasoning_effort": "low", "b": 2}, "reasoningEffort", {"b": 2}),
        (
            {"tools": [{"name": "a", "strict": True}, {"name": "b", "strict": True}]},
            "tools.0.custom.strict",
            {"tools": [{"name": "a"}, {"name": "b"}]},
        ),
        ({"tools": [{"function": {"strict": True, "n": 1}}]}, "tools[0].function.strict",
         {"tools": [{"function": {"n": 1}}]}),
    ],
)  # fmt: skip
def test_a_field_is_found_where_it_stands(kwargs: dict[str, Any], field: str, left: dict[str, Any]):
    before = json.dumps(kwargs)
    change = change_for(FieldRefused("no", field=field), kwargs)
    assert change is not None
    assert adapt_kwargs(kwargs, [change]) == left
    assert json.dumps(kwargs) == before


def test_every_lesson_can_be_told_and_one_that_is_unreadable_is_passed_over():
    notebook = Notebook(None)
    lessons = Lessons(notebook)
    errors = (
        FieldRefused("no", field="a"),
        FieldRefused("no", field="a", instead="b"),
        OutputLimitTooHigh("no"),
        PictureRefused("no"),
        SchemaRefused("no"),
        ReasoningRefused("no"),
    )
    for number, error in enumerate(errors):
        change = change_for(error, {"a": 1})
        assert change is not None
        lessons.learn(Lesson("p", str(number), change.field, change.action, change.value))
    notebook.write("lessons", "odd", {"from": "the future"})
    assert len(lessons.all()) == len({str(lesson) for lesson in lessons.all()}) == 6
    assert change_for(RequestRejected("no"), {}) is None


QUOTA = fails(429, "You exceeded your current quota, please check your plan and billing details.")({})
WRONG = fails(401, "bad key")({})
FORBIDDEN = fails(403, "not allowed")({})
SLOW = fails(429, "slow down", retry_after=7)({})
HOURS = fails(429, "slow down", retry_after=7200)({})


@pytest.mark.parametrize(
    ("refusal", "used", "naps", "cooling"),
    [
        (WRONG, "ab", [], 300),
        (QUOTA, "ab", [], 3600),
        (SLOW, "aab", [7.0], 7),
        (HOURS, "ab", [], 7200),
    ],
)
async def test_another_key_is_used_and_the_refused_one_rests(refusal, used, naps, cooling):
    now = [1000.0]
    notebook = Notebook(None, lambda: now[0])

    def judge(_body, key):
        return refusal if key == "a" else None

    async with Bench(judge, keys="abc", notebook=notebook) as bench:
        assert await bench.ask() == "ok"
        assert (bench.keys, bench.naps) == (used, naps)
        assert await bench.ask() == "ok"
        assert bench.keys == f"{used}b"
        now[0] += cooling - 1
        bench.model = bench.make()
        assert await bench.ask() == "ok"
        now[0] += 2
        bench.model = bench.make()
        assert await bench.ask() == "ok"
        assert bench.keys == f"{used}bb{used}"
        assert "sk-" not in repr(dict(notebook.entries("keys")))


@pytest.mark.parametrize(
    ("refusal", "used", "error"),
    [
        (WRONG, "abc", AuthFailed),
        (QUOTA, "abc", QuotaExhausted),
        (FORBIDDEN, "a", AuthFailed),
        (SLOW, "aabbccc", RateLimited),
        (fails(429, "the model is overloaded")({}), "aaa", ProviderDown),
        (fails(429, "Provider returned error")({}), "aaa", RateLimited),
    ],
)
async def test_when_no_key_is_left_the_failure_is_told(refusal, used, error):
    async with Bench(lambda _body, _key: refusal, keys="abc") as bench:
        with pytest.raises(error) as caught:
            await bench.ask()
        assert bench.keys == used
        assert caught.value.hint


async def test_one_key_leaves_no_trace_in_the_notebook():
    async with Bench(lambda _body, _key: WRONG) as bench:
        with pytest.raises(AuthFailed, match="bad key"):
            await bench.ask()
        assert bench.notebook.entries("keys") == {}


def cut(body: dict[str, Any], text: str = "") -> bytes:
    return says(text, finish=None)(body)


async def test_a_reply_that_breaks_off_before_its_first_word_is_asked_for_again():
    replies = iter([cut, cut, says("whole")])
    async with Bench(lambda body, _key: next(replies)(body)) as bench:
        assert await bench.ask() == "whole"
        assert bench.naps == [0.5, 1.0]
        assert [event.delta for event in bench.events if isinstance(event, Text)] == ["wh", "ol", "e"]
        assert [event.attempt for event in bench.events if isinstance(event, RetryWaiting)] == [1, 2]


async def test_after_three_broken_replies_it_is_given_up():
    async with Bench(lambda body, _key: cut(body)) as bench:
        with pytest.raises(InvalidResponse, match="empty"):
            await bench.ask()
        assert len(bench.bodies) == 3


async def test_nothing_is_asked_again_once_a_word_was_shown():
    async with Bench(lambda body, _key: cut(body, "half"), keys="ab") as bench:
        with pytest.raises(IncompleteResponse):
            await bench.ask()
        assert len(bench.bodies) == 1


async def test_one_ledger_ends_all_retries_of_a_question():
    async with Bench(lambda body, _key: fails(503)(body)) as bench:
        ledger = Ledger(3)
        for requests in (3, 5, 6):
            with pytest.raises(ProviderDown):
                await bench.ask(ledger=ledger)
            assert len(bench.bodies) == requests
