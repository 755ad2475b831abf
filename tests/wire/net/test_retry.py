"""Which failures are tried again, when, and how often in all."""

import asyncio
from email.utils import formatdate

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hermes.errors import (
    ConnectFailed,
    DeadlinePassed,
    Disconnected,
    HttpStatus,
    NetError,
    ProtocolBroken,
    TooLarge,
)
from hermes.events import RetryWaiting
from hermes.net.client import Client
from hermes.net.retry import RetryBudget, RetryPolicy, is_transient, retry_after
from hermes.protocols import Deadlines, HttpRequest
from simulators.scripted import Exchange, ScriptedServer, http_reply

NOW = 1_800_000_000.0
OK = http_reply(200, b"ok")


def status(code: int, body: bytes = b"", wait: float | None = None, **headers: str) -> HttpStatus:
    names = {name.replace("_", "-"): value for name, value in headers.items()}
    return HttpStatus(code, names, body, retry_after=wait)


async def post(client: Client, url: str, deadlines: Deadlines = Deadlines(), may_retry=None) -> bytes:  # noqa: B008
    request = HttpRequest("POST", f"{url}/v1?key=sk-secret", {}, b"{}", deadlines)
    async with client.open(request, may_retry) as reply:
        return await reply.read()


@pytest.mark.parametrize(
    ("error", "transient"),
    [
        *((status(code), True) for code in (408, 409, 425, 429, 500, 502, 503, 529)),
        *((status(code), False) for code in (302, 400, 401, 402, 403, 404, 413, 422)),
        (status(400, x_should_retry="true"), True),
        (status(503, x_should_retry="false"), False),
        (status(500, x_should_retry="perhaps"), True),
        (ConnectFailed("x"), True),
        (Disconnected("x"), True),
        (DeadlinePassed("x", phase="connect"), True),
        (DeadlinePassed("x", phase="first byte"), False),
        (DeadlinePassed("x", phase="total"), False),
        *((kind("x"), False) for kind in (NetError, ProtocolBroken, TooLarge)),
    ],
)
def test_what_is_worth_another_try(error: NetError, transient: bool):
    assert is_transient(error) is transient


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({}, None),
        ({"retry-after": "7"}, 7.0),
        ({"retry-after": "0"}, 0.0),
        ({"retry-after": "1.5"}, 1.5),
        ({"retry-after": "3600"}, 3600.0),
        ({"retry-after-ms": "1500"}, 1.5),
        ({"retry-after-ms": "250", "retry-after": "9"}, 0.25),
        ({"retry-after-ms": "soon", "retry-after": "9"}, 9.0),
        ({"retry-after": formatdate(NOW + 20, usegmt=True)}, 20.0),
        ({"retry-after": formatdate(NOW - 20, usegmt=True)}, None),
        *(({"retry-after": text}, None) for text in ("-5", "soon", "", "nan", "inf", "1e999", "Mon, 99 Foo")),
    ],
)
def test_the_wait_a_server_asks_for(headers: dict[str, str], seconds: float | None):
    assert retry_after(503, headers, b"", NOW) == seconds


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"ratelimit-reset": "30"}, 30.0),
        ({"x-ratelimit-reset": str(int(NOW) + 12)}, 12.0),
        ({"x-ratelimit-reset": str(int(NOW) - 12)}, None),
        ({"x-ratelimit-reset": str(1000 * int(NOW) + 1500)}, 1.5),
        ({"x-ratelimit-reset-requests": "6m0s", "x-ratelimit-remaining-requests": "41"}, None),
        ({"x-ratelimit-reset-requests": "1s"}, 1.0),
        ({"x-ratelimit-reset-requests": "6m0s"}, 360.0),
        ({"x-ratelimit-reset-requests": "350ms"}, 0.35),
        ({"x-ratelimit-reset-requests": "1h2m3.5s"}, 3723.5),
        ({"x-ratelimit-reset-requests": "1s", "x-ratelimit-reset-tokens": "6s"}, 6.0),
        ({"x-ratelimit-reset-requests": "6m0s", "retry-after": "2"}, 2.0),
        *(({"ratelimit-reset": text}, None) for text in ("", "soon", "-1", "1x", "s")),
    ],
)
def test_the_end_of_a_limit_counts_for_too_many_requests_alone(
    headers: dict[str, str], seconds: float | None
):
    assert retry_after(429, headers, b"", NOW) == seconds
    assert retry_after(503, headers, b"", NOW) in (None, 2.0)


@pytest.mark.parametrize(
    ("body", "seconds"),
    [
        (b'{"retry_after": 3}', 3.0),
        (b'{"error": {"message": "slow down", "retry_after": 2.5}}', 2.5),
        (b'{"error": {"retry_after": "4s"}}', 4.0),
        (b'{"error": {"details": [{"@type": "a"}, {"@type": "b", "retryDelay": "7s"}]}}', 7.0),
        (b'[{"error": {"details": [{"retryDelay": "38.5s"}]}}]', 38.5),
        *((body, None) for body in (b"", b"{", b"[]", b"\xff", b'{"error": "x"}', b'{"retry_after": -1}')),
        *((body, None) for body in (b'{"retry_after": true}', b'{"error": {"details": {"retryDelay": 1}}}')),
    ],
)
def test_a_wait_may_stand_in_the_body(body: bytes, seconds: float | None):
    assert retry_after(503, {}, body, NOW) == seconds
    assert retry_after(503, {"retry-after": "9"}, body, NOW) == 9.0


@given(st.text(), st.binary())
def test_no_header_and_no_body_breaks_the_reader(text: str, body: bytes):
    names = ("retry-after", "retry-after-ms", "ratelimit-reset", "x-ratelimit-reset-requests")
    wait = retry_after(429, dict.fromkeys(names, text), body, NOW)
    assert wait is None or 0 <= wait < float("inf")


@given(st.integers(1, 50), st.floats(0, 1))
def test_back_off_doubles_up_to_its_cap_with_jitter(attempt: int, chance: float):
    wait = RetryPolicy(attempts=100).delay(status(500), attempt, lambda: chance)
    full = min(0.5 * 2 ** (attempt - 1), 8.0)
    assert wait is not None
    assert full * 0.75 <= wait <= full


def test_a_server_is_waited_for_up_to_our_patience_and_attempts():
    policy = RetryPolicy(attempts=2, patience=30)
    assert policy.delay(status(429, wait=30), 1, float) == 30
    assert policy.delay(status(429, wait=30.1), 1, float) is None
    assert policy.delay(status(429, wait=1), 2, float) is None


def test_a_budget_is_spent_by_retries_and_refilled_by_answers():
    budget = RetryBudget(2)
    assert [budget.spend() for _ in range(3)] == [True, True, False]
    budget.give_back()
    assert [budget.spend() for _ in range(2)] == [True, False]
    for _ in range(9):
        budget.give_back()
    assert [budget.spend() for _ in range(3)] == [True, True, False]


async def test_a_call_is_tried_again_until_it_is_answered(client, naps):
    heard: list[RetryWaiting] = []

    def hear(_error, waiting):
        heard.append(waiting)
        return True

    replies = [http_reply(529), http_reply(429, retry_after=7), OK]
    async with ScriptedServer(replies) as server:
        assert await post(client, server.url, may_retry=hear) == b"ok"
    assert naps == [0.5, 7.0]
    assert heard == [
        RetryWaiting("the server answered with status 529", 0.5, 1),
        RetryWaiting("the server answered with status 429", 7.0, 2),
    ]
    assert [request.body for request in server.requests] == [b"{}"] * 3


async def test_the_caller_may_give_up_before_a_wait(client, naps):
    async with ScriptedServer(http_reply(503)) as server:
        with pytest.raises(HttpStatus):
            await post(client, server.url, may_retry=lambda error, waiting: waiting.attempt < 2)
    assert (len(server.requests), len(naps)) == (2, 1)


async def test_a_wait_that_the_caller_declines_costs_nothing(client, naps):
    async with ScriptedServer(http_reply(503)) as server:
        for _ in range(20):
            with pytest.raises(HttpStatus):
                await post(client, server.url, may_retry=lambda *_: False)
        with pytest.raises(HttpStatus):
            await post(client, server.url)
    assert len(naps) == 2


async def test_the_last_failure_is_raised_with_what_the_server_said(client, naps):
    async with ScriptedServer(http_reply(503, b"x" * 70_000, retry_after=2, x_a="b")) as server:
        with pytest.raises(HttpStatus) as caught:
            await post(client, server.url)
    error = caught.value
    assert (error.status, error.body, error.retry_after, error.headers["X-A"]) == (
        503,
        b"x" * 65536,
        2.0,
        "b",
    )
    assert (len(server.requests), naps) == (3, [2.0, 2.0])


async def test_an_hour_is_not_waited_for_and_the_caller_can_say_when(client, naps):
    async with ScriptedServer(http_reply(429, retry_after=3600)) as server:
        with pytest.raises(HttpStatus) as caught:
            await post(client, server.url)
    assert (caught.value.retry_after, len(server.requests), naps) == (3600.0, 1, [])


async def test_a_date_is_read_by_the_clock_that_was_given(make_client, naps):
    client = make_client(clock=lambda: NOW)
    date = formatdate(NOW + 4, usegmt=True)
    async with ScriptedServer([http_reply(503, retry_after=date), OK]) as server:
        assert await post(client, server.url) == b"ok"
    assert naps == [4.0]


async def test_a_wait_beyond_the_deadline_is_not_begun(client, naps):
    async with ScriptedServer(http_reply(503, retry_after=5)) as server:
        with pytest.raises(HttpStatus):
            await post(client, server.url, Deadlines(total=4))
    assert (len(server.requests), naps) == (1, [])


async def test_the_deadline_holds_over_all_attempts(make_client):
    async def handler(exchange: Exchange) -> None:
        await asyncio.sleep(0.1)
        await exchange.send(http_reply(500))

    client = make_client(sleep=asyncio.sleep, retry=RetryPolicy(attempts=50, base=0.01, cap=0.01))
    async with ScriptedServer(handler) as server:
        with pytest.raises(NetError) as caught:
            await post(client, server.url, Deadlines(total=0.35))
    assert isinstance(caught.value, DeadlinePassed | HttpStatus)
    assert 2 <= len(server.requests) <= 4


@pytest.mark.parametrize("method", ["GET", "POST"])
async def test_a_reset_before_headers_is_tried_again_and_by_nobody_else(client, naps, method: str):
    async def handler(exchange: Exchange) -> None:
        exchange.reset()

    async with ScriptedServer(handler) as server:
        with pytest.raises(Disconnected, match="before it answered"):
            async with client.open(HttpRequest(method, server.url)):
                pass
    assert (len(server.requests), naps) == (3, [0.5, 1.0])


async def test_nothing_is_tried_again_once_a_reply_was_entered(client):
    cut = b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf"
    async with ScriptedServer(cut) as server:
        with pytest.raises(Disconnected, match="in the middle"):
            await post(client, server.url)
    assert len(server.requests) == 1


@pytest.mark.parametrize("ends", [True, False])
async def test_a_policy_for_whole_answers_asks_again_for_one_that_breaks_off_or_stalls(
    make_client, naps, ends: bool
):
    async def handler(exchange: Exchange) -> None:
        if len(server.requests) > 1:
            await exchange.send(OK)
            return
        await exchange.send(b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf")
        if not ends:
            await exchange.client_left()
        exchange.close()

    client = make_client(retry=RetryPolicy(whole=True))
    async with ScriptedServer(handler) as server:
        assert await post(client, server.url, Deadlines(idle=0.1)) == b"ok"
    assert (len(server.requests), naps) == (2, [0.5])


@pytest.mark.parametrize("at_once", [True, False])
async def test_a_dead_server_is_not_stormed(client, at_once: bool):
    async with ScriptedServer(http_reply(503)) as server:
        calls = [post(client, server.url) for _ in range(100)]
        if at_once:
            failures = await asyncio.gather(*calls, return_exceptions=True)
        else:
            failures = [(await asyncio.gather(call, return_exceptions=True))[0] for call in calls]
    assert all(isinstance(failure, HttpStatus) for failure in failures)
    assert 100 < len(server.requests) <= 120


async def test_each_origin_has_its_own_budget_and_answers_refill_it(make_client):
    client = make_client(retry=RetryPolicy(attempts=11))
    async with ScriptedServer(http_reply(503)) as dead, ScriptedServer([http_reply(503), OK]) as alive:
        for _ in range(3):
            with pytest.raises(HttpStatus):
                await post(client, dead.url)
        assert len(dead.requests) == 3 + 10
        assert await post(client, alive.url) == b"ok"
        dead._replies = [OK]
        assert await post(client, dead.url) == b"ok"
        dead._replies, before = [http_reply(503)], len(dead.requests)
        with pytest.raises(HttpStatus):
            await post(client, dead.url)
        assert len(dead.requests) == before + 2
