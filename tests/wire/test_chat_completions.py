"""What we send over chat completions, beside what the vendor's own client sends for the same conversation."""

import json

import pytest

from hermes.agent.send import ModelClient
from hermes.config.secret import Secret
from hermes.messages import Image, Message
from hermes.net.client import Client
from hermes.net.retry import RetryPolicy
from hermes.protocols import Endpoint, Provider, Request, ToolSpec
from hermes.transports.chat_completions import Transport
from simulators.chat_completions import ORACLE, ChatSimulator, calls, refusal, says

pytestmark = pytest.mark.skipif(ORACLE is None, reason="the vendor's SDK is not installed")

MODEL = "gpt-6.1"
RULES, QUESTION, PICTURE = "Be brief.", "why?", Image("image/png", "QUJD")
LOOK = ToolSpec("look", "Look it up.", {"type": "object", "properties": {"q": {"type": "string"}}})
FUNCTION = {"name": "look", "description": "Look it up.", "parameters": LOOK.parameters}
SCHEMA = {
    "type": "object",
    "properties": {"colour": {"type": "string"}},
    "required": ["colour"],
    "additionalProperties": False,
}
PROVIDER = Provider(
    name="sim",
    title="Sim",
    api_mode="chat_completions",
    max_tokens=900,
    max_tokens_key="max_completion_tokens",
)
SCRIPT = (
    calls(("look", {"q": "a"}), ("look", {"q": "b"}), text="Looking."),
    calls(("look", {"q": "c"}), ("look", {})),
    says("a and b"),
    says('{"colour":"red"}'),
)
"""Two turns that ask for two calls each, with words and without; an answer; and one to a picture."""


def result(arguments):
    return f"saw {json.loads(arguments).get('q')}"


async def our_requests(*, stream):
    async with ChatSimulator(*SCRIPT) as server:
        client = Client(retry=RetryPolicy(attempts=1), environ={})
        endpoint = Endpoint(
            provider=PROVIDER, model=MODEL, base_url=server.base_url, api_key=Secret("sk-test")
        )
        model = ModelClient(endpoint, Transport(), client)
        history = [Message(role="system", content=RULES), Message(role="user", content=QUESTION)]
        for _ in SCRIPT:
            request = Request(
                model=MODEL,
                messages=tuple(history),
                tools=(LOOK,),
                output_schema=SCHEMA,
                stream=stream,
                issuer=endpoint.issuer,
            )
            reply = await model.send(request, lambda event: None)
            asked = tuple(reply.tool_calls or ())
            history.append(Message(role="assistant", content=reply.content, tool_calls=asked))
            history += [
                Message(role="tool", tool_call_id=call.id, content=result(call.arguments)) for call in asked
            ] or [Message(role="user", content="which colour?", images=(PICTURE,))]
        await client.close()
        assert server.refusals == []
        return server.bodies, server.headers


async def their_requests(*, stream):
    from openai import AsyncOpenAI

    async with ChatSimulator(*SCRIPT) as server:
        client = AsyncOpenAI(base_url=server.base_url, api_key="sk-test", max_retries=0)
        history = [{"role": "system", "content": RULES}, {"role": "user", "content": QUESTION}]
        for _ in SCRIPT:
            message = await their_turn(client, history, stream=stream)
            history.append(message)
            history += [
                {
                    "role": "tool",
                    "tool_call_id": call["id"],
                    "content": result(call["function"]["arguments"]),
                }
                for call in message.get("tool_calls") or ()
            ] or [
                {
                    "role": "user",
                    "content": [
                        {"type": "text", "text": "which colour?"},
                        {"type": "image_url", "image_url": {"url": "data:image/png;base64,QUJD"}},
                    ],
                }
            ]
        await client.close()
        assert server.refusals == []
        return server.bodies, server.headers


async def their_turn(client, history, *, stream):
    """One turn as the vendor's documentation leads it; the client itself joins the pieces of a stream."""
    from openai.lib.streaming.chat import ChatCompletionStreamState

    streaming = {"stream": True, "stream_options": {"include_usage": True}} if stream else {}
    answer = await client.chat.completions.create(
        model=MODEL,
        messages=list(history),
        tools=[{"type": "function", "function": FUNCTION}],
        response_format={
            "type": "json_schema",
            "json_schema": {"name": "answer", "schema": SCHEMA, "strict": True},
        },
        max_completion_tokens=900,
        **streaming,
    )
    if stream:
        state = ChatCompletionStreamState()
        async for chunk in answer:
            state.handle_chunk(chunk)
        return as_sent_back(state.get_final_completion().choices[0].message.to_dict())
    return answer.choices[0].message.to_dict()


def as_sent_back(message):
    """The differences. Of a streamed answer the client gives back more than the vendor takes: its own
    reading of the text and of the arguments (`parsed`, `parsed_arguments`), the place of a call in the
    stream, and nulls for what was not there. Whoever calls it must take them out, and we never add them.
    Calls without words have no content in a whole answer and an empty one in a stream: we send none."""
    kept = {"role": message["role"], "content": message["content"]}
    if not message.get("tool_calls"):
        return kept
    kept["content"] = message["content"] or None
    return kept | {"tool_calls": [call_sent_back(call) for call in message["tool_calls"]]}


def call_sent_back(call):
    function = {key: call["function"][key] for key in ("name", "arguments")}
    return {"id": call["id"], "type": call["type"], "function": function}


@pytest.mark.parametrize("stream", [True, False], ids=["streamed", "whole"])
async def test_the_vendors_own_client_sends_the_same_but_for_what_is_listed_here(stream):
    ours, our_headers = await our_requests(stream=stream)
    theirs, their_headers = await their_requests(stream=stream)
    assert len(ours) == len(theirs) == 4
    for mine, their in zip(ours, theirs, strict=True):
        assert set(mine) == set(their)
        for field in their:
            assert mine[field] == their[field], field
    for mine, their in zip(our_headers, their_headers, strict=True):
        assert mine["authorization"] == their["authorization"] == "Bearer sk-test"
        assert mine["content-type"] == their["content-type"] == "application/json"
        # What remains of theirs tells the vendor of the client and its machine, which is nobody's business.
        odd = set(their) - set(mine) - {"connection"}
        assert all(name.startswith("x-stainless-") for name in odd), odd


async def test_the_simulator_answers_what_the_vendors_types_know():
    from openai.types.chat import ChatCompletion, ChatCompletionChunk

    asked = {"model": MODEL, "messages": [{}]}
    for answer in SCRIPT:
        whole = ChatCompletion.model_validate_json(body_of(answer(asked)))
        assert whole.choices[0].finish_reason in ("stop", "tool_calls")
        events = body_of(answer({**asked, "stream": True, "stream_options": {"include_usage": True}}))
        *chunks, end = [line.removeprefix("data: ") for line in events.decode().split("\n\n") if line]
        assert end == "[DONE]"
        assert ChatCompletionChunk.model_validate_json(chunks[-1]).usage.total_tokens == 15
        assert all(ChatCompletionChunk.model_validate_json(chunk).model == MODEL for chunk in chunks)


def body_of(reply):
    return reply.partition(b"\r\n\r\n")[2]


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"max_completion_tokens": "many"}, "refuse"),
        ({"max_completion_tokens": "900"}, "do not know all"),
        ({"tool_choice": "maybe", "tools": [{"type": "function", "function": FUNCTION}]}, "refuse"),
        ({"response_format": {"type": "json_schema", "json_schema": {"schema": {}}}}, "refuse"),
        ({"response_format": {"type": "json_object", "more": 1}}, "do not know all"),
        ({"messages": [{"role": "user", "content": [{"type": "text", "words": "hi"}]}]}, "refuse"),
        (
            {"messages": [{"role": "user", "content": [{"type": "text", "text": "hi", "x": 1}]}]},
            "do not know",
        ),
    ],
)
@pytest.mark.parametrize("stream", [True, False], ids=["streamed", "whole"])
def test_the_simulator_refuses_what_the_vendors_types_refuse(change, words, stream):
    body = {"model": MODEL, "messages": [{"role": "user", "content": "hi"}]} | (
        {"stream": True} if stream else {}
    )
    assert refusal("/v1/chat/completions", body) is None
    assert words in refusal("/v1/chat/completions", body | change)
