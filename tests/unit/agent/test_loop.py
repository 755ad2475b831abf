"""The loop against a strict server on real sockets: every ladder leaves a history the next call accepts."""

import asyncio
import itertools
import json

import pytest

from hermes.agent.prompt import LIMIT_REACHED
from hermes.agent.structured import SchemaExpectation
from hermes.errors import (
    AuthFailed,
    IncompleteResponse,
    InvalidResponse,
    NetError,
    StoreUnavailable,
    ToolError,
    UsageError,
    WebError,
)
from hermes.events import Text, ToolFinished, ToolStarted
from hermes.messages import Message
from hermes.protocols import ToolResult
from simulators.chat_completions import calls, fails, raw, says
from simulators.scripted import http_reply
from simulators.talk import Bench


async def test_a_plain_answer():
    async with Bench(says("Because.")) as bench:
        answer = await bench.ask()
        assert (answer.text, answer.finish_reason, answer.complete) == ("Because.", "stop", True)
        assert (answer.provider, answer.model, answer.usage.total_tokens) == ("sim", "m", 15)
        assert "".join(event.delta for event in bench.events if isinstance(event, Text)) == "Because."
        assert bench.log.kept == list(answer.messages)
        assert bench.roles() == ["user", "assistant"]


async def test_tools_run_and_their_sources_are_cited():
    script = calls(("look", {"q": "sky"}), text="Let me look."), says("The sky is blue. [1]")
    async with Bench(*script) as bench:
        answer = await bench.ask()
        assert bench.tools.called == [("look", {"q": "sky"})]
        assert answer.text == "The sky is blue. [1]"
        [cited] = answer.citations
        assert (cited.n, cited.url, cited.title, cited.quote) == (
            1,
            "http://page/sky",
            "A page",
            "The sky is blue.",
        )
        assert bench.roles() == ["user", "assistant", "tool", "assistant"]
        assert answer.usage.total_tokens == 30
        assert [m.usage.total_tokens for m in bench.log.kept if m.usage] == [15, 15]
        assert [m.served_by for m in bench.log.kept] == [None, None, "test", None]
        started, finished = (e for e in bench.events if isinstance(e, ToolStarted | ToolFinished))
        assert (started.name, finished.result, finished.served_by) == ("look", "saw sky", "test")


async def test_one_failing_call_does_not_fail_its_siblings_and_order_is_kept():
    script = (
        calls(("fail", {}), ("look", {"q": "a"}), ("nosuch", {})),
        says("ok"),
    )
    async with Bench(*script) as bench:
        await bench.ask()
        results = [json_or_text(message.content) for message in bench.log.kept if message.role == "tool"]
        assert [message.is_error for message in bench.log.kept if message.role == "tool"] == [
            True,
            False,
            True,
        ]
        assert results[0] == {"error": "it broke"}
        assert results[1] == "saw a"
        assert "no tool `nosuch`" in results[2]["error"]


async def test_at_the_limit_the_model_sums_up_with_its_tools_kept_and_none_chosen():
    async with Bench(
        calls(("look", {"q": "a"})), calls(("look", {"q": "b"})), says("So far: a, b.")
    ) as bench:
        answer = await bench.ask(calls=2)
        last = bench.server.bodies[-1]
        assert (answer.text, answer.complete, answer.finish_reason) == ("So far: a, b.", False, "incomplete")
        assert last["messages"][-1] == {"role": "user", "content": LIMIT_REACHED.format("2 model calls")}
        assert last["tools"]
        assert last["tool_choice"] == "none"


async def test_calls_in_the_final_summary_are_not_run_and_leave_no_open_call():
    async with Bench(calls(("look", {"q": "a"}))) as bench:
        answer = await bench.ask(calls=1)
        assert len(bench.tools.called) == 1
        assert answer.complete is False
        assert not bench.log.kept[-1].tool_calls


async def test_a_long_conversation_sends_each_history_as_a_prefix_of_the_next():
    async with Bench(*(calls(("look", {"q": str(n)})) for n in range(6)), says("done")) as bench:
        await bench.ask()
        histories = [body["messages"] for body in bench.server.bodies]
        for shorter, longer in itertools.pairwise(histories):
            assert longer[: len(shorter)] == shorter


async def test_the_next_question_goes_on_where_the_last_one_ended():
    async with Bench(says("one"), says("two")) as bench:
        await bench.ask("first?")
        await bench.ask("second?")
        assert [m["content"] for m in bench.server.bodies[1]["messages"][1:]] == ["first?", "one", "second?"]


async def test_an_answer_that_breaks_off_is_kept_once_and_raised():
    async with Bench(says("half of it", finish=None), says("whole")) as bench:
        turn = bench.turn()
        with pytest.raises(IncompleteResponse):
            await turn.answer("why?")
        assert turn.partial().text == "half of it"
        assert [(m.role, m.content) for m in bench.log.kept] == [
            ("user", "why?"),
            ("assistant", "half of it"),
        ]
        assert len(bench.server.bodies) == 1
        assert (await bench.ask("again?")).text == "whole"


@pytest.mark.parametrize(
    ("reply", "requests"),
    [
        (http_reply(200, b"<html>hotel wifi</html>", content_type="text/html"), 1),
        (http_reply(200, b"", content_type="text/event-stream"), 3),
        (http_reply(200, b"data: [DONE]\n\n", content_type="text/event-stream"), 3),
        (http_reply(200, b'data: {"choices": [{\n\n', content_type="text/event-stream"), 1),
        (http_reply(200, b'{"choices": []}', content_type="application/json"), 3),
        (http_reply(200, b"not json", content_type="application/json"), 1),
    ],
)
async def test_what_is_no_answer_is_an_error_and_only_an_empty_one_is_asked_for_again(reply, requests):
    async with Bench(raw(reply)) as bench:
        with pytest.raises((InvalidResponse, NetError)):
            await bench.ask()
        assert len(bench.server.bodies) == requests
        assert bench.roles() == ["user"]


async def test_a_refused_key_names_the_variable():
    async with Bench(fails(401, "bad key")) as bench:
        with pytest.raises(AuthFailed, match="bad key") as caught:
            await bench.ask()
        assert "SIM_API_KEY" in caught.value.hint


async def test_a_server_that_ignores_streaming_is_understood():
    whole = json.dumps({"choices": [{"message": {"content": "plain"}, "finish_reason": "stop"}]}).encode()
    async with Bench(raw(http_reply(200, whole, content_type="application/json"))) as bench:
        assert (await bench.ask()).text == "plain"


async def test_an_interrupt_during_a_tool_leaves_a_history_the_next_call_accepts():
    async with Bench(calls(("hang", {}), ("look", {"q": "x"})), says("back again")) as bench:
        turn = bench.turn()
        running = asyncio.ensure_future(turn.answer("why?"))
        while ("hang", {}) not in bench.tools.called:
            await asyncio.sleep(0.001)
        running.cancel()
        with pytest.raises(asyncio.CancelledError):
            await running
        assert [m.content for m in bench.log.kept if m.role == "tool"] == [
            '{"error":"interrupted before it ended"}',
            "saw x",
        ]
        assert (await bench.ask("still there?")).text == "back again"


async def test_an_interrupt_while_text_streams_keeps_the_text():
    head = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n"
    piece = b'data: {"choices": [{"delta": {"content": "so far "}}]}\n\n'
    async with Bench(raw(head + piece), says("next")) as bench:
        bench.server._server._handler = stall_after(bench.server._serve, head + piece)
        turn = bench.turn()
        running = asyncio.ensure_future(turn.answer("why?"))
        while not any(isinstance(event, Text) for event in bench.events):
            await asyncio.sleep(0.001)
        running.cancel()
        with pytest.raises(asyncio.CancelledError):
            await running
        assert turn.partial().text == "so far "
        assert bench.log.kept[-1] == Message(role="assistant", content="so far ", finish_reason="incomplete")


async def test_a_server_that_gives_a_whole_answer_to_a_stream_is_understood():
    whole = {"choices": [{"message": {"content": "Because."}, "finish_reason": "stop"}]}
    reply = http_reply(200, json.dumps(whole).encode(), content_type="application/json")
    async with Bench(raw(reply)) as bench:
        for _ in range(2):
            assert (await bench.ask()).text == "Because."
        assert all(body["stream"] for body in bench.server.bodies)


YEAR = {"type": "object", "properties": {"year": {"type": "integer"}}, "required": ["year"]}


@pytest.mark.parametrize("text", ['{"year": 1991}', '```json\n{"year": 1991}\n```'])
async def test_an_answer_that_keeps_its_schema_is_data(text):
    async with Bench(says(text)) as bench:
        turn = bench.turn(YEAR)
        answer = await turn.answer("when?")
        assert (answer.parsed, answer.text) == ({"year": 1991}, text)
        assert bench.server.bodies[0]["response_format"]["json_schema"]["schema"] == YEAR


@pytest.mark.parametrize("wrong", ["In 1991.", '{"year": "1991"}', "{}"])
async def test_an_answer_that_does_not_is_asked_for_once_more(wrong):
    async with Bench(says(wrong), says('{"year": 1991}')) as bench:
        turn = bench.turn(YEAR)
        assert (await turn.answer("when?")).parsed == {"year": 1991}
        again = bench.server.bodies[1]
        assert "does not keep the JSON Schema" in again["messages"][-1]["content"]
        assert again["tool_choice"] == "none"


async def test_an_answer_that_never_does_is_an_error():
    async with Bench(says("In 1991.")) as bench:
        turn = bench.turn(YEAR)
        with pytest.raises(InvalidResponse, match="not JSON"):
            await turn.answer("when?")
        assert len(bench.server.bodies) == 2


def test_what_is_no_schema_is_said():
    with pytest.raises(UsageError, match="no JSON Schema"):
        SchemaExpectation({"type": "nonsense"})


def stall_after(_serve, data):
    async def handler(exchange):
        await exchange.send(data)
        await exchange.client_left()

    return handler


def json_or_text(content):
    try:
        return json.loads(content)
    except ValueError:
        return content


@pytest.mark.parametrize("error", [ToolError("it broke"), StoreUnavailable("it broke"), WebError("it broke")])
async def test_a_call_that_fails_in_any_way_leaves_its_siblings_alone(error, monkeypatch):
    async with Bench(calls(("fail", {}), ("look", {"q": "x"})), says("fine")) as bench:

        async def call(name, arguments, judged=None):
            if name == "fail":
                raise error
            await asyncio.sleep(0.01)
            return ToolResult(text="saw x")

        monkeypatch.setattr(bench.tools, "call", call)
        assert (await bench.ask()).text == "fine"
        assert [m.content for m in bench.log.kept if m.role == "tool"] == ['{"error":"it broke"}', "saw x"]
