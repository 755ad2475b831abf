"""`/v1/chat/completions` of our own server, asked by the official client over real sockets."""

import json

import openai
import pytest

from simulators.chat_completions import ChatSimulator, calls, fails, raw, says
from simulators.scripted import http_reply
from simulators.serving import client, serving, settings
from simulators.web.tavily import Tavily

SCOUT = "hermes://docs/concepts/scout.md"
QUESTION = [{"role": "user", "content": "what is scout?"}]
SEARCH = ("web_search", {"query": "scout", "limit": 2})
WEATHER = {
    "type": "function",
    "function": {
        "name": "weather",
        "description": "The weather.",
        "parameters": {"type": "object", "properties": {"town": {"type": "string"}}},
    },
}
SCHEMA = {
    "type": "object",
    "properties": {"name": {"type": "string"}},
    "required": ["name"],
    "additionalProperties": False,
}
FORMAT = {"type": "json_schema", "json_schema": {"name": "it", "schema": SCHEMA, "strict": True}}


class Scene:
    """A model by its script, our server before it, and a client."""

    def __init__(self, home, *script, **variables):
        self.model = ChatSimulator(*script)
        self._home, self._variables = home, variables

    async def __aenter__(self):
        await self.model.__aenter__()
        config = settings(self._home, CUSTOM_BASE_URL=self.model.base_url, **self._variables)
        self._serving = serving(config)
        self.server = await self._serving.__aenter__()
        self.client = client(self.server)
        return self

    async def __aexit__(self, *error):
        await self.client.close()
        await self._serving.__aexit__(*error)
        await self.model.__aexit__(*error)
        assert self.model.refusals == []

    async def ask(self, messages=None, **more):
        given = {"model": "custom/m", "messages": messages or QUESTION, **more}
        return await self.client.chat.completions.create(**given)

    async def stream(self, messages=None, **more):
        return [chunk async for chunk in await self.ask(messages, stream=True, **more)]


def said(chunks):
    return "".join(chunk.choices[0].delta.content or "" for chunk in chunks if chunk.choices)


async def test_an_answer_comes_with_its_sources_its_places_and_its_usage(tmp_path):
    text = "Ein 🦉 quotes. [1] Nobody said this. [7] Again [1]."
    async with Scene(tmp_path, calls(SEARCH, text="Let me see."), says(text)) as scene:
        answer = await scene.ask()
    message = answer.choices[0].message
    assert (message.content, answer.choices[0].finish_reason) == (text, "stop")
    assert [text[n.url_citation.start_index : n.url_citation.end_index] for n in message.annotations] == [
        "[1]",
        "[1]",
    ]
    assert {note.url_citation.url for note in message.annotations} == {SCOUT}
    assert answer.citations[0] == SCOUT
    assert len(answer.citations) == len(answer.search_results) == 2
    assert set(answer.search_results[0]) == {"title", "url", "date", "snippet", "last_updated"}
    assert answer.search_results[0]["title"] == "How scout answers"
    assert (answer.usage.total_tokens, answer.usage.num_search_queries) == (30, 1)
    assert (answer.model, answer.served_by) == ("custom/m", "custom/m")


async def test_the_last_piece_of_a_stream_carries_the_sources_and_the_usage(tmp_path):
    async with Scene(tmp_path, calls(SEARCH, text="Let me see."), says("Ü! It is. [1]")) as scene:
        chunks = await scene.stream(stream_options={"include_usage": True})
    content = said(chunks)
    assert content == "Let me see.\n\nÜ! It is. [1]"
    *_, last, usage = chunks
    assert last.choices[0].finish_reason == "stop"
    cited = last.choices[0].delta.annotations[0]["url_citation"]
    assert content[cited["start_index"] : cited["end_index"]] == "[1]"
    assert last.citations[0] == usage.citations[0] == SCOUT
    assert last.search_results[0]["url"] == SCOUT
    assert usage.choices == []
    assert usage.usage.total_tokens == last.usage.total_tokens == 30
    assert len({chunk.id for chunk in chunks}) == 1


async def test_the_clients_own_assembly_of_a_stream_is_the_whole_answer(tmp_path):
    script = calls(SEARCH, text="Let me see."), calls(("weather", {"town": "Ulm"})), says("Rain. [1]")
    async with Scene(tmp_path, *script) as scene:
        given = {"model": "custom/m", "messages": QUESTION, "tools": [WEATHER]}
        async with scene.client.chat.completions.stream(**given) as stream:
            called = await stream.get_final_completion()
        async with scene.client.chat.completions.stream(**given) as stream:
            whole = await stream.get_final_completion()
    assert json.loads(called.choices[0].message.tool_calls[0].function.arguments) == {"town": "Ulm"}
    assert whole.choices[0].message.content == "Rain. [1]"
    assert whole.choices[0].finish_reason == "stop"


async def test_a_call_of_the_callers_tool_ends_the_run_and_its_result_goes_on(tmp_path):
    script = (
        calls(SEARCH),
        calls(("weather", {"town": "Ulm"})),
        says("It rains in Ulm, says nobody else. [1]"),
    )
    async with Scene(tmp_path, *script) as scene:
        first = await scene.ask(tools=[WEATHER])
        (call,) = first.choices[0].message.tool_calls
        assert first.choices[0].finish_reason == "tool_calls"
        assert (call.function.name, json.loads(call.function.arguments)) == ("weather", {"town": "Ulm"})
        result = {"role": "tool", "tool_call_id": call.id, "content": "rain"}
        history = [*QUESTION, first.choices[0].message.model_dump(exclude_none=True), result]
        last = await scene.ask(history, tools=[WEATHER])
        offered = [tool["function"]["name"] for tool in scene.model.bodies[-1]["tools"]]
        roles = [message["role"] for message in scene.model.bodies[-1]["messages"]]
    assert set(offered) == {"web_search", "web_extract", "weather"}
    # What was searched before is known to the model, though the caller never saw it.
    assert roles == ["system", "user", "assistant", "tool", "assistant", "tool"]
    assert last.choices[0].message.annotations[0].url_citation.url == last.citations[0] == SCOUT


async def test_a_call_of_ours_beside_the_callers_is_left_to_the_model_to_make_again(tmp_path):
    async with Scene(tmp_path, calls(SEARCH, ("weather", {"town": "Ulm"}))) as scene:
        chunks = await scene.stream(tools=[WEATHER])
    called = [call for chunk in chunks for call in chunk.choices[0].delta.tool_calls or ()]
    assert [call.function.name for call in called] == ["weather"]
    assert chunks[-1].choices[0].finish_reason == "tool_calls"


async def test_a_result_of_a_call_that_is_long_forgotten_goes_on_all_the_same(tmp_path):
    call = {"id": "c9", "type": "function", "function": {"name": "weather", "arguments": "{}"}}
    history = [
        *QUESTION,
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c9", "content": "rain"},
    ]
    async with Scene(tmp_path, says("It rains.")) as scene:
        answer = await scene.ask(history, tools=[WEATHER])
        assert [m["role"] for m in scene.model.bodies[0]["messages"]] == [
            "system",
            "user",
            "assistant",
            "tool",
        ]
    assert answer.choices[0].message.content == "It rains."


@pytest.mark.parametrize(
    ("choice", "offered", "wanted"),
    [
        ("none", {"web_search", "web_extract"}, None),
        ("required", {"web_search", "web_extract", "weather"}, "required"),
        ({"type": "function", "function": {"name": "weather"}}, {"weather"}, "required"),
    ],
)
async def test_a_tool_choice_is_heeded(tmp_path, choice, offered, wanted):
    async with Scene(tmp_path, says("Fine.")) as scene:
        await scene.ask(tools=[WEATHER], tool_choice=choice)
        body = scene.model.bodies[0]
    assert {tool["function"]["name"] for tool in body["tools"]} == offered
    assert body.get("tool_choice", "auto") == (wanted or "auto")


async def test_an_answer_can_be_data_and_is_json_alone(tmp_path):
    script = says('```json\n{"name": "scout"}\n```'), says("no data"), says('{"name": "scout"}')
    async with Scene(tmp_path, *script) as scene:
        whole = await scene.ask(response_format=FORMAT)
        pieces = await scene.stream(response_format=FORMAT)
    assert json.loads(whole.choices[0].message.content) == {"name": "scout"}
    # The first try of the streamed one was no data, and nobody saw it.
    assert json.loads(said(pieces)) == {"name": "scout"}


async def test_an_answer_can_be_any_object(tmp_path):
    async with Scene(tmp_path, says('{"any": ["thing"]}')) as scene:
        answer = await scene.ask(response_format={"type": "json_object"})
    assert json.loads(answer.choices[0].message.content) == {"any": ["thing"]}


async def test_what_the_caller_sets_reaches_the_model(tmp_path):
    history = [
        {"role": "developer", "content": "Answer in Latin."},
        {"role": "user", "content": [{"type": "text", "text": "hi"}]},
        {"role": "assistant", "content": "Salve."},
        {
            "role": "user",
            "content": [
                {"type": "text", "text": "and this?"},
                {"type": "image_url", "image_url": {"url": "data:image/png;base64,iVBORw0KGgo="}},
            ],
        },
    ]
    async with Scene(tmp_path, says("Nihil.")) as scene:
        await scene.ask(history, temperature=0.25, max_completion_tokens=99, extra_body={"unheard_of": 1})
        body = scene.model.bodies[0]
    assert (body["temperature"], body["max_tokens"]) == (0.25, 99)
    assert [m["role"] for m in body["messages"]] == ["system", "system", "user", "assistant", "user"]
    assert body["messages"][1]["content"] == "Answer in Latin."
    assert body["messages"][-1]["content"][1]["image_url"]["url"].startswith("data:image/png;base64,iVBOR")


async def test_an_answer_ends_where_the_caller_cuts_it(tmp_path):
    async with Scene(tmp_path, says("Half an ans", finish="length")) as scene:
        answer = await scene.ask(max_tokens=3)
        assert len(scene.model.bodies) == 1
    assert (answer.choices[0].message.content, answer.choices[0].finish_reason) == ("Half an ans", "length")


async def test_sonars_filters_hold_for_every_search(tmp_path):
    async with Tavily() as vendor:
        wanted = calls(("web_search", {"query": "owls", "exclude_domains": ["c.example"]}))
        scene = Scene(tmp_path, wanted, says("Found."), HERMES_WEB_BACKEND="tavily", **vendor.environ())
        async with scene:
            await scene.ask(
                extra_body={
                    "search_domain_filter": ["a.example", "-b.example"],
                    "search_after_date_filter": "2/1/2026",
                }
            )
        body = vendor.asked[0].body
    assert body["include_domains"] == ["a.example"]
    assert set(body["exclude_domains"]) == {"b.example", "c.example"}
    assert body["start_date"] == "2026-02-01"


async def test_searching_can_be_switched_off(tmp_path):
    async with Scene(tmp_path, says("From memory.")) as scene:
        await scene.ask(extra_body={"disable_search": True})
        assert "tools" not in scene.model.bodies[0]


REFUSED = {
    "two answers": ({"n": 2}, "n"),
    "pictures": ({"extra_body": {"return_images": True}}, "return_images"),
    "related questions": ({"extra_body": {"return_related_questions": True}}, "return_related_questions"),
    "no recency": ({"extra_body": {"search_recency_filter": "eon"}}, "search_recency_filter"),
    "no day": ({"extra_body": {"search_before_date_filter": "soon"}}, "search_before_date_filter"),
    "no domain": ({"extra_body": {"search_domain_filter": ["-"]}}, "search_domain_filter"),
    "no schema": ({"response_format": {"type": "json_schema"}}, "response_format"),
    "no tool of this name": ({"tool_choice": {"type": "function", "function": {"name": "x"}}}, "tool_choice"),
    "no temperature": ({"temperature": 9}, "temperature"),
    "no role": ({"messages": [{"role": "nobody", "content": "hi"}]}, "messages[0].role"),
    "nothing asked": ({"messages": [{"role": "assistant", "content": "hi"}]}, "messages"),
    "an empty question": ({"messages": [{"role": "user", "content": " "}]}, "messages"),
    "a result of nothing": (
        {"messages": [*QUESTION, {"role": "tool", "tool_call_id": "x", "content": "y"}]},
        "messages",
    ),
    "no picture": (
        {
            "messages": [
                {"role": "user", "content": [{"type": "image_url", "image_url": {"url": "file:///x"}}]}
            ]
        },
        "messages",
    ),
}


async def test_what_cannot_be_done_is_refused_with_the_field_that_asks_for_it(tmp_path):
    async with Scene(tmp_path, says("never said")) as scene:
        for what, (given, param) in REFUSED.items():
            with pytest.raises(openai.BadRequestError) as refused:
                await scene.ask(**given)
            assert refused.value.param == param, what
            assert refused.value.type == "invalid_request_error"
        assert scene.model.bodies == []


async def test_a_model_that_is_not_there_is_not_found(tmp_path):
    async with serving(settings(tmp_path)) as server, client(server) as ask:
        for name in ("nonsense", "nobody/m", "anthropic/claude-sonnet-4-6"):
            with pytest.raises(openai.NotFoundError) as missing:
                await ask.chat.completions.create(model=name, messages=QUESTION)
            assert missing.value.code == "model_not_found"
        with pytest.raises(openai.NotFoundError):
            await ask.models.retrieve("nobody/m")
        assert (await ask.models.retrieve("hermes")).id == "hermes"
        assert (await ask.models.retrieve("scout/scout-1")).owned_by == "scout"
        assert {"hermes", "scout/scout-1"} <= {model.id for model in (await ask.models.list()).data}
        answer = await ask.chat.completions.create(model="hermes", messages=QUESTION)
    assert answer.served_by == "scout/scout-1"
    assert answer.citations[0] == SCOUT


FAILURES = {
    "a wrong key": (fails(401, "wrong key"), 502, "upstream_auth_failed"),
    "too long": (fails(400, "This model's maximum context length is 8 tokens"), 400, None),
    "no reply at all": (raw(http_reply(200, b"<html>", content_type="text/html")), 502, None),
}


@pytest.mark.parametrize("what", FAILURES)
async def test_a_failure_before_the_first_word_has_a_status_streamed_or_not(tmp_path, what):
    reply, status, code = FAILURES[what]
    async with Scene(tmp_path, reply, CUSTOM_API_KEY="sk-custom-0123456789") as scene:
        for stream in (False, True):
            with pytest.raises(openai.APIStatusError) as failed:
                await scene.ask(stream=stream)
            assert failed.value.status_code == status
            assert code in (None, failed.value.code)
            assert "sk-custom-0123456789" not in str(failed.value)


async def test_a_failure_in_the_middle_of_a_stream_is_an_error_event(tmp_path):
    async with Scene(tmp_path, says("Half a", finish=None)) as scene:
        stream = await scene.ask(stream=True)
        heard = [await anext(stream) for _ in range(4)]
        with pytest.raises(openai.APIError, match="stopped before its end"):
            await anext(stream)
        assert said(heard) == "Half a"


async def test_a_key_in_an_answer_is_taken_out_also_where_pieces_cut_it(tmp_path):
    key = "sk-custom-0123456789"
    async with Scene(tmp_path, says(f"It is {key}, 鍵です", chunks=9), CUSTOM_API_KEY=key) as scene:
        whole = await scene.ask()
        pieces = await scene.stream()
    assert whole.choices[0].message.content == said(pieces) == "It is [redacted], 鍵です"


async def test_thoughts_are_streamed_as_such(tmp_path):
    key = "sk-custom-0123456789"
    reply = calls(SEARCH, reasoning_content=f"hm, {key}")
    async with Scene(tmp_path, reply, says("So."), CUSTOM_API_KEY=key) as scene:
        chunks = await scene.stream()
    thoughts = [getattr(chunk.choices[0].delta, "reasoning_content", None) for chunk in chunks]
    assert "".join(filter(None, thoughts)) == "hm, [redacted]"
    assert said(chunks) == "So."


async def test_the_tools_of_the_settings_are_offered_and_what_needs_consent_is_denied(tmp_path):
    script = calls(("terminal", {"command": "rm -rf /tmp/nothing-of-the-kind"})), says("Not allowed.")
    async with Scene(tmp_path, *script, HERMES_SERVER_TOOLS="terminal", PATH="/usr/bin:/bin") as scene:
        await scene.ask()
        told = scene.model.bodies[-1]["messages"][-1]
    assert "not consented" in told["content"]
