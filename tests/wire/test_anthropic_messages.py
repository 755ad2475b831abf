"""The Messages wire through the real client, model client and loop, against the strict simulator."""

import asyncio
import itertools
import json

import msgspec
import pytest

from hermes.agent.conversation import Conversation
from hermes.agent.send import ModelClient
from hermes.agent.structured import SchemaExpectation
from hermes.errors import (
    AuthFailed,
    IncompleteResponse,
    ProviderDown,
    RateLimited,
    RequestRejected,
)
from hermes.events import Reasoning, Text
from hermes.messages import Image, Message, ToolCall
from hermes.net.client import Client
from hermes.protocols import Endpoint, Request, ToolResult, ToolSpec
from hermes.providers.anthropic import PROVIDER
from hermes.transports.anthropic_messages import Transport
from simulators.anthropic_messages import (
    MessagesSimulator,
    answers,
    breaks_off,
    calls,
    fails,
    fails_midway,
    says,
    sealed,
    text,
    thinks,
    uses,
)
from simulators.naps import Naps
from simulators.talk import turn

SCHEMA = {"type": "object", "properties": {"q": {"type": "string"}}, "required": ["q"]}
MODEL = "claude-sonnet-5-5"


class Key:
    def reveal(self) -> str:
        return "sk-secret"


class Log:
    def __init__(self):
        self.kept: list[Message] = []

    async def append(self, session_id, messages):
        self.kept += messages


class Tools:
    def specs(self):
        return (ToolSpec("look", "Look it up.", SCHEMA),)

    def fit(self, name, arguments):
        return dict(arguments)

    def effect(self, name):
        return "reads"

    def lack(self, name):
        return None

    def concern(self, name, arguments):
        return None

    async def call(self, name, arguments, judged=None):
        return ToolResult(text=f"saw {arguments.get('q')}")


class Bench:
    """A conversation with a simulated model."""

    def __init__(self, *script, provider=PROVIDER, model=MODEL):
        self.server = MessagesSimulator(*script)
        self.client = Client()
        self.log, self.events = Log(), []
        self.provider, self.model_name = provider, model

    async def __aenter__(self):
        await self.server.__aenter__()
        self.conversation = Conversation("s1", (), self.log)
        self.endpoint = Endpoint(
            provider=self.provider, model=self.model_name, base_url=self.server.base_url, api_key=Key()
        )
        self.model = ModelClient(self.endpoint, Transport(), self.client, sleep=Naps())
        return self

    async def __aexit__(self, *error):
        await self.client.close()
        await self.server.__aexit__(*error)
        assert self.server.refusals == []

    async def ask(self, question="why?", max_turns=10):
        return await turn(self.conversation, self.model, Tools(), self.events.append, calls=max_turns).answer(
            question
        )

    async def send(self, *messages, **fields):
        request = Request(model=self.model_name, messages=messages, issuer=self.endpoint.issuer, **fields)
        return await self.model.send(request, self.events.append)

    def shown(self, kind):
        return "".join(event.delta for event in self.events if isinstance(event, kind))


async def test_a_text_turn_with_its_headers_and_usage():
    async with Bench(says("Because.")) as bench:
        answer = await bench.ask()
        assert (answer.text, answer.finish_reason, answer.api_mode) == (
            "Because.",
            "stop",
            "anthropic_messages",
        )
        assert (answer.usage.prompt_tokens, answer.usage.cached_tokens) == (115, 100)
        assert bench.shown(Text) == "Because."
        [headers] = bench.server.headers
        assert headers["x-api-key"] == "sk-secret"
        assert headers["anthropic-version"] == "2023-06-01"
        assert "authorization" not in headers


async def test_a_whole_reply_gives_the_same_answer():
    async with Bench(answers(thinks("hm"), text("Because."))) as bench:
        streamed = await bench.send(Message(role="user", content="why?"))
        at_once = await bench.send(Message(role="user", content="why?"), stream=False)
        assert streamed == at_once
        assert "stream" not in bench.server.bodies[1]


async def test_two_calls_side_by_side_come_back_in_one_turn():
    script = calls(("look", {"q": "a"}), ("look", {"q": "b"}), words="Let me look."), says("Done.")
    async with Bench(*script) as bench:
        assert (await bench.ask()).text == "Done."
        said, results = bench.server.bodies[1]["messages"][-2:]
        assert [block["type"] for block in said["content"]] == ["text", "tool_use", "tool_use"]
        assert [block["content"] for block in results["content"]] == ["saw a", "saw b"]
        assert [block["tool_use_id"] for block in results["content"]] == [
            block["id"] for block in said["content"][1:]
        ]


async def test_signed_thinking_comes_back_as_it_was_given_after_a_reload():
    blocks = [thinks("first"), sealed(), text("Looking."), uses("look", {"q": "x"}, "t1")]
    async with Bench(answers(*blocks), answers(thinks("then"), text("Yes.")), says("Again.")) as bench:
        await bench.ask()
        history = msgspec.json.decode(msgspec.json.encode(bench.log.kept), type=list[Message])
        bench.conversation = Conversation("s1", history, bench.log)
        await bench.ask("sure?")
        replayed = bench.server.bodies[2]["messages"]
        expected = [{key: value for key, value in block.items() if value is not None} for block in blocks]
        assert [_unmarked(block) for block in replayed[1]["content"]] == expected
        assert _unmarked(replayed[3]["content"][0]) == thinks("then")
        assert "first" in bench.shown(Reasoning)


def _unmarked(block):
    return {key: value for key, value in block.items() if key != "cache_control"}


async def test_thinking_made_elsewhere_is_not_sent_here():
    async with Bench(answers(thinks("mine"), text("Yes."))) as bench:
        made = await bench.send(Message(role="user", content="why?"))
        foreign = Message(
            role="assistant", content=made.content, provider_data=made.provider_data, issuer="someone else"
        )
        await bench.send(Message(role="user", content="why?"), foreign, Message(role="user", content="sure?"))
        assert "thinking" not in json.dumps(bench.server.bodies[1]["messages"])


async def test_an_image_from_the_user_and_one_from_a_tool():
    pixel = Image(media_type="image/png", data="aGk=")
    history = (
        Message(role="user", content="what is this?", images=(pixel,)),
        Message(role="assistant", tool_calls=(ToolCall("c1", "look", '{"q":"x"}'),)),
        Message(role="tool", tool_call_id="c1", content="a picture", images=(pixel,)),
    )
    async with Bench(says("A pixel.")) as bench:
        assert (await bench.send(*history, tools=Tools().specs())).content == "A pixel."
        sent = bench.server.bodies[0]["messages"]
        assert sent[0]["content"][1]["source"]["media_type"] == "image/png"
        assert [part["type"] for part in sent[2]["content"][0]["content"]] == ["text", "image"]


async def test_an_answer_through_the_tool_is_data_after_other_tools_and_one_more_try():
    schema = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}
    wrong, right = (answers(uses("structured_answer", {"n": n})) for n in ("one", 1))
    async with Bench(calls(("look", {"q": "a"})), wrong, right, model="claude-opus-4-1") as bench:
        expected = SchemaExpectation(schema)
        asked = turn(bench.conversation, bench.model, Tools(), bench.events.append, expectation=expected)
        answer = await asked.answer("count")
        assert (answer.parsed, json.loads(answer.text)) == ({"n": 1}, {"n": 1})
        choices = [body["tool_choice"]["type"] for body in bench.server.bodies]
        assert choices == ["any", "any", "tool"]


async def test_a_pause_is_continued_by_itself():
    script = says("First, ", stop="pause_turn"), answers(thinks("hm"), text("then.")), says("Bye.")
    async with Bench(*script) as bench:
        answer = await bench.ask()
        assert (answer.text, answer.finish_reason, answer.complete) == ("First, then.", "stop", True)
        said = bench.server.bodies[1]["messages"]
        assert [turn["role"] for turn in said] == ["user", "assistant", "user"]
        assert said[1]["content"][0]["text"] == "First, "
        assert (await bench.ask("and?")).text == "Bye."


async def test_structured_output_both_ways():
    schema = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}
    async with Bench(says('{"n": 1}')) as bench:
        response = await bench.send(Message(role="user", content="count"), output_schema=schema)
        assert json.loads(response.content) == {"n": 1}
    async with Bench(answers(uses("structured_answer", {"n": 1})), model="claude-opus-4-1") as bench:
        response = await bench.send(Message(role="user", content="count"), output_schema=schema)
        assert (json.loads(response.content), response.tool_calls) == ({"n": 1}, None)


@pytest.mark.parametrize(
    ("status", "kind", "error"),
    [
        (400, "invalid_request_error", RequestRejected),
        (401, "authentication_error", AuthFailed),
        (404, "not_found_error", RequestRejected),
        (413, "request_too_large", RequestRejected),
    ],
)
async def test_an_error_status_says_what_to_do_next(status, kind, error):
    async with Bench(fails(status, kind, "because")) as bench:
        with pytest.raises(error, match="because") as caught:
            await bench.ask()
        assert len(bench.server.bodies) == 1
        assert "sk-secret" not in str(caught.value)
        if error is AuthFailed:
            assert "ANTHROPIC_API_KEY" in caught.value.hint


async def test_a_short_overload_is_waited_out():
    async with Bench(fails(529, "overloaded_error", retry_after="0"), says("There.")) as bench:
        assert (await bench.ask()).text == "There."


@pytest.mark.parametrize(
    ("kind", "error"),
    [
        ("overloaded_error", ProviderDown),
        ("rate_limit_error", RateLimited),
        ("authentication_error", AuthFailed),
        ("invalid_request_error", RequestRejected),
        ("api_error", ProviderDown),
    ],
)
async def test_an_error_in_the_middle_keeps_what_was_said(kind, error):
    async with Bench(fails_midway(kind), says("whole")) as bench:
        with pytest.raises(error):
            await bench.ask()
        assert bench.log.kept[-1].content == "so f"
        assert (await bench.ask("again?")).text == "whole"


@pytest.mark.parametrize("keep", range(11))
async def test_a_cut_stream_is_never_a_short_answer(keep):
    async with Bench(breaks_off(thinks("hmmm"), text("half of it"), keep=keep), says("whole")) as bench:
        try:
            answer = await bench.ask()
        except IncompleteResponse:
            assert bench.log.kept[-1].content == bench.shown(Text)
            answer = await bench.ask("again?")
        assert answer.text == "whole"
        assert len(bench.server.bodies) == 2


async def test_each_request_of_a_conversation_is_a_prefix_of_the_next():
    script = [answers(thinks(str(n)), uses("look", {"q": str(n)})) for n in range(5)]
    async with Bench(*script, says("done")) as bench:
        await bench.ask()
        histories = [
            [[_unmarked(block) for block in turn["content"]] for turn in body["messages"]]
            for body in bench.server.bodies
        ]
        for shorter, longer in itertools.pairwise(histories):
            assert longer[: len(shorter)] == shorter


async def test_the_vendors_own_client_sends_the_same_fields():
    """What differs is listed with its reason; anything else that differs fails."""
    vendor = pytest.importorskip("anthropic", reason="the vendor's SDK is the oracle")
    conversation = [
        {"role": "user", "content": [{"type": "text", "text": "why?"}]},
        {
            "role": "assistant",
            "content": [thinks("hm"), {"type": "tool_use", "id": "t1", "name": "look", "input": {"q": "x"}}],
        },
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t1", "content": "saw x"}]},
    ]
    schema = {"type": "object", "properties": {"n": {"type": "integer"}}, "additionalProperties": False}
    async with Bench(
        answers(thinks("hm"), uses("look", {"q": "x"}, "t1")),
        says("ok"),
        says("ok"),
        provider=msgspec.structs.replace(PROVIDER, caches=False),
    ) as bench:
        question = Message(role="user", content="why?")
        response = await bench.send(question)
        said = Message(
            role="assistant",
            tool_calls=tuple(response.tool_calls),
            provider_data=response.provider_data,
            issuer=bench.endpoint.issuer,
        )
        result = Message(role="tool", tool_call_id="t1", content="saw x")
        system = Message(role="system", content="Be brief.")
        await bench.send(
            system, question, said, result,
            tools=Tools().specs(), tool_choice="none", effort="high", max_output_tokens=500,
            output_schema=schema,
        )  # fmt: skip
        async with vendor.AsyncAnthropic(
            api_key="sk-secret", base_url=bench.server.base_url, max_retries=0
        ) as client:
            stream = await client.messages.create(
                model=MODEL,
                max_tokens=500,
                system=[{"type": "text", "text": "Be brief."}],
                messages=conversation,
                tools=[{"name": "look", "description": "Look it up.", "input_schema": SCHEMA}],
                tool_choice={"type": "none"},
                thinking={"type": "adaptive", "display": "summarized"},
                output_config={"effort": "high", "format": {"type": "json_schema", "schema": schema}},
                stream=True,
            )
            async for _ in stream:
                pass
        ours, theirs = bench.server.bodies[1:]
        assert ours == theirs
        our_headers, their_headers = bench.server.headers[1:]
    differences = {
        name
        for name in {*our_headers, *their_headers}
        if our_headers.get(name) != their_headers.get(name) and not name.startswith("x-stainless-")
    }
    assert differences <= {
        "x-api-key",  # the older version's documented way to send a key ...
        "authorization",  # ... where the SDK, on the newer version, sends the same key as a bearer token
        "anthropic-version",  # the SDK moved to 2026-10-21, which takes no temperature; we stay on 2023-06-01
        "anthropic-beta",  # asked for by the provider's file; the SDK sends none by itself
        "user-agent",  # we name ourselves, never another product
        "accept",  # both take JSON and event streams
        "accept-encoding", "connection", "content-length", "host",  # the HTTP client's own
    }  # fmt: skip
    assert their_headers["authorization"] == f"Bearer {our_headers['x-api-key']}"


async def test_the_vendors_own_client_reads_the_simulator_as_we_do():
    vendor = pytest.importorskip("anthropic", reason="the vendor's SDK is the oracle")
    blocks = [thinks("hm"), text("Looking."), uses("look", {"q": "x"}, "t1")]
    async with Bench(answers(*blocks)) as bench:
        ours = await bench.send(Message(role="user", content="why?"))
        async with (
            vendor.AsyncAnthropic(api_key="k", base_url=bench.server.base_url, max_retries=0) as client,
            client.messages.stream(
                model=MODEL,
                max_tokens=9,
                messages=[{"role": "user", "content": [{"type": "text", "text": "?"}]}],
            ) as stream,
        ):
            theirs = await stream.get_final_message()
    assert ours.content == theirs.content[1].text
    assert ours.reasoning == theirs.content[0].thinking
    assert ours.tool_calls[0].parse() == theirs.content[2].input
    assert ours.usage.completion_tokens == theirs.usage.output_tokens


async def test_an_interrupt_in_the_middle_leaves_a_history_the_next_call_accepts():
    async with Bench(answers(thinks("hm"), uses("look", {"q": "x"}, "t1")), says("back")) as bench:
        asked = turn(bench.conversation, bench.model, Stuck(), bench.events.append)
        running = asyncio.ensure_future(asked.answer("why?"))
        while not running.done() and not any(message.tool_calls for message in bench.log.kept):
            await asyncio.sleep(0.001)
        running.cancel()
        with pytest.raises(asyncio.CancelledError):
            await running
        assert (await bench.ask("still there?")).text == "back"


class Stuck(Tools):
    async def call(self, name, arguments, judged=None):
        await asyncio.Event().wait()
