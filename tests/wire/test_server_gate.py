"""Who is let in: bytes on a socket, as a stranger would send them."""

import asyncio
import json
from contextlib import asynccontextmanager, suppress

import pytest
from starlette.responses import Response

from hermes.server import connections, security
from hermes.server.security import sign_in
from hermes.server.tokens import COOKIE, Tokens
from simulators.scripted import ScriptedServer
from simulators.serving import TOKEN, serving, settings

BEARER = f"Authorization: Bearer {TOKEN}\r\n"
SIGNED_IN = f"Cookie: {COOKIE}={Tokens([TOKEN]).cookie(TOKEN)}\r\n"
SEARCH = b'{"query": "scout"}'


@asynccontextmanager
async def connected(port):
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    try:
        yield reader, writer
    finally:
        writer.close()
        with suppress(OSError):
            await writer.wait_closed()


async def exchange(port, request):
    """The status of the first reply, its headers, and whatever comes until the server closes."""
    async with connected(port) as (reader, writer):
        writer.write(request)
        data = await asyncio.wait_for(reader.read(), 10)
    head, _, body = data.partition(b"\r\n\r\n")
    return int(head.split(b" ", 2)[1]), head.decode().lower(), body


def request(method="GET", path="/v1/models", headers=BEARER, host="127.0.0.1", body=b""):
    length = f"Content-Length: {len(body)}\r\n" if body else ""
    named = "" if host is None else f"Host: {host}\r\n"
    return f"{method} {path} HTTP/1.1\r\n{named}{headers}{length}Connection: close\r\n\r\n".encode() + body


TABLE = {
    "the token": (request(), 200, None),
    "the token by another name of ours": (request(host="LOCALHOST:80"), 200, None),
    "the token over IPv6": (request(host="[::1]:8787"), 200, None),
    "a page of ours": (request(headers=BEARER + "Origin: http://127.0.0.1\r\n"), 200, None),
    "a cookie": (request(headers=SIGNED_IN), 200, None),
    "a cookie from a page of ours": (
        request("POST", "/v1/search", SIGNED_IN + "Origin: http://127.0.0.1\r\n", body=SEARCH),
        200,
        None,
    ),
    "health needs no token": (request(path="/healthz", headers=""), 200, None),
    "no token": (request(headers=""), 401, "invalid_api_key"),
    "a wrong token": (request(headers="Authorization: Bearer nonsense\r\n"), 401, "invalid_api_key"),
    "a token in another scheme": (
        request(headers=f"Authorization: Basic {TOKEN}\r\n"),
        401,
        "invalid_api_key",
    ),
    "a token that is no text": (
        request(headers="Authorization: Bearer \xe9\xff\r\n"),
        401,
        "invalid_api_key",
    ),
    "a token in the address": (request(path=f"/v1/models?token={TOKEN}", headers=""), 401, "invalid_api_key"),
    "a cookie that holds the token itself": (
        request(headers=f"Cookie: {COOKIE}={TOKEN}\r\n"),
        401,
        "invalid_api_key",
    ),
    "a wrong token beside a cookie": (
        request(headers=f"Authorization: Bearer x\r\n{SIGNED_IN}"),
        401,
        "invalid_api_key",
    ),
    "a stranger's name": (request(host="evil.example"), 421, "host_not_allowed"),
    "a stranger's name for health": (
        request(path="/healthz", host="evil.example", headers=""),
        421,
        "host_not_allowed",
    ),
    "a name that only begins like ours": (request(host="127.0.0.1.evil.example"), 421, "host_not_allowed"),
    "a name with ours as its user": (request(host="127.0.0.1@evil.example"), 421, "host_not_allowed"),
    "a name that is none": (request(host="[::1"), 421, "host_not_allowed"),
    "an empty name": (request(host=""), 421, "host_not_allowed"),
    "a stranger's page": (
        request(headers=BEARER + "Origin: http://evil.example\r\n"),
        403,
        "origin_not_allowed",
    ),
    "a stranger's port": (
        request(headers=BEARER + "Origin: http://127.0.0.1:1\r\n"),
        403,
        "origin_not_allowed",
    ),
    "a page from nowhere": (request(headers=BEARER + "Origin: null\r\n"), 403, "origin_not_allowed"),
    "a page from no address": (request(headers=BEARER + "Origin: http://[\r\n"), 403, "origin_not_allowed"),
    "a form of a stranger, with our cookie": (
        request("POST", "/v1/search", SIGNED_IN, body=SEARCH),
        403,
        "origin_missing",
    ),
    "a path that is not there": (request(path="/nowhere"), 404, "not_found"),
    "a path that climbs": (request(path="/v1/../../../etc/passwd"), 404, "not_found"),
    "a path that climbs in disguise": (request(path="/%2e%2e/%2e%2e/etc/passwd"), 404, "not_found"),
    "a method that is not there": (request("PUT"), 405, "method_not_allowed"),
    "a body that is too long": (
        request("POST", "/v1/search", BEARER + "Content-Length: 1000000000\r\n"),
        413,
        "request_too_large",
    ),
    "a body that does not say how long it is": (
        request("POST", "/v1/search", BEARER + "Transfer-Encoding: chunked\r\n")
        + b"".join(b"400\r\n" + b"x" * 0x400 + b"\r\n" for _ in range(100)),
        413,
        "request_too_large",
    ),
    "a long body of who has no token": (
        request("POST", "/api/sign-in", "Content-Length: 10000\r\n"),
        413,
        "request_too_large",
    ),
    "a body that is no JSON": (request("POST", "/v1/search", body=b"{"), 400, "invalid_json"),
    "a body that is no text": (request("POST", "/v1/search", body=b'{"query": "\xff"}'), 400, None),
    "a body that is deep": (
        request("POST", "/v1/chat/completions", body=b'{"model":"m","messages":' + b"[" * 9_000),
        400,
        None,
    ),
}


async def test_who_is_let_in(tmp_path):
    config = settings(tmp_path, HERMES_SERVER_MAX_BODY="20000")
    async with serving(config) as server:
        for what, (sent, status, code) in TABLE.items():
            got, head, body = await exchange(server.port, sent)
            assert got == status, what
            assert "content-type: application/json" in head, what
            if code is not None:
                assert json.loads(body)["error"]["code"] == code, what
                assert TOKEN not in body.decode(), what


async def test_a_name_that_was_allowed_is_ours(tmp_path):
    config = settings(tmp_path, HERMES_SERVER_ALLOW_HOSTS="hermes.example")
    async with serving(config) as server:
        assert (await exchange(server.port, request(host="Hermes.Example:443")))[0] == 200


async def test_the_cookie_of_a_browser_is_kept_from_pages_and_from_other_sites():
    tokens, response = Tokens([TOKEN]), Response()
    sign_in(response, tokens, TOKEN)
    cookie = response.headers["set-cookie"].lower()
    assert "httponly" in cookie
    assert "samesite=strict" in cookie
    assert TOKEN not in cookie
    with pytest.raises(security.RequestFault):
        sign_in(response, tokens, "nonsense")


async def test_who_asks_too_often_is_told_when_to_come_back(tmp_path):
    now = [0.0]
    config = settings(tmp_path, HERMES_SERVER_REQUESTS_PER_MINUTE="3")
    async with serving(config, clock=lambda: now[0]) as server:
        statuses = [(await exchange(server.port, request()))[0] for _ in range(3)]
        status, head, _ = await exchange(server.port, request())
        assert (statuses, status) == ([200] * 3, 429)
        assert "retry-after: 20" in head
        assert (await exchange(server.port, request(path="/healthz", headers="")))[0] == 200
        now[0] += 21
        assert (await exchange(server.port, request()))[0] == 200


async def test_no_more_are_let_in_than_there_is_room_for(tmp_path):
    begun = asyncio.Event()

    async def think(heard):
        begun.set()
        await heard.client_left()

    body = b'{"model": "custom/m", "messages": [{"role": "user", "content": "hi"}]}'
    async with ScriptedServer(think) as model:
        config = settings(tmp_path, HERMES_SERVER_MAX_RUNS="1", CUSTOM_BASE_URL=f"{model.url}/v1")
        async with serving(config) as server:
            async with connected(server.port) as (_, writer):
                writer.write(request("POST", "/v1/chat/completions", body=body))
                await asyncio.wait_for(begun.wait(), 10)
                status, head, _ = await exchange(server.port, request())
                assert status == 503
                assert (await exchange(server.port, request(path="/healthz", headers="")))[0] == 200
                assert "retry-after: 1" in head
            async with asyncio.timeout(10):
                while server.services.room.inside:
                    await asyncio.sleep(0.01)
            assert (await exchange(server.port, request()))[0] == 200
            text = server.services.metrics.text(0, 0)
    assert 'hermes_rejected_total{reason="overloaded"} 1' in text


async def test_who_says_nothing_or_says_it_too_slowly_is_let_go(tmp_path, monkeypatch):
    monkeypatch.setattr(connections, "HEAD_SECONDS", 0.2)
    monkeypatch.setattr(security, "BODY_SECONDS", 0.2)
    whole = request("POST", "/v1/search", body=SEARCH)
    async with serving(settings(tmp_path)) as server:
        assert await _heard(server.port, b"") == b""
        assert await _heard(server.port, b"GET /healthz HT") == b""
        assert b" 408 " in await _heard(server.port, whole[:-5])
        assert b" 200 " in await _heard(server.port, b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\nGET")


async def _heard(port, sent):
    async with connected(port) as (reader, writer):
        writer.write(sent)
        try:
            return await asyncio.wait_for(reader.read(), 10)
        except ConnectionResetError:
            return b""


async def test_a_crowd_of_silent_callers_keeps_nobody_out(tmp_path, monkeypatch):
    monkeypatch.setattr(connections, "MOST", 20)
    async with serving(settings(tmp_path)) as server:
        crowd = [await asyncio.open_connection("127.0.0.1", server.port) for _ in range(100)]
        try:
            assert (await exchange(server.port, request(path="/healthz")))[0] == 200
            assert len(server.uvicorn.server_state.connections) <= 20
        finally:
            for _, writer in crowd:
                writer.transport.abort()


async def test_an_upgrade_to_another_protocol_is_not_made(tmp_path):
    upgrade = "Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Key: x\r\n"
    sent = f"GET /v1/models HTTP/1.1\r\nHost: localhost\r\n{upgrade}{BEARER}\r\n".encode()
    async with serving(settings(tmp_path)) as server, connected(server.port) as (reader, writer):
        writer.write(sent)
        assert b" 200 " in await reader.readline()


async def test_no_address_of_this_machine_is_fetched_for_a_caller(tmp_path):
    async with ScriptedServer(b"") as secret:
        body = json.dumps({"urls": [secret.url, "http://[::1]/", "http://169.254.169.254/"]}).encode()
        async with serving(settings(tmp_path, HERMES_WEB_EXTRACT_BACKEND="reader")) as server:
            _, _, answer = await exchange(server.port, request("POST", "/v1/extract", body=body))
    pages = json.loads(answer)["results"]
    assert [bool(page["error"]) for page in pages] == [True] * 3
    assert secret.connections == 0
