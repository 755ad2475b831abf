"""The same request twice, by its `Idempotency-Key`: against a small application, and against the server."""

import asyncio

import aiohttp
import pytest

from hermes.server import idempotency
from hermes.server.idempotency import Idempotent
from simulators.chat_completions import ChatSimulator, says
from simulators.serving import serving, settings

QUESTION = {"model": "custom/m", "messages": [{"role": "user", "content": "hi"}]}


class Caller:
    """Asks an application that counts how often it was asked, and says what it is told to."""

    def __init__(self, status=200, chunks=(b"one", b"two"), clock=lambda: 0.0):
        self.times = 0
        self.gate = asyncio.Event()
        self.gate.set()
        self._status, self._chunks = status, chunks
        self._app = Idempotent(self._answer, clock)

    async def _answer(self, scope, receive, send):
        self.times += 1
        assert (await receive())["body"] == scope["body"]
        await self.gate.wait()
        await send({"type": "http.response.start", "status": self._status, "headers": [(b"x", b"y")]})
        for chunk in self._chunks:
            await send({"type": "http.response.body", "body": chunk, "more_body": True})
        await send({"type": "http.response.body", "body": b"", "more_body": False})

    async def ask(self, key="k", body=b"{}", caller="me", path="/", method="POST"):
        scope = {"type": "http", "method": method, "path": path, "caller": caller, "body": body}
        scope["headers"] = [(b"idempotency-key", key.encode())] if key else []
        said = []

        async def receive():
            return {"type": "http.request", "body": body}

        async def send(message):
            said.append(message)

        await self._app(scope, receive, send)
        text = b"".join(message.get("body", b"") for message in said)
        return said[0]["status"], text, (b"idempotent-replayed", b"true") in said[0]["headers"]


async def test_the_second_time_the_answer_is_given_and_not_made():
    caller = Caller()
    assert await caller.ask() == (200, b"onetwo", False)
    assert await caller.ask() == (200, b"onetwo", True)
    assert caller.times == 1


@pytest.mark.parametrize(
    "other", [{"key": "other"}, {"key": ""}, {"caller": "you"}, {"path": "/x"}, {"method": "GET"}]
)
async def test_another_request_is_another(other):
    caller = Caller()
    await caller.ask()
    assert await caller.ask(**other) == (200, b"onetwo", False)
    assert caller.times == 2


async def test_another_body_with_the_same_key_is_refused():
    caller = Caller()
    await caller.ask()
    status, text, _ = await caller.ask(body=b"[]")
    assert (status, b"idempotency_key_reused" in text) == (422, True)


async def test_while_the_first_is_answered_the_second_is_told_to_come_back():
    caller = Caller()
    caller.gate.clear()
    first = asyncio.ensure_future(caller.ask())
    await asyncio.sleep(0)
    status, text, _ = await caller.ask()
    assert (status, b"idempotency_in_progress" in text) == (409, True)
    caller.gate.set()
    assert (await first)[0] == (await caller.ask())[0] == 200


async def test_what_failed_or_was_given_up_is_done_again():
    failing = Caller(status=502)
    await failing.ask()
    await failing.ask()
    assert failing.times == 2
    left = Caller()
    left.gate.clear()
    first = asyncio.ensure_future(left.ask())
    await asyncio.sleep(0)
    first.cancel()
    await asyncio.wait([first])
    left.gate.set()
    assert await left.ask() == (200, b"onetwo", False)


async def test_an_answer_is_kept_for_a_while_and_within_bounds(monkeypatch):
    monkeypatch.setattr(idempotency, "MOST_BYTES", 13)
    now = [0.0]
    caller = Caller(clock=lambda: now[0])
    for key in "abc":
        await caller.ask(key)
    assert [(await caller.ask(key))[2] for key in "cb"] == [True, True]
    assert not (await caller.ask("a"))[2]
    now[0] = idempotency.SECONDS + 1
    assert not (await caller.ask("c"))[2]
    assert (await Caller(chunks=(b"x" * 14,)).ask())[0] == 200
    assert (await caller.ask("k" * 300))[0] == 400


async def test_a_request_that_takes_long_keeps_no_others_from_being_forgotten(monkeypatch):
    monkeypatch.setattr(idempotency, "MOST_BYTES", 13)
    caller = Caller()
    caller.gate.clear()
    slow = asyncio.ensure_future(caller.ask("slow"))
    await asyncio.sleep(0)
    caller.gate.set()
    for key in "abc":
        await caller.ask(key)
    assert (await caller.ask("c"))[2]
    assert not (await caller.ask("a"))[2]
    await slow


async def test_a_stream_that_broke_off_is_not_replayed_but_asked_again(tmp_path):
    async with (
        ChatSimulator(says("Half an answ", finish=None), says("Whole.", chunks=1)) as model,
        serving(settings(tmp_path, CUSTOM_BASE_URL=model.base_url)) as server,
        aiohttp.ClientSession(headers={**server.headers, "idempotency-key": "k1"}) as http,
    ):
        url, body = f"{server.url}/v1/chat/completions", {**QUESTION, "stream": True}
        broken, whole = [await (await http.post(url, json=body)).text() for _ in range(2)]
    assert '"error"' in broken
    assert "Whole." in whole


async def test_a_stream_is_replayed_byte_for_byte(tmp_path):
    async with ChatSimulator(says("Hello."), says("Never said.")) as model:
        async with serving(settings(tmp_path, CUSTOM_BASE_URL=model.base_url)) as server:
            headers = {**server.headers, "idempotency-key": "k1"}
            async with aiohttp.ClientSession(headers=headers) as http:
                url, body = f"{server.url}/v1/chat/completions", {**QUESTION, "stream": True}
                texts = [await (await http.post(url, json=body)).read() for _ in range(2)]
                async with http.post(url, json=body) as again:
                    await again.read()
        assert len(model.bodies) == 1
    assert texts[0] == texts[1]
    assert again.headers["idempotent-replayed"] == "true"
    assert again.headers["content-type"].startswith("text/event-stream")
