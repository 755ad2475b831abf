"""Hermes as an MCP server over HTTP, with the official client on real sockets."""

import asyncio
from contextlib import asynccontextmanager

import httpx2
import pytest
from mcp import Client, MCPError
from mcp.client.streamable_http import streamable_http_client

from hermes import discover
from hermes.app import Runtime
from hermes.protocols import Fetched, KeptPage
from hermes.tools.toolbox import select
from simulators.chat_completions import ChatSimulator, calls, fails, says
from simulators.scripted import ScriptedServer
from simulators.serving import serving, settings

KEY = "sk-live-0123456789abcdef"
PAGE = (
    b"<html><title>Tea</title><body><h1>Tea</h1><p>Tea is made of leaves, said sk-live-0123456789abcdef.</p>"
)


@asynccontextmanager
async def client(server, mode="auto", **headers):
    async with (
        httpx2.AsyncClient(headers={**server.headers, **headers}, trust_env=False, timeout=30) as web,
        Client(streamable_http_client(f"{server.url}/mcp", http_client=web), mode=mode) as connected,
    ):
        yield connected


@asynccontextmanager
async def answering(home, *script, **environ):
    """A server whose model is scripted."""
    async with ChatSimulator(*script) as model:
        config = settings(
            home,
            CUSTOM_BASE_URL=model.base_url,
            HERMES_MODEL_PROVIDER="custom",
            HERMES_MODEL_DEFAULT="m",
            CUSTOM_API_KEY=KEY,
            **environ,
        )
        async with serving(config) as server:
            yield server, model


@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_old_and_new_clients_find_the_tools_as_a_model_is_told_of_them(tmp_path, mode):
    async with answering(tmp_path, says("Hi.")) as (server, _), client(server, mode) as mcp:
        tools = {tool.name: tool for tool in (await mcp.list_tools()).tools}
        found = await mcp.call_tool("web_search", {"query": "what is scout?", "limit": "2"})
    assert set(tools) == {"web_search", "web_extract", "ask"}
    for ours in select(["web"]):
        assert tools[ours.spec.name].input_schema == ours.spec.parameters
        assert tools[ours.spec.name].description == ours.spec.description
        assert tools[ours.spec.name].annotations.read_only_hint
    assert found.structured_content["success"]
    assert len(found.structured_content["data"]["web"]) == 2
    assert '"success": true' in found.content[0].text


async def test_x_search_is_there_where_there_is_a_key_to_it(tmp_path):
    async with answering(tmp_path, says("Hi."), XAI_API_KEY="k" * 12) as (server, _), client(server) as mcp:
        assert "x_search" in {tool.name for tool in (await mcp.list_tools()).tools}


async def test_an_answer_comes_with_its_sources_and_says_how_far_it_has_come(tmp_path):
    told = []

    async def hear(progress, total, message):
        told.append((progress, message))

    script = (calls(("web_search", {"query": "scout"})), says(f"A model. [1] {KEY}"))
    async with answering(tmp_path, *script) as (server, model), client(server) as mcp:
        answer = await mcp.call_tool("ask", {"question": "what is scout?"}, progress_callback=hear)
    assert not answer.is_error
    assert answer.structured_content["answer"] == "A model. [1] [redacted]"
    assert answer.structured_content["citations"][0]["url"].startswith("hermes://docs/")
    assert [number for number, _ in told] == list(range(1, len(told) + 1))
    assert told[0][1] == "answering with custom/m"
    assert any(message.startswith("web_search {") for _, message in told)
    assert {tool["function"]["name"] for tool in model.bodies[0]["tools"]} == {"web_search", "web_extract"}


@pytest.mark.parametrize(
    ("tool", "arguments", "words"),
    [
        ("web_search", {"quer": "x"}, "did you mean `query`"),
        ("web_extract", {"urls": []}, "give at least one URL"),
        ("ask", {"question": "x", "model": "custom/m"}, "that is no request"),
        ("ask", {}, "needs `question`"),
    ],
)
async def test_what_goes_wrong_is_told_to_the_model(tmp_path, tool, arguments, words):
    async with answering(tmp_path, fails(400, "that is no request")) as (server, _), client(server) as mcp:
        result = await mcp.call_tool(tool, arguments)
    assert result.is_error
    assert words in result.content[0].text
    assert "Traceback" not in result.content[0].text


async def test_a_tool_that_is_not_there_is_an_error_of_the_protocol(tmp_path):
    async with answering(tmp_path, says("Hi.")) as (server, _), client(server) as mcp:
        with pytest.raises(MCPError, match="no tool `terminal`"):
            await mcp.call_tool("terminal", {"command": "id"})


@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_a_client_that_cancels_stops_the_run(tmp_path, mode):
    left = asyncio.Event()

    async def never(exchange):
        await exchange.client_left()
        left.set()

    async with ScriptedServer(never) as model:
        config = settings(
            tmp_path,
            CUSTOM_BASE_URL=f"{model.url}/v1",
            HERMES_MODEL_PROVIDER="custom",
            HERMES_MODEL_DEFAULT="m",
        )
        async with serving(config) as server, client(server, mode) as mcp:
            call = asyncio.ensure_future(mcp.call_tool("ask", {"question": "what is scout?"}))
            while not model.requests:
                await asyncio.sleep(0.01)
            call.cancel()
            await asyncio.wait_for(left.wait(), 5)
            with pytest.raises(asyncio.CancelledError):
                await call
            assert (await mcp.list_tools()).tools
            sessions = await server.services.runtime.store().list(10)
            assert [session.status for session in sessions] == ["interrupted"]


async def test_a_server_that_is_told_to_stop_ends_a_question_with_an_error_and_counts_it(tmp_path):
    async with ScriptedServer(lambda exchange: exchange.client_left()) as model:
        config = settings(
            tmp_path,
            CUSTOM_BASE_URL=f"{model.url}/v1",
            HERMES_MODEL_PROVIDER="custom",
            HERMES_MODEL_DEFAULT="m",
            HERMES_SERVER_DRAIN_SECONDS="0.1",
        )
        async with serving(config) as server, client(server) as mcp:
            call = asyncio.ensure_future(mcp.call_tool("ask", {"question": "what is scout?"}))
            while not model.requests:
                await asyncio.sleep(0.01)
            server.uvicorn.stop()
            result = await asyncio.wait_for(call, 5)
            await asyncio.wait_for(server.ended, 5)
        assert result.is_error
        assert "the server is shutting down" in result.content[0].text
        assert 'hermes_runs_total{outcome="stopped"} 1' in server.services.metrics.text(0, 0)


async def test_stored_pages_are_resources_and_are_never_fetched(tmp_path):
    async with answering(tmp_path, says("Hi.")) as (server, _), client(server) as mcp:
        assert (await mcp.list_resources()).resources == []
        kept = server.services.runtime.services.web_parts.kept_pages
        for number in range(60):
            url = f"https://tea.example/{number}"
            kept.put(url, KeptPage(Fetched(url, 200, "text/html", PAGE)))
        kept.put(
            "https://tea.example/moved", KeptPage(Fetched("https://tea.example/1", 200, "text/html", PAGE))
        )
        first = await mcp.list_resources()
        second = await mcp.list_resources(cursor=first.next_cursor)
        urls = [resource.uri for page in (first, second) for resource in page.resources]
        assert len(urls) == len(set(urls)) == 60
        assert second.next_cursor is None
        page = (await mcp.read_resource("https://tea.example/7")).contents[0]
        assert page.mime_type == "text/markdown"
        assert "Tea is made of leaves, said [redacted]" in page.text
        for wrong in ("https://tea.example/none", "file:///etc/passwd", "https://tea.example/moved#x"):
            with pytest.raises(MCPError, match="not among the stored pages"):
                await mcp.read_resource(wrong)
        with pytest.raises(MCPError, match="cursor"):
            await mcp.list_resources(cursor="-1")


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"authorization": "Bearer wrong"}, 401),
        ({"authorization": ""}, 401),
        ({"host": "evil.example"}, 421),
        ({"origin": "http://evil.example"}, 403),
    ],
)
async def test_who_has_no_business_here_is_not_let_in(tmp_path, headers, status):
    async with serving(settings(tmp_path)) as server, httpx2.AsyncClient(trust_env=False, timeout=30) as web:
        answer = await web.post(f"{server.url}/mcp", json={}, headers={**server.headers, **headers})
    assert answer.status_code == status


async def test_without_the_sdk_the_path_says_what_to_install(tmp_path, monkeypatch):
    monkeypatch.setattr(discover, "is_installed", lambda _package: False)
    async with serving(settings(tmp_path)) as server, httpx2.AsyncClient(trust_env=False, timeout=30) as web:
        answer = await web.post(f"{server.url}/mcp", json={}, headers=server.headers)
    assert answer.status_code == 501
    assert "hermes[mcp]" in answer.text


async def test_one_hermes_asks_another_for_its_search(tmp_path):
    script = (calls(("far_web_search", {"query": "what is scout?"})), says("It searched far away."))
    async with serving(settings(tmp_path / "far")) as far:
        servers = (
            f'{{"far": {{"url": "{far.url}/mcp", "headers": {{"Authorization": "Bearer {far.token}"}}}}}}'
        )
        environ = {"HERMES_MCP_SERVERS": servers, "HERMES_SERVER_TOOLS": "mcp-far"}
        async with answering(tmp_path / "near", *script, **environ) as (near, model):
            mcp = near.services.runtime.mcp
            server = mcp.server("far")
            mcp.pins.put("far", mcp.pins.made(server.spec.who, await server.look()))
            async with client(near) as asking:
                answer = await asking.call_tool("ask", {"question": "what is scout?"})
    assert answer.structured_content["answer"] == "It searched far away."
    offered = {tool["function"]["name"] for tool in model.bodies[0]["tools"]}
    assert offered == {"far_web_search", "far_web_extract", "far_ask"}
    read = model.bodies[1]["messages"][-1]["content"]
    assert read.startswith("<untrusted ")
    assert "hermes://docs/" in read


async def test_nobody_is_asked_and_nothing_is_offered_that_nobody_agreed_to(tmp_path):
    servers = '{"p": {"command": "no-such-program"}}'
    environ = {"HERMES_MCP_SERVERS": servers, "HERMES_SERVER_TOOLS": "all"}
    async with answering(tmp_path, says("Hi."), **environ) as (server, model), client(server) as mcp:
        answer = await mcp.call_tool("ask", {"question": "who is there?"})
    assert answer.structured_content["answer"] == "Hi."
    assert not any(tool["function"]["name"].startswith("p_") for tool in model.bodies[0]["tools"])


def test_a_runtime_without_servers_loads_nothing_of_them(tmp_path):
    assert Runtime(settings(tmp_path)).mcp is None
