"""The address guard through real sockets: nothing closed is ever connected to, nothing public is refused."""

import os
import shutil
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from hermes.errors import AddressRefused, ConnectFailed, NetError, ProtocolBroken
from hermes.net import addresses, target
from hermes.net.guard import Guard
from hermes.net.retry import RetryPolicy
from hermes.net.sites import matches
from hermes.protocols import Deadlines, HttpRequest
from simulators.places import ALLOWED, CLOSED_HOPS, DENIED, NAMES, PUBLIC, STATUSES, hop
from simulators.scripted import http_reply
from simulators.sentinel import Names, Sentinel

ONCE = RetryPolicy(attempts=1)
DENIED_ROWS = [(reason, url) for reason, urls in DENIED.items() for url in urls]


@pytest.fixture
async def sentinel():
    async with Sentinel() as server:
        yield server


@pytest.fixture
def names():
    return Names(NAMES)


@pytest.fixture
def guarded(make_client, sentinel, names):
    def make(guard=None, **settings):
        defaults = {"resolver": names, "new_socket": sentinel.new_socket, "retry": ONCE}
        return make_client(guard=guard or Guard(), **defaults | settings)

    return make


async def get(client, url, **headers):
    # A TLS handshake that the sentinel never answers is waited for to the end.
    patience = 0.2 if url.lower().startswith("https:") else 10.0
    request = HttpRequest("GET", url, headers, deadlines=Deadlines(connect=patience))
    async with client.open(request) as reply:
        return reply.url, await reply.read()


def test_the_table_is_as_large_as_it_should_be():
    urls = [url for _, url in DENIED_ROWS]
    assert len(set(urls)) == len(urls) >= 250
    assert len({url for url, _ in ALLOWED}) == len(ALLOWED) >= 70


@pytest.mark.parametrize(("reason", "url"), DENIED_ROWS)
async def test_what_is_closed_is_refused_and_never_connected_to(reason, url, guarded, sentinel):
    with pytest.raises(NetError) as caught:
        await get(guarded(), url)
    assert getattr(caught.value, "reason", "bad-url") == reason
    assert sentinel.connects == []
    assert "s3cret" not in f"{caught.value} {caught.value.hint}"


@pytest.mark.parametrize(("url", "expected"), ALLOWED)
async def test_what_is_public_is_connected_to(url, expected, guarded, sentinel):
    if url.lower().startswith("https:"):
        with pytest.raises(NetError):  # the sentinel speaks no TLS
            await get(guarded(), url)
    else:
        assert (await get(guarded(), url))[1] == b"ok"
    assert sentinel.connects[0] in expected


@pytest.mark.parametrize("location", CLOSED_HOPS)
@pytest.mark.parametrize("status", STATUSES)
async def test_every_redirect_is_judged(status, location, guarded, sentinel):
    with pytest.raises(NetError):
        await get(guarded(), hop(location, status))
    assert set(sentinel.connects) == {PUBLIC}
    assert len(sentinel.requests) == 1


@pytest.mark.parametrize("status", STATUSES)
async def test_a_redirect_to_a_public_place_is_followed_and_the_reply_says_where_it_came_from(
    status, guarded, names
):
    url, body = await get(guarded(), hop("http://both.example/end?x=1", status))
    assert (url, body) == ("http://both.example/end?x=1", b"ok")
    assert names.asked == ["public.example", "both.example"]


async def test_a_closed_hop_is_found_behind_several_open_ones(guarded, sentinel):
    deep = hop(hop(hop("http://10.0.0.1/"), host="both.example"))
    with pytest.raises(AddressRefused):
        await get(guarded(), deep)
    assert len(sentinel.requests) == 3
    assert "10.0.0.1" not in sentinel.connects


async def test_six_redirects_are_too_many_and_a_loop_ends(guarded, sentinel):
    def chain(length):
        url = "http://public.example/end"
        for _ in range(length):
            url = hop(url)
        return url

    assert (await get(guarded(), chain(5)))[1] == b"ok"
    with pytest.raises(ProtocolBroken, match="more than 5 times"):
        await get(guarded(), chain(6))


@pytest.mark.parametrize(
    "header", ["Refresh: 0; url=http://127.0.0.1/", "Content-Location: http://127.0.0.1/"]
)
async def test_what_only_looks_like_a_redirect_is_not_followed(header, make_client, names):
    reply = f"HTTP/1.1 200 OK\r\n{header}\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok".encode()

    async def once(exchange):
        await exchange.send(reply)
        exchange.close()

    async with Sentinel(once) as sentinel:
        client = make_client(guard=Guard(), resolver=names, new_socket=sentinel.new_socket)
        assert (await get(client, "http://public.example/"))[1] == b"ok"
        assert sentinel.connects == [PUBLIC]


async def test_a_name_that_changes_its_answer_is_looked_up_once_and_the_judged_address_is_used(
    guarded, sentinel
):
    names = Names({"rebind.example": [[PUBLIC], ["127.0.0.1"]]})
    assert (await get(guarded(resolver=names), "http://rebind.example/"))[1] == b"ok"
    assert names.asked == ["rebind.example"]
    assert sentinel.connects == [PUBLIC]


async def test_a_second_lookup_is_judged_like_the_first(guarded, sentinel):
    names = Names({"rebind.example": [[PUBLIC], ["127.0.0.1"]]})
    client = guarded(resolver=names)
    await get(client, "http://rebind.example/")
    await client.close()
    with pytest.raises(AddressRefused):
        await get(client, "http://rebind.example/")
    assert sentinel.connects == [PUBLIC]


@pytest.mark.parametrize("peer", [("127.0.0.1", 80), ("::1", 80, 0, 0), ("169.254.169.254", 80), ("", 0)])
async def test_who_answers_is_looked_at_before_a_byte_is_sent(peer, guarded, sentinel):
    sentinel.peer = peer
    with pytest.raises(AddressRefused):
        await get(guarded(), "http://public.example/")
    assert sentinel.requests == []


async def test_a_socket_for_a_closed_address_is_not_even_made(guarded, sentinel, monkeypatch):
    monkeypatch.setattr(Guard, "admit", lambda _self, where: where)
    for url in ("http://127.0.0.1/", "http://[::1]/"):
        with pytest.raises(ConnectFailed):
            await get(guarded(), url)
    assert sentinel.connects == []


async def test_a_name_without_an_address_is_an_error(guarded):
    with pytest.raises(ConnectFailed, match="no host is called"):
        await get(guarded(resolver=Names({"empty.example": []})), "http://empty.example/")


async def test_credentials_stay_with_their_origin(guarded, sentinel):
    key = {
        "Authorization": "Bearer k",
        "Cookie": "s=1",
        "X-Api-Key": "k",
        "X-Other": "k",
        "Accept": "text/plain",
    }
    await get(guarded(), hop("http://both.example/"), **key)
    first, second = (request.headers for request in sentinel.requests)
    assert {"authorization", "cookie", "x-api-key"} <= set(first)
    assert not {"authorization", "cookie", "x-api-key"} & set(second)
    assert second["accept"] == "text/plain"


def test_what_others_read_for_us_is_judged_without_a_lookup():
    guard = Guard()
    assert guard.why_not("https://public.example/") is None
    assert "private network" in guard.why_not("http://10.0.0.1/")
    assert "keys of a machine" in guard.why_not("http://metadata.google.internal/")
    assert "s3cret" not in guard.why_not("http://user:s3cret@public.example/")
    assert guard.why_not("nonsense")


def test_a_redirect_leaves_tls_only_where_that_is_set():
    secure = target.parse("https://a.example/")
    with pytest.raises(ProtocolBroken, match="from https to http"):
        target.redirected(secure, "http://a.example/")
    assert target.redirected(secure, "http://a.example/", may_leave_tls=True).origin == "http://a.example"


async def test_named_ranges_are_opened_and_no_others(guarded, sentinel):
    opened = (
        addresses.network("198.18.0.0/15"),
        addresses.network("fd12::/16"),
        addresses.network("10.1.2.3"),
    )
    client = guarded(Guard(opened=opened))
    for url in ("http://to-fake.example/", "http://198.19.1.1/", "http://[fd12::7]/", "http://10.1.2.3/"):
        assert (await get(client, url))[1] == b"ok"
    reached = len(sentinel.connects)
    for url in ("http://10.1.2.4/", "http://127.0.0.1/", "http://localhost/", "http://[fd13::1]/"):
        with pytest.raises(AddressRefused):
            await get(client, url)
    assert len(sentinel.connects) == reached


@pytest.mark.parametrize(
    "guard",
    [
        Guard(private=True),
        Guard(opened=(addresses.network("0.0.0.0/0"), addresses.network("::/0"))),
        Guard(opened=(addresses.network("169.254.169.254"), addresses.network("100.64.0.0/10"))),
    ],
)
async def test_where_clouds_keep_their_keys_stays_closed_whatever_is_opened(guard, guarded, sentinel):
    client = guarded(guard)
    for url in DENIED["metadata-address"]:
        with pytest.raises(AddressRefused) as caught:
            await get(client, url)
        assert caught.value.reason == "metadata-address", url
    assert sentinel.connects == []


async def test_all_private_addresses_can_be_opened_at_once(guarded, sentinel):
    client = guarded(Guard(private=True))
    for url in ("http://127.1/", "http://10.0.0.1/", "http://to-private.example/", "http://[::1]/"):
        assert (await get(client, url))[1] == b"ok"
    assert sentinel.connects == ["127.0.0.1", "10.0.0.1", "10.1.2.3", "::1"]


async def test_without_a_guard_what_the_user_configured_may_be_private(make_client, sentinel):
    client = make_client(new_socket=sentinel.new_socket)
    assert (await get(client, "http://127.0.0.1:11434/"))[1] == b"ok"


async def test_a_proxy_decides_and_yet_what_is_known_to_be_closed_is_refused(guarded, sentinel, names):
    client = guarded(environ={"HTTP_PROXY": f"http://127.0.0.1:{sentinel.port}", "NO_PROXY": "both.example"})
    assert (await get(client, "http://public.example/x"))[1] == b"ok"
    assert (await get(client, "http://known-to-the-proxy.example/"))[1] == b"ok"
    assert [request.path for request in sentinel.requests] == [
        "http://public.example/x",
        "http://known-to-the-proxy.example/",
    ]
    for url in (
        "http://10.0.0.1/",
        "http://to-private.example/",
        "http://metadata.goog/",
        "http://localhost/",
    ):
        with pytest.raises(AddressRefused):
            await get(client, url)
    assert len(sentinel.requests) == 2
    assert (await get(client, "http://both.example/"))[1] == b"ok"
    assert sentinel.requests[2].path == "/"


async def test_a_redirect_through_a_proxy_is_judged_too(guarded, sentinel):
    client = guarded(environ={"http_proxy": f"http://127.0.0.1:{sentinel.port}"})

    async def to_private(exchange):
        await exchange.send(http_reply(302, location="http://to-private.example/"))
        exchange.close()

    sentinel._handler = to_private
    with pytest.raises(AddressRefused):
        await get(client, "http://public.example/")
    assert len(sentinel.requests) == 1


async def test_blocked_sites_are_not_asked_even_after_a_redirect(guarded, sentinel):
    client = guarded(Guard(blocked=("both.example", "*.public.example", "1.1.1.1")))
    for url in (
        "http://both.example/",
        hop("http://both.example/"),
        "http://metadata.public.example/",
        "http://1.1.1.1/",
    ):
        with pytest.raises(AddressRefused) as caught:
            await get(client, url)
        assert caught.value.reason == "blocked-site"
    assert set(sentinel.connects) == {PUBLIC}


@pytest.mark.parametrize(
    ("rule", "host", "expected"),
    [
        ("x.org", "x.org", True),
        ("x.org", "a.x.org", True),
        ("x.org", "ax.org", False),
        ("x.org", "x.org.evil", False),
        ("*.x.org", "x.org", False),
        ("*.x.org", "a.b.x.org", True),
        ("https://www.X.org:443/path", "x.org", True),
        ("x.org.", "X.ORG", True),
        ("", "x.org", False),
        ("*.", "x.org", False),
    ],
)
def test_a_rule_means_a_host_and_those_below_it(rule, host, expected):
    assert matches(host, rule) is expected


@pytest.mark.parametrize(
    "text", ["", "10", "10.0.0.0/33", "10.0.0.0/x", "10.0.0.0/-1", "fe80::1%1/64", "a/8", "1.2.3"]
)
def test_what_is_no_network_is_not_opened(text):
    with pytest.raises(ValueError, match="no network"):
        addresses.network(text)


@pytest.mark.parametrize("text", ["10.0.0.0/8", "127.0.0.1", "::1", "fd00::/8", "::/0"])
def test_a_network_holds_its_own_first_address(text):
    first = addresses.parse(text.partition("/")[0])
    assert addresses.network(text).holds(first)


def test_the_same_table_in_a_network_of_its_own():
    """Real lookups, real connections, every address routed to this machine: its end says who was reached."""
    if sys.platform != "linux" or not shutil.which("unshare") or not shutil.which("ip"):
        pytest.skip("needs Linux with `unshare` and `ip`")
    if subprocess.run(["unshare", "-rn", "true"], capture_output=True, check=False).returncode:
        pytest.skip("this user may not make a network namespace")
    driver = Path(__file__).with_name("namespace_driver.py")
    ran = subprocess.run(
        ["unshare", "-rn", sys.executable, str(driver)],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    if ran.returncode == 77:
        pytest.skip(ran.stdout.strip())
    assert (ran.returncode, ran.stderr) == (0, ""), ran.stdout + ran.stderr
    assert ran.stdout.splitlines()[-1] == f"denied {len(DENIED_ROWS)}, allowed {len(ALLOWED)}"


def test_a_socket_is_of_the_family_that_its_address_has():
    from hermes.net.guarded import plain_socket

    with plain_socket((socket.AF_INET, socket.SOCK_STREAM, 0, "", ("1.1.1.1", 80))) as made:
        assert (made.family, made.type) == (socket.AF_INET, socket.SOCK_STREAM)
