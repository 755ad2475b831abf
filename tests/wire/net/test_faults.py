"""What servers do wrong: each has its own name and words, and none of them repeats a secret."""

import asyncio
import errno
import shutil
import socket
import ssl
import subprocess
from pathlib import Path

import aiohttp
import pytest
from aiohttp.client_reqrep import ConnectionKey
from hypothesis import given, settings
from hypothesis import strategies as st

from hermes.errors import ConnectFailed, Disconnected, HermesError, NetError, ProtocolBroken, TooLarge
from hermes.net import faults
from hermes.net.client import Client
from hermes.net.retry import is_transient
from hermes.net.target import parse
from hermes.protocols import Deadlines, HttpRequest
from simulators.scripted import Exchange, ScriptedServer, http_reply

SECRETS = ("sk-secret", "query-secret", "body-secret")
OK = b"HTTP/1.1 200 OK\r\n"


async def post(client: Client, url: str) -> bytes:
    headers = {"Authorization": f"Bearer {SECRETS[0]}", "X-Api-Key": SECRETS[0]}
    request = HttpRequest(
        "POST", f"{url}/v1?k={SECRETS[1]}", headers, SECRETS[2].encode(), Deadlines(total=5)
    )
    async with client.open(request) as reply:
        return await reply.read()


async def fail(client: Client, url: str, kind: type[NetError]) -> HermesError:
    """The error of a call, checked to be of a kind, to name the origin and to hold no secret."""
    with pytest.raises(kind) as caught:
        await post(client, url)
    said = f"{caught.value} {caught.value.hint} {caught.value!r}"
    assert url in said
    assert not any(secret in said for secret in SECRETS)
    assert caught.value.__cause__ is None
    return caught.value


@pytest.mark.parametrize(
    ("sent", "kind"),
    [
        (b"", Disconnected),
        (OK + b"X-Half: ", Disconnected),
        (b"SSH-2.0-OpenSSH_9.9\r\n", ProtocolBroken),
        (b"\x15\x03\x01\x00\x02\x02\x46", ProtocolBroken),
        (OK + b"Content-Length: 3\r\nContent-Length: 4\r\n\r\nabcd", ProtocolBroken),
        (OK + b"Content-Length: 9\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n0\r\n\r\n", ProtocolBroken),
        (OK + b"Content-Length: -1\r\n\r\n", ProtocolBroken),
        (OK + b"X: " + b"a" * 65536 + b"\r\n\r\n", TooLarge),
        (OK + b"X: a\r\n" * 200 + b"\r\n", ProtocolBroken),
        (OK + b"Content-Length: 9\r\n\r\nhalf", Disconnected),
        (OK + b"Transfer-Encoding: chunked\r\n\r\n4\r\nhalf\r\n", Disconnected),
        (OK + b"Transfer-Encoding: chunked\r\n\r\nzz\r\nhalf\r\n", ProtocolBroken),
    ],
)
async def test_what_a_server_sends(client, sent: bytes, kind: type[NetError]):
    async with ScriptedServer(sent) as server:
        await fail(client, server.url, kind)


@pytest.mark.parametrize(
    "sent", [b"Content-Length: 9\r\n\r\nhalf", b"Transfer-Encoding: chunked\r\n\r\n4\r\nhalf\r\n"]
)
async def test_a_reset_in_the_body(client, sent: bytes):
    async def handler(exchange: Exchange) -> None:
        await exchange.send(OK + sent)
        await asyncio.sleep(0.02)
        exchange.reset()

    async with ScriptedServer(handler) as server:
        error = await fail(client, server.url, Disconnected)
    assert "in the middle of its answer" in str(error)


async def test_a_chunk_that_breaks_after_the_headers(client):
    async def handler(exchange: Exchange) -> None:
        await exchange.send(OK + b"Transfer-Encoding: chunked\r\n\r\n4\r\nhalf\r\n")
        await asyncio.sleep(0.02)
        await exchange.send(b"zz\r\nno chunk\r\n")
        await exchange.client_left()

    async with ScriptedServer(handler) as server:
        error = await fail(client, server.url, ProtocolBroken)
    assert "sent a body that breaks HTTP" in str(error)


async def test_answers_in_single_bytes_are_the_same_answers(client):
    whole = OK + b"Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n6\r\n world\r\n0\r\n\r\n"

    async def handler(exchange: Exchange) -> None:
        for byte in whole:
            await exchange.send(bytes([byte]))
            await asyncio.sleep(0)

    async with ScriptedServer(handler) as server:
        assert await post(client, server.url) == b"hello world"


async def test_interim_answers_are_passed_over(client):
    interim = b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n"
    async with ScriptedServer(interim + http_reply(200, b"ok")) as server:
        assert await post(client, server.url) == b"ok"


async def test_nobody_listens(client, naps):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        error = await fail(client, f"http://127.0.0.1:{taken.getsockname()[1]}", ConnectFailed)
    assert "refused the connection" in str(error)
    assert error.hint == "is the server running?"
    assert len(naps) == 2


@pytest.mark.parametrize(
    ("kind", "reason", "words", "retried"),
    [
        (aiohttp.ClientConnectorError, OSError(errno.ECONNREFUSED, "x"), "refused the connection", True),
        (aiohttp.ClientConnectorError, OSError(errno.ENETUNREACH, "x"), "no route to", True),
        (aiohttp.ClientConnectorError, OSError(errno.EHOSTUNREACH, "x"), "no route to", True),
        (aiohttp.ClientConnectorError, OSError(errno.EMFILE, "x"), "no connection to .* \\(EMFILE\\)", True),
        (aiohttp.ClientConnectorError, OSError("Multiple exceptions"), "no reason given", True),
        (aiohttp.ClientConnectorDNSError, OSError(socket.EAI_NONAME, "x"), "no host is called", False),
        (aiohttp.ClientConnectorDNSError, OSError(socket.EAI_AGAIN, "x"), "cannot be looked up now", True),
        (aiohttp.ClientProxyConnectionError, OSError(errno.ECONNREFUSED, "x"), "reach the proxy", True),
    ],
)
def test_why_there_is_no_connection(kind, reason: OSError, words: str, retried: bool):
    key = ConnectionKey("api.example", 443, True, True, None, None, None)
    error = faults.before_headers(kind(key, reason), parse("https://api.example/v1?k=query-secret"), 5)
    assert isinstance(error, ConnectFailed)
    with pytest.raises(ConnectFailed, match=words):
        raise error
    assert error.hint or "EMFILE" in words or "no reason" in words
    assert is_transient(error) is error.retryable is retried
    assert "secret" not in f"{error} {error.hint}"


def test_an_error_we_do_not_know_is_still_ours():
    error = faults.before_headers(aiohttp.ClientError("k=query-secret"), parse("http://a.example"), 5)
    assert (type(error), str(error)) == (NetError, "the request to `http://a.example` failed (ClientError)")


@pytest.mark.parametrize("value", ["sk-secret\n", "sk-secret\r\nX-Evil: 1", "sk\0secret"])
async def test_a_key_with_a_line_break_is_not_sent(client, value: str):
    async with ScriptedServer(http_reply()) as server:
        with pytest.raises(NetError, match="a header that cannot be sent") as caught:
            await client.open(HttpRequest("POST", server.url, {"X-Api-Key": value})).__aenter__()
    assert server.requests == []
    assert "secret" not in f"{caught.value} {caught.value.hint}"


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> ssl.SSLContext:
    """A server's side of TLS that nobody vouches for."""
    openssl = shutil.which("openssl")
    if openssl is None:
        pytest.skip("there is no `openssl` to make a certificate with")
    folder: Path = tmp_path_factory.mktemp("tls")
    command = [openssl, "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]
    command += ["-keyout", str(folder / "key"), "-out", str(folder / "crt"), "-days", "2"]
    command += ["-subj", "/CN=127.0.0.1", "-addext", "subjectAltName=IP:127.0.0.1"]
    subprocess.run(command, check=True, capture_output=True)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(folder / "crt", folder / "key")
    return context


async def test_a_certificate_nobody_vouches_for_is_refused_once(client, naps, certificate: ssl.SSLContext):
    async with ScriptedServer(http_reply(), tls=certificate) as server:
        error = await fail(client, server.url, ConnectFailed)
    assert "the certificate of" in str(error)
    assert "self-signed certificate" in str(error)
    assert "SSL_CERT_FILE" in (error.hint or "")
    assert (error.retryable, list(naps), server.requests) == (False, [], [])


async def test_tls_where_the_server_has_none_says_so(client, naps):
    async with ScriptedServer(lambda exchange: exchange.send(http_reply(400)), reads=False) as server:
        error = await fail(client, server.url.replace("http:", "https:"), ConnectFailed)
    assert error.hint == "does the server speak https on this port?"
    assert list(naps) == []


ANSWER = http_reply(200, b"data: a\n\ndata: b\n\n", content_type="text/event-stream")


@settings(max_examples=40, deadline=None)
@given(st.integers(0, len(ANSWER) - 1))
def test_an_answer_cut_anywhere_is_never_taken_for_a_whole_one(length: int):
    async def cut() -> None:
        async def nap(_: float) -> None:
            return

        client = Client(environ={}, sleep=nap)
        async with ScriptedServer(ANSWER[:length]) as server:
            request = HttpRequest("POST", server.url)
            try:
                async with client.open(request) as reply:
                    async for _ in reply.events():
                        pass
            finally:
                await client.close()

    with pytest.raises(Disconnected):
        asyncio.run(cut())
