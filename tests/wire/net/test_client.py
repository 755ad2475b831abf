"""What goes out and what comes back when nothing is wrong, and where requests may lead."""

import asyncio

import pytest

from hermes.errors import HttpStatus, NetError, ProtocolBroken
from hermes.net.client import Client
from hermes.net.reply import Caps
from hermes.protocols import HttpRequest, Wire
from simulators.scripted import Exchange, ScriptedServer, http_reply

KEY = {
    "Authorization": "Bearer sk-secret",
    "X-Api-Key": "sk-secret",
    "X-Subscription-Token": "sk-secret",
    "X-Pass-Of-My-Own": "sk-secret",
    "Cookie": "s=1",
    "Accept": "text/plain",
}


async def ok(exchange: Exchange) -> None:
    await exchange.send(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")


def moved(location: str, status: int = 302) -> bytes:
    return http_reply(status, location=location)


async def get(client: Client, url: str, method: str = "GET", **headers: str) -> bytes:
    async with client.open(HttpRequest(method, url, headers)) as reply:
        return await reply.read()


async def test_a_request_arrives_as_it_was_made(make_client):
    client: Wire = make_client(user_agent="hermes/9")
    headers = {"Content-Type": "application/json", "X-Api-Key": "k"}
    async with ScriptedServer(http_reply(201, b"made", x_Request_ID="r1")) as server:
        request = HttpRequest("POST", f"{server.url}/v1/x%3A0?a=b%2Fc", headers, b'{"a": 1}')
        async with client.open(request) as reply:
            assert (reply.status, reply.headers["X-REQUEST-id"]) == (201, "r1")
            assert await reply.read() == b"made"
    [received] = server.requests
    assert (received.method, received.path, received.body) == ("POST", "/v1/x%3A0?a=b%2Fc", b'{"a": 1}')
    assert {**headers, "User-Agent": "hermes/9"}.items() <= {
        name.title(): value for name, value in received.headers.items()
    }.items()


async def test_a_body_of_megabytes_is_sent_whole_and_without_a_warning(client):
    body = bytes(range(256)) * 12_000
    async with ScriptedServer(ok) as server, client.open(HttpRequest("POST", server.url, {}, body)) as reply:
        assert await reply.read() == b"ok"
    assert server.requests[0].body == body


async def test_connections_are_kept_and_cookies_are_not(client):
    async def handler(exchange: Exchange) -> None:
        await exchange.send(b"HTTP/1.1 200 OK\r\nSet-Cookie: a=b\r\nContent-Length: 2\r\n\r\nok")

    async with ScriptedServer(handler) as server:
        assert [await get(client, server.url) for _ in range(3)] == [b"ok"] * 3
    assert server.connections == 1
    assert not any("cookie" in request.headers for request in server.requests)


async def test_a_hundred_and_fifty_calls_to_one_origin_do_not_queue(client):
    arrived = asyncio.Barrier(150)

    async def handler(exchange: Exchange) -> None:
        await arrived.wait()
        await ok(exchange)

    async with ScriptedServer(handler) as server, asyncio.timeout(10):
        replies = await asyncio.gather(*(get(client, server.url) for _ in range(150)))
    assert replies == [b"ok"] * 150


async def test_a_closed_client_can_be_used_again(client):
    async with ScriptedServer(ok) as server:
        assert await get(client, server.url) == b"ok"
        await client.close()
        await client.close()
        assert await get(client, server.url) == b"ok"
    assert server.connections == 2


async def test_an_empty_answer_is_a_success(client):
    async with ScriptedServer(b"HTTP/1.1 204 No Content\r\n\r\n") as server:
        assert await get(client, server.url) == b""


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
async def test_a_get_follows_redirects(client, status: int):
    async with ScriptedServer([moved("../b?x=1", status), http_reply(200, b"there")]) as server:
        assert await get(client, f"{server.url}/a/c", **KEY) == b"there"
    assert [request.path for request in server.requests] == ["/a/c", "/b?x=1"]
    assert server.requests[1].headers["authorization"] == "Bearer sk-secret"


async def test_credentials_stay_with_the_origin_they_were_given_for(client):
    async with (
        ScriptedServer(http_reply(200, b"there")) as other,
        ScriptedServer(moved(f"{other.url}/x")) as server,
    ):
        assert await get(client, server.url, **KEY) == b"there"
    [received] = other.requests
    assert received.headers["accept"] == "text/plain"
    assert not {name.lower() for name in KEY if name != "Accept"} & set(received.headers)
    assert "sk-secret" not in str(received.headers)


async def test_credentials_do_not_come_back_with_a_second_redirect(client):
    replies: list[bytes] = []
    async with ScriptedServer(replies) as server, ScriptedServer(moved(f"{server.url}/home")) as other:
        server._replies = [moved(f"{other.url}/x"), http_reply(200, b"home")]
        assert await get(client, server.url, **KEY) == b"home"
    assert "authorization" in server.requests[0].headers
    assert "authorization" not in server.requests[1].headers


async def test_a_head_is_redirected_and_has_no_body(client):
    async with ScriptedServer([moved("/b"), b"HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\n"]) as server:
        assert await get(client, server.url, "HEAD") == b""
    assert [request.method for request in server.requests] == ["HEAD", "HEAD"]


@pytest.mark.parametrize(("redirects", "requests"), [(5, 6), (0, 1)])
async def test_redirects_end(make_client, redirects: int, requests: int):
    client = make_client(caps=Caps(redirects=redirects))
    async with ScriptedServer(moved("/again")) as server:
        with pytest.raises(ProtocolBroken, match=f"redirects more than {redirects} times"):
            await get(client, server.url)
    assert len(server.requests) == requests


@pytest.mark.parametrize(
    "location", ["file:///etc/passwd", "data:,x", "http://u:pw@127.0.0.1/", "http://[x/", "\\\\x"]
)
async def test_a_redirect_to_what_cannot_be_used_is_an_error(client, location: str):
    async with ScriptedServer(moved(location)) as server:
        with pytest.raises(ProtocolBroken, match="redirects to an address that cannot be used") as caught:
            await get(client, server.url)
    assert "pw" not in str(caught.value)
    assert len(server.requests) == 1


async def test_a_post_is_never_redirected(client):
    async with ScriptedServer(moved("/elsewhere?token=secret", 307)) as server:
        with pytest.raises(HttpStatus) as caught:
            await get(client, server.url, "POST")
    assert caught.value.status == 307
    assert caught.value.hint is not None
    assert "has moved" in caught.value.hint
    assert "secret" not in f"{caught.value}{caught.value.hint}"
    assert len(server.requests) == 1


@pytest.mark.parametrize("status", [300, 304])
async def test_a_get_that_is_told_nothing_new_is_a_status(client, status: int):
    async with ScriptedServer(f"HTTP/1.1 {status} X\r\n\r\n".encode()) as server:
        with pytest.raises(HttpStatus, match=str(status)):
            await get(client, server.url)


async def test_a_proxy_is_asked_and_not_for_loopback(make_client):
    async with ScriptedServer(ok) as proxy, ScriptedServer(ok) as server:
        client = make_client(environ={"HTTP_PROXY": f"http://user:word@127.0.0.1:{proxy.port}"})
        assert await get(client, "http://models.example/v1", **KEY) == b"ok"
        assert await get(client, server.url) == b"ok"
    [asked] = proxy.requests
    assert asked.path == "http://models.example/v1"
    assert asked.headers["proxy-authorization"].startswith("Basic ")
    assert "proxy-authorization" not in server.requests[0].headers


async def test_a_proxy_that_refuses_a_tunnel_is_told_apart(make_client):
    async with ScriptedServer(http_reply(407)) as proxy:
        client = make_client(environ={"https_proxy": f"127.0.0.1:{proxy.port}"})
        with pytest.raises(NetError, match="the proxy answered with status 407 instead of connecting"):
            await get(client, "https://models.example/v1", **KEY)
    [asked] = proxy.requests
    assert (asked.method, "authorization" in asked.headers) == ("CONNECT", False)
