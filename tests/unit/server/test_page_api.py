"""What the page asks of the server, over a real socket: sign-in, runs, sessions, stored pages, its files."""

import asyncio
import json
import re
from contextlib import aclosing

import aiohttp
import pytest

from hermes.protocols import Fetched, KeptPage
from hermes.server.page_files import POLICY, page_files
from simulators.chat_completions import calls, says
from simulators.served import Served
from simulators.serving import TOKEN
from simulators.staged import Held, StagedModel

DOCUMENT = "hermes://docs/concepts/scout.md"
SCRIPTS = {
    "short?": [says("Yes.")],
    "held?": [Held("One ", "two.")],
    "read?": [
        calls(("web_search", {"query": "scout"}), ("web_extract", {"urls": [DOCUMENT]}), text="I look."),
        says("It is a model provider. [1]"),
    ],
}


@pytest.fixture
async def stage(tmp_path):
    async with StagedModel(SCRIPTS) as model:
        settings = {"HERMES_MODEL_PROVIDER": "custom", "HERMES_MODEL_DEFAULT": "m"}
        async with Served(tmp_path, CUSTOM_BASE_URL=model.base_url, **settings) as server:
            yield model, server


async def follow(server, run_id, place=""):
    """The events of a run, each with its id."""
    headers = {"authorization": f"Bearer {TOKEN}"} | ({"last-event-id": place} if place else {})
    async with (
        aiohttp.ClientSession(headers=headers) as client,
        client.get(f"{server.url}/api/runs/{run_id}/events") as reply,
    ):
        assert reply.content_type == "text/event-stream"
        async for block in _blocks(reply):
            yield block


async def _blocks(reply):
    place = ""
    async for line in reply.content:
        if line.startswith(b"id: "):
            place = line[4:].decode().strip()
        if line.startswith(b"data: "):
            yield place, json.loads(line[6:])


async def until_words(server, run_id):
    """Read until the model says something, and leave."""
    async with aclosing(follow(server, run_id)) as events:
        async for place, event in events:
            if event["type"] == "text":
                return place, event
    raise AssertionError("the model said nothing")


async def begin(server, question, session_id=None):
    status, begun = await server.ask("POST", "/api/runs", {"question": question, "session_id": session_id})
    assert status == 201, begun
    return begun


async def answered(server, question, session_id=None):
    begun = await begin(server, question, session_id)
    events = [event async for _, event in follow(server, begun["run_id"])]
    assert events[-1]["type"] == "done", events[-1]
    return begun["session_id"], events


async def test_a_question_is_answered_and_found_again_in_its_session(stage):
    _, server = stage
    session_id, events = await answered(server, "read?")
    kinds = [event["type"] for event in events if event["type"] != "text"]
    assert kinds[:4] == ["started", "model_started", "model_finished", "used"]
    assert sorted(kinds[4:-4]) == ["tool_finished", "tool_finished", "tool_started", "tool_started"]
    assert kinds[-4:] == ["model_started", "model_finished", "used", "done"]
    status, stored = await server.ask("GET", f"/api/sessions/{session_id}")
    assert (status, stored["run"], stored["session"]["status"]) == (200, None, "done")
    (turn,) = stored["turns"]
    assert (turn["question"], turn["answer"]) == ("read?", "It is a model provider. [1]")
    assert turn["citations"][0]["n"] == 1
    past = {event["type"]: event for event in turn["events"]}
    assert past["text"]["delta"] == "I look."
    assert json.loads(past["tool_started"]["arguments"]) == {"urls": [DOCUMENT]}
    assert past["tool_finished"]["served_by"] == "local"
    assert past["tool_finished"]["result"]
    assert past["used"]["usage"]["total_tokens"] == 30


async def test_a_reader_that_comes_back_goes_on_where_it_was(stage):
    model, server = stage
    begun = await begin(server, "held?")
    place, event = await until_words(server, begun["run_id"])
    assert event["delta"] == "One "
    _, stored = await server.ask("GET", f"/api/sessions/{begun['session_id']}")
    assert stored["run"] == {"id": begun["run_id"], "question": "held?"}
    assert stored["turns"] == []
    model.go()
    rest = [event async for _, event in follow(server, begun["run_id"], place)]
    assert [event["type"] for event in rest] == ["text", "model_finished", "used", "done"]
    assert rest[0]["delta"] == "two."


async def test_a_run_is_stopped_and_its_words_are_kept(stage):
    _, server = stage
    begun = await begin(server, "held?")
    async for _, event in follow(server, begun["run_id"]):
        if event["type"] == "text":
            status, _ = await server.ask("DELETE", f"/api/runs/{begun['run_id']}")
            assert status == 200
    assert event["error"]["type"] == "Interrupted"
    _, stored = await server.ask("GET", f"/api/sessions/{begun['session_id']}")
    assert stored["session"]["status"] == "interrupted"
    assert stored["turns"][0]["answer"] == "One "
    assert stored["turns"][0]["events"][-1]["error"]["type"] == "Interrupted"


async def test_sessions_are_listed_and_searched(stage):
    _, server = stage
    first, _ = await answered(server, "short?")
    second, _ = await answered(server, "read?")
    _, listed = await server.ask("GET", "/api/sessions")
    assert [session["id"] for session in listed["sessions"]] == [second, first]
    _, found = await server.ask("GET", "/api/sessions?q=provider")
    assert [session["id"] for session in found["sessions"]] == [second]
    assert "provider" in found["sessions"][0]["snippet"]
    _, found = await server.ask("GET", "/api/sessions?q=%22xyzzy%20AND%20plugh%22*")
    assert found == {"sessions": []}


async def test_a_cited_page_is_shown_as_it_was_read(stage):
    _, server = stage
    session_id, _ = await answered(server, "read?")
    status, page = await server.ask("GET", f"/api/page?url={DOCUMENT}&session_id={session_id}")
    assert (status, page["from"]) == (200, "session")
    assert page["text"].startswith("# ")
    _, page = await server.ask("GET", f"/api/page?url={DOCUMENT}")
    assert page["from"] == "index"
    status, _ = await server.ask("GET", "/api/page?url=http://127.0.0.1:1/")
    assert status == 404
    status, _ = await server.ask("GET", "/api/page")
    assert status == 400


async def test_a_page_that_was_fetched_lately_is_read_again_from_the_cache(stage):
    _, server = stage
    url, body = (
        "https://a.example/x",
        b"<html><title>T</title><body><p>Some words of a page.</p></body></html>",
    )
    pages = server.services.runtime.services.web_parts.kept_pages
    pages.put(url, KeptPage(Fetched(url, 200, "text/html", body)))
    _, page = await server.ask("GET", f"/api/page?url={url}")
    assert (page["from"], page["title"]) == ("cache", "T")
    assert "Some words of a page." in page["text"]


async def test_the_status_says_who_serves(stage):
    _, server = stage
    _, status = await server.ask("GET", "/api/status")
    assert (status["provider"], status["model"], status["runs"]) == ("custom", "m", 0)
    assert status["backends"][0] == "local"


REFUSED = [
    ("POST", "/api/runs", {"question": "  "}, 400, "invalid_value"),
    ("POST", "/api/runs", {"question": 3}, 400, "invalid_value"),
    ("POST", "/api/runs", {}, 400, "invalid_value"),
    ("POST", "/api/runs", {"question": "x", "session_id": "nobody"}, 400, "unknown_name"),
    ("DELETE", "/api/runs/nobody", None, 404, "run_not_found"),
    ("GET", "/api/runs/nobody/events", None, 404, "run_not_found"),
    ("GET", "/api/sessions/nobody", None, 404, "session_not_found"),
    ("GET", "/page/nobody.js", None, 404, "not_found"),
    ("GET", "/page/..%2fservices.py", None, 404, "not_found"),
]


async def test_what_cannot_be_done_is_said(stage):
    _, server = stage
    for method, path, body, status, code in REFUSED:
        told, answer = await server.ask(method, path, body)
        assert (told, answer["error"]["code"]) == (status, code), path


async def test_a_browser_signs_in_with_the_token_and_then_shows_a_cookie(tmp_path):
    jar = aiohttp.CookieJar(unsafe=True)
    async with Served(tmp_path) as server, aiohttp.ClientSession(server.url, cookie_jar=jar) as browser:
        async with browser.get("/api/sessions") as reply:
            assert reply.status == 401
        async with browser.post("/api/sign-in", json={"token": "wrong"}) as reply:
            assert (reply.status, reply.cookies) == (401, {})
        async with browser.post("/api/sign-in", json={"token": TOKEN}) as reply:
            assert reply.status == 200
            cookie = reply.headers["set-cookie"].lower()
        assert TOKEN not in cookie
        assert "httponly" in cookie
        assert "samesite=strict" in cookie
        async with browser.get("/api/sessions") as reply:
            assert reply.status == 200


async def test_the_files_of_the_page_come_with_their_rules_and_once(tmp_path):
    async with Served(tmp_path) as server, aiohttp.ClientSession(server.url) as browser:
        for path in ("/", *(f"/page/{name}" for name in page_files())):
            async with browser.get(path) as reply:
                assert reply.status == 200
                assert reply.headers["content-security-policy"] == POLICY
                assert reply.headers["x-content-type-options"] == "nosniff"
                assert reply.headers["referrer-policy"] == "no-referrer"
                tag = reply.headers["etag"]
            async with browser.get(path, headers={"if-none-match": tag}) as reply:
                assert (reply.status, await reply.read()) == (304, b"")


def test_the_page_asks_nobody_else_and_runs_nothing_inline():
    for name, file in page_files().items():
        text = file.body.decode()
        assert "innerHTML" not in text
        assert "insertAdjacentHTML" not in text
        assert not re.search(r"""["'`(]/(?:api|page|\?)""", text), "it may be mounted under a path"
        if name.endswith((".css", ".html")):
            assert "http" not in text
            assert " style=" not in text
            assert "<script>" not in text


async def test_a_reader_that_leaves_does_not_end_the_run(stage):
    model, server = stage
    begun = await begin(server, "held?")
    await until_words(server, begun["run_id"])
    await asyncio.sleep(0.05)
    assert not model.left.is_set()
    model.go()
    assert [event async for _, event in follow(server, begun["run_id"])][-1]["type"] == "done"
