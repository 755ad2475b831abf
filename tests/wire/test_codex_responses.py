"""The Responses wire end to end: the real client, the real loop, and a strict server on loopback."""

import itertools
import json

import pytest

from hermes.agent.conversation import Conversation
from hermes.agent.send import ModelClient
from hermes.agent.structured import SchemaExpectation
from hermes.errors import (
    AuthFailed,
    Disconnected,
    IncompleteResponse,
    InvalidResponse,
    ProviderDown,
    RateLimited,
    RequestRejected,
)
from hermes.events import Reasoning, Text
from hermes.messages import Image, Message
from hermes.net.client import Client
from hermes.net.retry import RetryPolicy
from hermes.protocols import Endpoint, Provider, Request, ToolResult, ToolSpec
from hermes.transports.codex_responses import Transport
from simulators import codex_responses as simulator
from simulators.codex_responses import ResponsesSimulator, answers, calls, events, fails, message, raw, says
from simulators.naps import Naps
from simulators.scripted import http_reply
from simulators.talk import turn

PROVIDER = Provider(
    name="sim", title="Sim", api_mode="codex_responses", key_env=("SIM_API_KEY",), caches=True, max_tokens=900
)
MODEL = "gpt-6.1-sol"
LOOK = ToolSpec(
    "look", "Look it up.", {"type": "object", "properties": {"q": {"type": "string"}}, "required": []}
)


class Log:
    def __init__(self):
        self.kept: list[Message] = []

    async def append(self, session_id, messages):
        self.kept += messages


class Tools:
    def specs(self):
        return (LOOK,)

    def fit(self, name, arguments):
        return dict(arguments)

    def effect(self, name):
        return "reads"

    def lack(self, name):
        return None

    def concern(self, name, arguments):
        return None

    async def call(self, name, arguments, judged=None):
        return ToolResult(text=f"saw {arguments['q']}")


class Bench:
    """A conversation with a simulated model."""

    def __init__(self, *script, provider=PROVIDER):
        self.server = ResponsesSimulator(*script)
        self.client = Client(retry=RetryPolicy(attempts=1), environ={})
        self.log, self.events, self.provider = Log(), [], provider

    async def __aenter__(self):
        await self.server.__aenter__()
        self.conversation = Conversation("s1", (), self.log)
        endpoint = Endpoint(provider=self.provider, model=MODEL, base_url=self.server.base_url)
        self.model = ModelClient(endpoint, Transport(), self.client, sleep=Naps())
        return self

    async def __aexit__(self, *error):
        await self.client.close()
        await self.server.__aexit__(*error)
        assert self.server.refusals == []

    async def ask(self, question="why?"):
        asked = turn(self.conversation, self.model, Tools(), self.events.append)
        return await asked.answer(question)

    async def send(self, *messages, **fields):
        request = Request(model=MODEL, messages=messages, issuer=self.model.endpoint.issuer, **fields)
        return await self.model.send(request, self.events.append)


async def test_an_answer_is_data_after_tools_and_one_more_try():
    schema = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}
    script = calls(("look", {"q": "a"})), says('{"n": "one"}'), says('{"n": 1}')
    async with Bench(*script) as bench:
        expected = SchemaExpectation(schema)
        asked = turn(bench.conversation, bench.model, Tools(), bench.events.append, expectation=expected)
        answer = await asked.answer("count")
        assert (answer.parsed, answer.text) == ({"n": 1}, '{"n": 1}')
        assert all(body["text"]["format"]["type"] == "json_schema" for body in bench.server.bodies)
        assert [body["tool_choice"] for body in bench.server.bodies] == ["auto", "auto", "none"]


async def test_a_text_turn():
    async with Bench(says("Because it is.")) as bench:
        answer = await bench.ask()
        assert (answer.text, answer.finish_reason, answer.complete) == ("Because it is.", "stop", True)
        assert (answer.api_mode, answer.usage.cached_tokens) == ("codex_responses", 4)
        assert "".join(event.delta for event in bench.events if isinstance(event, Text)) == answer.text
        [body] = bench.server.bodies
        assert (body["store"], body["stream"], body["max_output_tokens"]) == (False, True, 900)
        assert body["prompt_cache_key"].startswith("pck_")


async def test_two_calls_side_by_side_and_the_reasoning_before_them_is_replayed():
    script = (
        calls(("look", {"q": "a"}), ("look", {"q": "b"}), thought="two things"),
        says("a and b", thought=""),
    )
    async with Bench(*script, says("more")) as bench:
        assert (await bench.ask()).text == "a and b"
        await bench.ask("and now?")
        kinds = [item["type"] for item in bench.server.bodies[2]["input"]]
        assert kinds == [
            "message", "reasoning", "function_call", "function_call", "function_call_output",
            "function_call_output", "reasoning", "message", "message",
        ]  # fmt: skip
        outputs = [item["output"] for item in bench.server.bodies[1]["input"] if "output" in item]
        assert outputs == ["saw a", "saw b"]
        assert any(isinstance(event, Reasoning) for event in bench.events)
        for shorter, longer in itertools.pairwise(bench.server.bodies):
            assert longer["input"][: len(shorter["input"])] == shorter["input"]
            assert longer["prompt_cache_key"] == shorter["prompt_cache_key"]


async def test_a_conversation_that_moves_to_another_server_leaves_its_reasoning_behind():
    async with Bench(calls(("look", {"q": "a"}), thought="hm"), says("here", thought="hm")) as bench:
        await bench.ask()
        history = bench.log.kept
        async with Bench(says("there")) as other:
            await other.send(*history, Message(role="user", content="and you?"), tools=(LOOK,))
            [body] = other.server.bodies
            assert [item.get("type") for item in body["input"]] == [
                "message", "function_call", "function_call_output", "message", "message",
            ]  # fmt: skip


async def test_an_image_turn_with_a_schema_in_one_piece():
    async with Bench(says('{"colour":"red"}')) as bench:
        schema = {
            "type": "object",
            "properties": {"colour": {"type": "string"}},
            "required": ["colour"],
            "additionalProperties": False,
        }
        question = Message(role="user", content="which colour?", images=(Image("image/png", "QUJD"),))
        reply = await bench.send(question, output_schema=schema, stream=False, effort="high")
        assert (reply.content, reply.finish_reason) == ('{"colour":"red"}', "stop")
        [body] = bench.server.bodies
        assert body["text"]["format"]["strict"] is True
        assert body["reasoning"] == {"effort": "high", "summary": "auto"}


@pytest.mark.parametrize(
    ("status", "error"), [(400, RequestRejected), (401, AuthFailed), (429, RateLimited), (500, ProviderDown)]
)
async def test_an_error_status_is_an_error_with_the_vendors_words(status, error):
    async with Bench(fails(status, "these words", retry_after=99999)) as bench:
        with pytest.raises(error, match="these words") as caught:
            await bench.ask()
        if error is AuthFailed:
            assert "SIM_API_KEY" in caught.value.hint


async def test_a_failure_in_the_stream_is_an_error():
    def failing(body):
        last = events(simulator.response([message("half")], status="failed"))[-1]
        last["response"]["error"] = {"code": "server_error", "message": "it broke"}
        line = f"data: {json.dumps(last)}\n\n".encode()
        return http_reply(200, line, content_type="text/event-stream")

    async with Bench(failing) as bench:
        with pytest.raises(ProviderDown, match="it broke"):
            await bench.ask()


async def test_a_stream_without_its_end_is_kept_and_raised_and_the_next_question_goes_on():
    async with Bench(says("half of it", ends=False), says("whole")) as bench:
        with pytest.raises(IncompleteResponse):
            await bench.ask()
        assert bench.log.kept[-1].content == "half of it"
        assert (await bench.ask("again?")).text == "whole"


async def test_a_stream_whose_connection_breaks_is_an_error_and_its_text_is_kept():
    def broken(body):
        return answers(message("some words before the break"))(body)[:-400]

    async with Bench(broken) as bench:
        with pytest.raises(Disconnected):
            await bench.ask()
        assert bench.log.kept[-1].content.startswith("some words")


async def test_an_answer_at_the_limit_is_not_complete():
    fields = {"status": "incomplete", "incomplete_details": {"reason": "max_output_tokens"}}
    async with Bench(answers(message("so far", status="incomplete"), **fields)) as bench:
        answer = await bench.ask()
        assert (answer.text, answer.finish_reason, answer.complete) == ("so far" * 4, "length", False)


async def test_what_is_no_answer_is_an_error():
    for body in (b"{}", b"null", b'{"output": []}'):
        async with Bench(raw(http_reply(200, body, content_type="application/json"))) as bench:
            with pytest.raises(InvalidResponse):
                await bench.ask()


@pytest.mark.skipif(simulator.ORACLE is None, reason="the vendor's SDK is not installed")
async def test_the_simulator_streams_what_the_vendors_types_know():
    from openai.types.responses import ResponseStreamEvent
    from pydantic import TypeAdapter

    known = TypeAdapter(ResponseStreamEvent)
    output = [
        simulator.reasoning("hm", 1),
        message("text", 2, phase="final_answer"),
        simulator.function_call("look", {}, "a"),
    ]
    for event in events(simulator.response(output)):
        assert known.validate_python(event).type == event["type"]


@pytest.mark.skipif(simulator.ORACLE is None, reason="the vendor's SDK is not installed")
async def test_the_vendors_own_client_sends_the_same_but_for_what_is_listed_here():
    """Both lead the same conversation: a question, two calls, their results, and another question."""
    first = calls(("look", {"q": "a"}), ("look", {"q": "b"}), thought="two things")
    script = first, says("a and b", thought="both"), says("more")
    async with Bench(*script) as bench:
        await bench.ask("why?")
        await bench.ask("and?")
        ours = bench.server.bodies
    theirs = await _vendors_bodies(script, instructions=ours[0]["instructions"])
    assert len(ours) == len(theirs) == 3
    for mine, their in zip(ours, theirs, strict=True):
        # The key is our choice of cache; the client leaves it to who calls it.
        assert set(mine) - set(their) == {"prompt_cache_key"}
        assert {key: mine[key] for key in their if key != "input"} == {
            key: their[key] for key in their if key != "input"
        }
        assert mine["input"] == [_as_we_send(item) for item in their["input"]]


def _as_we_send(item):
    """What we leave out on purpose: nothing is stored, so an id of reasoning or of a call leads nowhere;
    that they are completed goes without saying; probabilities were not asked for and are empty. And what
    we say more: not every server guesses that an item without a type is a message."""
    kind = item.get("type")
    if kind is None:
        return {"type": "message", **item}
    if kind in ("reasoning", "function_call"):
        return {key: value for key, value in item.items() if key not in ("id", "status")}
    if kind == "message":
        parts = [{key: part[key] for key in part if key != "logprobs"} for part in item["content"]]
        return item | {"content": parts}
    return item


async def _vendors_bodies(script, instructions):
    from openai import AsyncOpenAI

    async with ResponsesSimulator(*script, keeps_items=True) as server:
        client = AsyncOpenAI(base_url=server.base_url, api_key="k", max_retries=0)
        conversation = [{"role": "user", "content": "why?"}]
        for _ in script:
            output = await _vendors_turn(client, conversation, instructions)
            conversation += output
            asked = [item for item in output if item["type"] == "function_call"]
            conversation += [
                {
                    "type": "function_call_output",
                    "call_id": item["call_id"],
                    "output": f"saw {json.loads(item['arguments'])['q']}",
                }
                for item in asked
            ] or [{"role": "user", "content": "and?"}]
        await client.close()
        assert server.refusals == []
        return server.bodies


async def _vendors_turn(client, conversation, instructions):
    tool = {
        "type": "function",
        "name": LOOK.name,
        "description": LOOK.description,
        "parameters": LOOK.parameters,
        "strict": False,
    }
    stream = await client.responses.create(
        model=MODEL,
        instructions=instructions,
        input=list(conversation),
        store=False,
        stream=True,
        include=["reasoning.encrypted_content"],
        reasoning={"summary": "auto"},
        max_output_tokens=900,
        parallel_tool_calls=True,
        tool_choice="auto",
        tools=[tool],
    )
    [last] = [event async for event in stream if event.type == "response.completed"]
    return [item.to_dict() for item in last.response.output]
