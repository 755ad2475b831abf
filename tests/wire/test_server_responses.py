"""`/v1/responses` of our own server, asked by the official client over real sockets."""

import json

import openai
import pytest

from simulators.chat_completions import ChatSimulator, calls, fails, says
from simulators.serving import client, serving, settings

SCOUT = "hermes://docs/concepts/scout.md"
SEARCH = ("web_search", {"query": "scout", "limit": 2})
WEATHER = {
    "type": "function",
    "name": "weather",
    "description": "The weather.",
    "parameters": {"type": "object", "properties": {"town": {"type": "string"}}},
    "strict": False,
}
SCHEMA = {
    "type": "object",
    "properties": {"name": {"type": "string"}},
    "required": ["name"],
    "additionalProperties": False,
}
MESSAGE = [
    "response.output_item.added",
    "response.content_part.added",
    "response.output_text.delta",
    "response.output_text.done",
    "response.content_part.done",
    "response.output_item.done",
]
SEARCHED = [
    "response.output_item.added",
    "response.web_search_call.in_progress",
    "response.web_search_call.searching",
    "response.web_search_call.completed",
    "response.output_item.done",
]


@pytest.fixture
def home(tmp_path):
    return tmp_path / "home"


async def asked(ask, words="what is scout?", **more):
    return await ask.responses.create(model="custom/m", input=words, **more)


async def test_the_events_of_a_stream_come_in_order_and_numbered(home):
    async with ChatSimulator(calls(SEARCH, text="Let me see."), says("Ü! It is. [1]", chunks=1)) as model:
        config = settings(home, CUSTOM_BASE_URL=model.base_url)
        async with serving(config) as server, client(server) as ask:
            events = [event async for event in await asked(ask, stream=True)]
            kept = await ask.responses.retrieve(events[-1].response.id)
    noted = "response.output_text.annotation.added"
    answered = [*MESSAGE[:3], noted, *MESSAGE[3:]]
    assert [event.type for event in events] == [
        "response.created",
        "response.in_progress",
        *MESSAGE,
        *SEARCHED,
        *answered,
        "response.completed",
    ]
    assert [event.sequence_number for event in events] == list(range(len(events)))
    whole = events[-1].response
    assert [item.type for item in whole.output] == ["message", "web_search_call", "message"]
    assert [item.id for item in whole.output] == [
        event.item.id for event in events if event.type == "response.output_item.done"
    ]
    (note,) = whole.output[-1].content[0].annotations
    assert ("Ü! It is. [1]"[note.start_index : note.end_index], note.url) == ("[1]", SCOUT)
    assert whole.output_text.endswith("Ü! It is. [1]")
    assert (whole.usage.input_tokens, whole.usage.output_tokens) == (20, 10)
    assert kept == whole


async def test_the_clients_own_assembly_of_the_events_is_the_whole_response(home):
    script = calls(SEARCH, text="Let me see."), calls(("weather", {"town": "Ulm"}), text="So:")
    async with ChatSimulator(*script) as model:
        config = settings(home, CUSTOM_BASE_URL=model.base_url)
        async with serving(config) as server, client(server) as ask:
            given = {"model": "custom/m", "input": "hi", "tools": [WEATHER]}
            async with ask.responses.stream(**given) as stream:
                seen = [event.type async for event in stream]
                whole = await stream.get_final_response()
    assert seen[-1] == "response.completed"
    assert [item.type for item in whole.output] == ["message", "web_search_call", "message", "function_call"]
    assert whole.output_text == "Let me see.So:"


async def test_a_conversation_goes_on_from_any_response_and_knows_what_was_read(home):
    async with ChatSimulator(calls(SEARCH), says("A model."), says("Yes."), says("No.")) as model:
        config = settings(home, CUSTOM_BASE_URL=model.base_url)
        async with serving(config) as server, client(server) as ask:
            first = await asked(ask, instructions="Be brief.")
            await asked(ask, "Really?", previous_response_id=first.id)
        async with serving(config) as server, client(server) as ask:
            branch = await asked(ask, "Not?", previous_response_id=first.id)
        said = [(m["role"], m["content"]) for m in model.bodies[-1]["messages"]]
    assert [role for role, _ in said] == ["system", "user", "assistant", "tool", "assistant", "user"]
    assert said[-1] == ("user", "Not?")
    assert "Be brief." not in str(said)
    assert branch.output_text == "No."
    assert branch.previous_response_id == first.id


async def test_a_response_that_is_not_stored_or_was_deleted_is_gone(home):
    async with ChatSimulator(says("Hello.")) as model:
        config = settings(home, CUSTOM_BASE_URL=model.base_url)
        async with serving(config) as server, client(server) as ask:
            passing = await asked(ask, store=False)
            stored = await asked(ask)
            await ask.responses.delete(stored.id)
            for gone in (passing.id, stored.id, "resp_never"):
                with pytest.raises(openai.NotFoundError):
                    await ask.responses.retrieve(gone)
                with pytest.raises(openai.NotFoundError):
                    await ask.responses.delete(gone)
                with pytest.raises(openai.NotFoundError):
                    await asked(ask, previous_response_id=gone)
    assert passing.store is False
    assert len(model.bodies) == 2


async def test_a_response_is_kept_for_so_many_days(home):
    now = [1_000_000.0]
    async with ChatSimulator(says("Hello.")) as model:
        config = settings(home, CUSTOM_BASE_URL=model.base_url, HERMES_SERVER_KEEP_DAYS="1")
        async with serving(config, now=lambda: now[0]) as server, client(server) as ask:
            kept = await asked(ask)
            now[0] += 86_000
            await ask.responses.retrieve(kept.id)
            now[0] += 500
            with pytest.raises(openai.NotFoundError):
                await ask.responses.retrieve(kept.id)


async def test_a_function_call_is_the_callers_and_its_output_goes_on(home):
    script = calls(SEARCH), calls(("weather", {"town": "Ulm"})), says("Rain. [1]")
    async with ChatSimulator(*script) as model:
        config = settings(home, CUSTOM_BASE_URL=model.base_url)
        async with serving(config) as server, client(server) as ask:
            events = [event async for event in await asked(ask, tools=[WEATHER], stream=True)]
            first = events[-1].response
            call = first.output[-1]
            output = {"type": "function_call_output", "call_id": call.call_id, "output": "rain"}
            last = await asked(ask, [output], previous_response_id=first.id, tools=[WEATHER])
        roles = [m["role"] for m in model.bodies[-1]["messages"]]
        assert model.refusals == []
    assert [event.type for event in events][-5:] == [
        "response.output_item.added",
        "response.function_call_arguments.delta",
        "response.function_call_arguments.done",
        "response.output_item.done",
        "response.completed",
    ]
    assert (call.type, call.name, json.loads(call.arguments)) == ("function_call", "weather", {"town": "Ulm"})
    assert roles == ["system", "user", "assistant", "tool", "assistant", "tool"]
    assert last.output_text == "Rain. [1]"
    assert last.output[-1].content[0].annotations[0].url == SCOUT


async def test_a_conversation_that_is_sent_whole_is_answered_too(home):
    history = [
        {"role": "user", "content": "hi"},
        {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "Yes?"}]},
        {"type": "reasoning", "id": "rs_1", "summary": []},
        {"type": "function_call", "call_id": "c1", "name": "weather", "arguments": "{}"},
        {"type": "function_call", "call_id": "c2", "name": "weather", "arguments": "{}"},
        {"type": "function_call_output", "call_id": "c1", "output": "rain"},
        {"type": "function_call_output", "call_id": "c2", "output": "sun"},
    ]
    async with ChatSimulator(says("Both.")) as model:
        config = settings(home, CUSTOM_BASE_URL=model.base_url)
        async with serving(config) as server, client(server) as ask:
            answer = await asked(ask, history, tools=[WEATHER, {"type": "web_search"}])
        assert model.refusals == []
        roles = [m["role"] for m in model.bodies[0]["messages"]]
    assert roles == ["system", "user", "assistant", "tool", "tool"]
    assert answer.output_text == "Both."


async def test_a_response_can_be_data(home):
    format = {"type": "json_schema", "name": "it", "schema": SCHEMA, "strict": True}
    async with ChatSimulator(says('{"name": "scout"}')) as model:
        config = settings(home, CUSTOM_BASE_URL=model.base_url)
        async with serving(config) as server, client(server) as ask:
            whole = await asked(ask, text={"format": format})
            events = [event async for event in await asked(ask, text={"format": format}, stream=True)]
    assert json.loads(whole.output_text) == {"name": "scout"}
    assert json.loads(events[-1].response.output_text) == {"name": "scout"}


async def test_a_cut_or_failed_response_says_so(home):
    script = says("Half an", finish="length"), says("Half a", finish=None), fails(401, "wrong key")
    async with ChatSimulator(*script) as model:
        config = settings(home, CUSTOM_BASE_URL=model.base_url)
        async with serving(config) as server, client(server) as ask:
            cut = await asked(ask, max_output_tokens=2)
            events = [event async for event in await asked(ask, stream=True)]
            with pytest.raises(openai.APIStatusError) as failed:
                await asked(ask)
    assert (cut.status, cut.incomplete_details.reason) == ("incomplete", "max_output_tokens")
    assert events[-1].type == "response.failed"
    assert "stopped before its end" in events[-1].response.error.message
    assert failed.value.status_code == 502


@pytest.mark.parametrize(
    ("given", "param"),
    [
        ({"background": True}, "background"),
        ({"conversation": "conv_1"}, "conversation"),
        ({"input": []}, "input"),
        ({"input": " "}, "input"),
        ({"input": [{"type": "function_call_output", "call_id": "x", "output": "y"}]}, "input"),
        ({"text": {"format": {"type": "xml"}}}, "text.format"),
        ({"tools": [{"type": "function", "parameters": {}}]}, "tools"),
        ({"tools": [{"type": "computer"}]}, "tools[0].type"),
    ],
)
async def test_what_cannot_be_done_is_refused(home, given, param):
    async with serving(settings(home)) as server, client(server) as ask:
        with pytest.raises(openai.BadRequestError) as refused:
            await ask.responses.create(**{"model": "hermes", "input": "hi", **given})
    assert refused.value.param == param


async def test_a_response_that_cannot_be_kept_is_given_and_says_that_it_is_not(home):
    async with ChatSimulator(says("Hello.")) as model:
        config = settings(home, CUSTOM_BASE_URL=model.base_url)
        async with serving(config) as server, client(server) as ask:
            (home / "responses.db").mkdir(parents=True)
            answer = await asked(ask)
    assert (answer.output_text, answer.store) == ("Hello.", False)
