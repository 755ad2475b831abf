"""Pages fetched: what comes back, what is asked again, how many at once, and what a site asks of robots."""

import asyncio

import pytest

from hermes.errors import AddressRefused, HttpStatus, NetError, ProtocolBroken, TooLarge
from hermes.net import addresses
from hermes.net.fetch import Fetcher
from hermes.net.guard import Guard
from hermes.net.reply import Caps
from hermes.protocols import KeptPage
from hermes.tools.web.cache import Cache, KeptPages
from simulators.scripted import Exchange, ScriptedServer, http_reply
from simulators.sentinel import Names, Sentinel

HERE = Guard(opened=(addresses.network("127.0.0.0/8"),))


class Shelf(dict):
    """A cache of pages in memory."""

    def put(self, url, kept: KeptPage):
        self[url] = kept


@pytest.fixture
def fetchers(make_client):
    def make(client=None, **settings):
        return Fetcher(make_client(guard=HERE, **client or {}), **settings)

    return make


async def test_a_page_comes_with_where_it_is_and_what_it_is_called(fetchers):
    async def handler(exchange: Exchange):
        if exchange.request.path == "/a":
            await exchange.send(b"HTTP/1.1 301 Moved\r\nLocation: /b?x=1\r\nContent-Length: 0\r\n\r\n")
        else:
            await exchange.send(http_reply(200, b"<p>hi", content_type="text/html; charset=utf-8"))

    async with ScriptedServer(handler) as server:
        page = await fetchers().fetch(f"{server.url}/a#part")
    assert (page.url, page.status) == (f"{server.url}/b?x=1", 200)
    assert (page.content_type, page.body, page.notes) == ("text/html; charset=utf-8", b"<p>hi", ())
    assert "text/html" in server.requests[0].headers["accept"]


async def test_a_closed_address_is_not_fetched(make_client):
    with pytest.raises(AddressRefused):
        await Fetcher(make_client(guard=Guard())).fetch("http://127.0.0.1:8080/")


async def test_an_error_status_is_an_error(fetchers):
    async with ScriptedServer(http_reply(404)) as server:
        with pytest.raises(HttpStatus, match="404"):
            await fetchers().fetch(server.url)


@pytest.mark.parametrize(
    ("reply", "body", "note"),
    [
        (b"HTTP/1.1 200 OK\r\n\r\n" + b"x" * 3000, 2000, "larger than 2000 bytes"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 900\r\n\r\n" + b"x" * 100, 100, "broke off"),
        (
            b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n64\r\n" + b"x" * 100 + b"\r\n",
            100,
            "broke off",
        ),
    ],
)
async def test_what_is_too_long_or_breaks_off_is_kept_in_part_and_said(reply, body, note, fetchers):
    async with ScriptedServer(reply) as server:
        page = await fetchers({"caps": Caps(raw=2000)}).fetch(server.url)
    assert len(page.body) >= body
    assert note in " ".join(page.notes)


async def test_more_than_was_announced_breaks_the_protocol(fetchers):
    reply = b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\nConnection: close\r\n\r\n" + b"x" * 99
    async with ScriptedServer(reply) as server:
        with pytest.raises(ProtocolBroken):
            await fetchers().fetch(server.url)


async def test_nothing_at_all_before_the_break_is_an_error(fetchers):
    async with ScriptedServer(b"HTTP/1.1 200 OK\r\nContent-Length: 900\r\n\r\n") as server:
        with pytest.raises(NetError):
            await fetchers().fetch(server.url)


async def test_what_unpacks_to_a_hundred_times_its_size_is_refused(fetchers):
    import gzip

    async with ScriptedServer(
        http_reply(200, gzip.compress(bytes(8_000_000)), content_encoding="gzip")
    ) as server:
        with pytest.raises(TooLarge, match="100 times"):
            await fetchers().fetch(server.url)


async def test_a_page_that_was_read_before_is_only_asked_for_changes(fetchers):
    async def handler(exchange: Exchange):
        known = exchange.request.headers.get("if-none-match")
        if known == '"v1"' and exchange.request.headers["if-modified-since"] == "yesterday":
            await exchange.send(b'HTTP/1.1 304 Not Modified\r\nETag: "v1"\r\n\r\n')
        else:
            await exchange.send(http_reply(200, b"first", etag='"v1"', last_modified="yesterday"))

    shelf = Shelf()
    async with ScriptedServer(handler) as server:
        fetcher = fetchers(cache=shelf)
        first = await fetcher.fetch(server.url)
        again = await fetcher.fetch(server.url)
    assert first.body == b"first"
    assert again == first
    assert set(shelf) == {server.url}


async def test_another_run_asks_for_changes_too(make_client, tmp_path):
    async def handler(exchange: Exchange):
        if exchange.request.headers.get("if-none-match") == '"v1"':
            await exchange.send(b"HTTP/1.1 304 Not Modified\r\n\r\n")
        else:
            await exchange.send(http_reply(200, b"\xff\x00 first", etag='"v1"'))

    names = Names({"public.example": ["93.184.215.14"], "exempt.example": ["93.184.215.14"]})
    bodies = []
    async with Sentinel(handler) as sentinel:
        for _run in range(2):
            cache = Cache(str(tmp_path / "pages.db"), 60, lambda: 0.0)
            client = make_client(guard=Guard(), resolver=names, new_socket=sentinel.new_socket)
            fetcher = Fetcher(client, cache=KeptPages(cache, ["exempt.example"]))
            bodies.append((await fetcher.fetch("http://public.example/")).body)
            bodies.append((await fetcher.fetch("http://exempt.example/")).body)
            cache.close()
    assert bodies == [b"\xff\x00 first"] * 4
    asked = [(each.headers["host"], "if-none-match" in each.headers) for each in sentinel.requests]
    assert asked == [
        ("public.example", False),
        ("exempt.example", False),
        ("public.example", True),
        ("exempt.example", False),
    ]


async def test_what_has_no_version_or_is_not_whole_is_not_kept(fetchers):
    shelf = Shelf()
    async with ScriptedServer(http_reply(200, b"x")) as server:
        await fetchers(cache=shelf).fetch(server.url)
    async with ScriptedServer(b'HTTP/1.1 200 OK\r\nETag: "a"\r\nContent-Length: 9\r\n\r\nx') as server:
        await fetchers(cache=shelf).fetch(server.url)
    async with ScriptedServer(http_reply(200, b"x", etag='"a"', cache_control="No-Store")) as server:
        await fetchers(cache=shelf).fetch(server.url)
    assert shelf == {}


async def test_a_host_is_asked_for_a_few_pages_at_a_time(fetchers):
    at_once, most = 0, 0

    async def handler(exchange: Exchange):
        nonlocal at_once, most
        at_once += 1
        most = max(most, at_once)
        await asyncio.sleep(0.02)
        at_once -= 1
        await exchange.send(http_reply(200, b"ok"))

    async with ScriptedServer(handler) as server:
        fetcher = fetchers(per_host=3)
        await asyncio.gather(*(fetcher.fetch(f"{server.url}/{n}") for n in range(12)))
    assert most == 3
    assert fetcher._gates._hosts == {}
    assert fetcher._gates._inside == {}


async def test_one_slow_host_keeps_no_other_waiting(fetchers):
    gate = asyncio.Event()

    async def slow(exchange: Exchange):
        await gate.wait()
        await exchange.send(http_reply(200, b"slow"))

    async with ScriptedServer(slow) as lazy, ScriptedServer(http_reply(200, b"quick")) as quick:
        fetcher = fetchers(per_host=1)
        waiting = [asyncio.ensure_future(fetcher.fetch(f"{lazy.url}/{n}")) for n in range(3)]
        assert (await fetcher.fetch(quick.url)).body == b"quick"
        gate.set()
        assert [page.body for page in await asyncio.gather(*waiting)] == [b"slow"] * 3


async def test_a_page_through_a_proxy_says_who_decides(make_client):
    async with Sentinel() as sentinel:
        client = make_client(
            guard=Guard(),
            resolver=Names({"public.example": ["93.184.215.14"]}),
            environ={"http_proxy": f"http://127.0.0.1:{sentinel.port}"},
        )
        page = await Fetcher(client).fetch("http://public.example/")
    assert "the proxy of the environment" in page.notes[0]


def site(rules, status=200):
    async def handler(exchange: Exchange):
        is_rules = exchange.request.path == "/robots.txt"
        await exchange.send(http_reply(status if is_rules else 200, rules if is_rules else b"page"))

    return ScriptedServer(handler)


async def test_robots_are_not_asked_about_unless_that_is_set(fetchers):
    async with site(b"User-agent: *\nDisallow: /") as server:
        assert (await fetchers().fetch(f"{server.url}/x")).body == b"page"
    assert [request.path for request in server.requests] == ["/x"]


async def test_what_a_site_asks_of_robots_is_heeded_and_asked_once_an_hour(fetchers):
    now = 0.0
    async with site(b"User-agent: *\nDisallow: /private") as server:
        fetcher = fetchers(heeds_robots=True, clock=lambda: now)
        assert (await fetcher.fetch(f"{server.url}/open")).body == b"page"
        with pytest.raises(NetError, match="does not want robots"):
            await fetcher.fetch(f"{server.url}/private?x=1")
        now = 3601.0
        await fetcher.fetch(f"{server.url}/open")
    assert [request.path for request in server.requests] == ["/robots.txt", "/open", "/robots.txt", "/open"]


@pytest.mark.parametrize(("status", "is_open"), [(404, True), (403, True), (500, False), (503, False)])
async def test_a_site_without_rules_is_open_and_one_that_is_down_is_not(status, is_open, fetchers):
    async with site(b"", status) as server:
        fetcher = fetchers(heeds_robots=True)
        if is_open:
            assert (await fetcher.fetch(f"{server.url}/x")).body == b"page"
        else:
            with pytest.raises(NetError, match="does not want robots"):
                await fetcher.fetch(f"{server.url}/x")


async def test_rules_behind_a_closed_address_close_the_site(fetchers):
    async with ScriptedServer(http_reply(302, location="http://10.0.0.1/robots.txt")) as server:
        with pytest.raises(AddressRefused):
            await fetchers(heeds_robots=True).fetch(f"{server.url}/x")


async def test_who_cancels_closes_the_connection(fetchers):
    left = asyncio.Event()

    async def handler(exchange: Exchange):
        await exchange.send(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nx")
        await exchange.client_left()
        left.set()

    async with ScriptedServer(handler) as server:
        fetching = asyncio.ensure_future(fetchers().fetch(server.url))
        await asyncio.sleep(0.05)
        fetching.cancel()
        with pytest.raises(asyncio.CancelledError):
            await fetching
        await asyncio.wait_for(left.wait(), 5)
