"""The composition root and the Python API, with real files and a simulated model server."""

import asyncio

import pytest

import hermes
from hermes.config import load
from hermes.errors import AuthFailed, HermesError, UnknownName
from hermes.events import Done, Failed, Started, Text, ToolFinished
from hermes.store import Store
from simulators.chat_completions import ChatSimulator, calls, fails, says
from simulators.scripted import ScriptedServer

QUESTION = "How do I add a web search backend?"


@pytest.fixture
def home(tmp_path):
    return tmp_path / "home"


def settings(home, **variables):
    return load({"HERMES_HOME": str(home), "HERMES_MODEL_LOCAL_SERVERS": "false", **variables})


async def test_an_agent_answers_without_any_setting(home):
    async with hermes.Agent(config=settings(home)) as agent:
        answer = await agent.run(QUESTION)
    assert "BACKEND" in answer.text
    assert answer.citations[0].url.startswith("hermes://docs/")
    assert answer.usage.total_tokens > 0
    assert answer.messages[0].role == "user"
    assert answer.messages[-1].content == answer.text


def test_an_agent_answers_from_code_without_a_loop_and_remembers(home):
    agent = hermes.Agent(config=settings(home))
    first = agent.run_sync(QUESTION)
    second = agent.run_sync("And how do I try it?")
    assert second.session_id == first.session_id
    assert second.messages[: len(first.messages)] == first.messages


async def test_a_stream_ends_with_the_answer(home):
    async with hermes.Agent(config=settings(home)) as agent:
        events = [event async for event in agent.stream(QUESTION)]
    assert isinstance(events[0], Started)
    assert isinstance(events[-1], Done)
    assert any(isinstance(event, ToolFinished) for event in events)
    assert "".join(event.delta for event in events if isinstance(event, Text)) == events[-1].answer.text


async def test_a_stream_that_fails_says_so_and_raises(home):
    async with ChatSimulator(fails(401)) as server:
        config = settings(home, CUSTOM_BASE_URL=server.base_url)
        seen = []
        async with hermes.Agent("custom/m", config=config) as agent:
            with pytest.raises(AuthFailed):
                await collect(agent.stream("hi"), seen)
    assert isinstance(seen[-1], Failed)


async def test_leaving_a_stream_early_cancels_the_run(home):
    left = asyncio.Event()

    async def stall(exchange):
        await exchange.send(b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n")
        await exchange.send(b'data: {"choices": [{"delta": {"content": "one "}}]}\n\n')
        await exchange.client_left()
        left.set()

    async with ScriptedServer(stall) as server:
        config = settings(home, CUSTOM_BASE_URL=f"{server.url}/v1")
        async with hermes.Agent("custom/m", config=config) as agent:
            events = agent.stream("hi")
            async for event in events:
                if isinstance(event, Text):
                    break
            await events.aclose()
            await asyncio.wait_for(left.wait(), 5)


async def test_an_agent_with_chosen_tools_offers_only_those(home):
    async with ChatSimulator(says("ok")) as server:
        config = settings(home, CUSTOM_BASE_URL=server.base_url)
        async with hermes.Agent("custom/m", tools=["web_search"], config=config) as agent:
            await agent.run("hi")
        assert [tool["function"]["name"] for tool in server.bodies[0]["tools"]] == ["web_search"]
        async with hermes.Agent("custom/m", tools=[], config=config) as agent:
            await agent.run("hi")
        assert "tools" not in server.bodies[1]


async def test_questions_asked_at_once_are_answered_one_after_the_other(home):
    def reply(body):
        looks = body["messages"][-1]["role"] == "user"
        return (calls(("web_search", {"query": "provider"})) if looks else says("Yes."))(body)

    async with ChatSimulator(reply) as server:
        config = settings(home, CUSTOM_BASE_URL=server.base_url)
        async with hermes.Agent("custom/m", config=config) as agent:
            first, second = await asyncio.gather(agent.run("one?"), agent.run("two?"))
        assert server.refusals == []
    assert first.session_id == second.session_id
    assert [message.role for message in second.messages] == ["user", "assistant", "tool", "assistant"] * 2


async def test_an_unknown_model_is_said_when_asked(home):
    async with hermes.Agent("nope/m", config=settings(home)) as agent:
        with pytest.raises(UnknownName):
            await agent.run("hi")


async def test_search_and_extract_from_code(home):
    config = settings(home)
    found = await hermes.web_search("add a provider", 2, config=config)
    assert found["success"] is True
    rows = found["data"]["web"]
    assert len(rows) == 2
    read = await hermes.web_extract([rows[0]["url"]], config=config)
    assert read["results"][0]["content"]


async def test_every_message_is_stored_and_the_turns_end_is_marked(home):
    async with ChatSimulator(calls(("web_search", {"query": "provider"})), says("Yes. [1]")) as server:
        config = settings(home, CUSTOM_BASE_URL=server.base_url)
        async with hermes.Agent("custom/m", config=config) as agent:
            answer = await agent.run("can I?")
    store = Store.open(str(home / "sessions.db"))
    assert await store.messages(answer.session_id) == answer.messages
    session = await store.find(answer.session_id)
    assert (session.title, session.provider, session.model, session.status) == (
        "can I?",
        "custom",
        "m",
        "done",
    )
    await store.close()


async def test_a_failed_turn_is_marked_failed(home):
    async with ChatSimulator(fails(400)) as server:
        config = settings(home, CUSTOM_BASE_URL=server.base_url)
        async with hermes.Agent("custom/m", config=config) as agent:
            with pytest.raises(HermesError):
                await agent.run("x")
    store = Store.open(str(home / "sessions.db"))
    [session] = await store.list(5)
    assert session.status == "failed"
    await store.close()


async def test_the_configured_output_limit_reaches_the_wire(home):
    async with ChatSimulator(says("ok")) as server:
        config = settings(home, CUSTOM_BASE_URL=server.base_url, HERMES_MODEL_MAX_TOKENS="77")
        async with hermes.Agent("custom/m", config=config) as agent:
            await agent.run("hi")
        assert server.bodies[0]["max_tokens"] == 77


async def collect(events, seen):
    async for event in events:
        seen.append(event)  # what came before an error is kept
