"""The table of faults: what each becomes, how often which key and which server is asked, and who answers.

Nothing sleeps for real: the waits are what the table says.
"""

import json
from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager
from typing import NamedTuple

import msgspec
import pytest

from hermes.agent.chain import Models
from hermes.agent.send import ModelClient
from hermes.config.secret import Secret
from hermes.errors import (
    AuthFailed,
    ContextOverflow,
    DeadlinePassed,
    Disconnected,
    HermesError,
    InvalidResponse,
    Overloaded,
    ProviderDown,
    QuotaExhausted,
    RateLimited,
)
from hermes.events import RetryWaiting, Switched
from hermes.messages import Message
from hermes.net.client import Client
from hermes.protocols import Deadlines, Endpoint, HttpReply, HttpRequest, MayRetry, Provider, Request
from hermes.store.notebook import Notebook
from hermes.transports.chat_completions import Transport
from simulators.chat_completions import fails, says
from simulators.naps import Naps
from simulators.scripted import Exchange, ScriptedServer

Fault = Callable[[Exchange], Awaitable[None]]
HEADERS = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nContent-Length: 9999\r\n\r\n"


def event(delta: dict[str, str]) -> bytes:
    chunk = {"id": "c", "choices": [{"index": 0, "delta": delta, "finish_reason": None}]}
    return f"data: {json.dumps(chunk)}\n\n".encode()


def status(code: int, words: str = "no", **headers: object) -> Fault:
    async def fault(exchange: Exchange) -> None:
        await exchange.send(fails(code, words, **headers)({}))
        exchange.close()

    return fault


def breaks(*chunks: bytes) -> Fault:
    """Send these bytes, then end the connection in the middle."""

    async def fault(exchange: Exchange) -> None:
        await exchange.send(*chunks)
        exchange.close()

    return fault


async def reset(exchange: Exchange) -> None:
    exchange.reset()


async def stall(exchange: Exchange) -> None:
    await exchange.client_left()


async def stall_in_the_stream(exchange: Exchange) -> None:
    await exchange.send(HEADERS)
    await exchange.client_left()


class Course(NamedTuple):
    """What happens: requests by key with one key and with two, those beside a fallback, and the waits.

    `waits` are those with one key and nobody else to ask.
    """

    error: type[HermesError]
    one_key: str
    two_keys: str
    beside_fallback: str
    waits: list[float]
    falls_back: bool = True


def key_is_refused(error: type[HermesError]) -> Course:
    return Course(error, "a", "ab", "a", [])


def request_is_refused(error: type[HermesError]) -> Course:
    return Course(error, "a", "a", "a", [])


def passes(error: type[HermesError], *waits: float) -> Course:
    return Course(error, "aaa", "aaa", "aa", list(waits) or [0.5, 1.0])


TABLE: dict[str, tuple[Fault, Course]] = {
    "401": (status(401), key_is_refused(AuthFailed)),
    "402": (status(402), key_is_refused(QuotaExhausted)),
    "403": (status(403), request_is_refused(AuthFailed)),
    "403 spending": (status(403, "spending limit reached"), key_is_refused(QuotaExhausted)),
    "408": (status(408), passes(ProviderDown)),
    "409": (status(409), passes(ProviderDown)),
    "413": (status(413), Course(ContextOverflow, "a", "a", "a", [], falls_back=False)),
    "424": (status(424), passes(ProviderDown)),
    "425": (status(425), passes(ProviderDown)),
    "429 rate": (
        status(429, "slow down", retry_after=7),
        Course(RateLimited, "aaa", "aabbb", "aa", [7.0, 7.0]),
    ),
    "429 rate in ms": (
        status(429, "slow down", retry_after_ms=1500),
        Course(RateLimited, "aaa", "aabbb", "aa", [1.5, 1.5]),
    ),
    "429 hours": (status(429, "slow down", retry_after=99999), key_is_refused(RateLimited)),
    "429 quota": (status(429, "insufficient_quota: pay"), key_is_refused(QuotaExhausted)),
    "429 overloaded": (status(429, "temporarily overloaded"), passes(Overloaded)),
    "429 aggregator": (status(429, "Provider returned error"), passes(RateLimited)),
    "500": (status(500), passes(ProviderDown)),
    "502": (status(502), passes(ProviderDown)),
    "503": (status(503), passes(Overloaded)),
    "503 with a wait": (status(503, retry_after=3), passes(Overloaded, 3.0, 3.0)),
    "503 with hours": (status(503, retry_after=99999), request_is_refused(Overloaded)),
    "504": (status(504), passes(ProviderDown)),
    "529": (status(529), passes(Overloaded)),
    "reset before headers": (reset, passes(Disconnected)),
    "closed before headers": (breaks(), passes(Disconnected)),
    "closed after headers": (breaks(HEADERS), passes(Disconnected)),
    "closed while thinking": (breaks(HEADERS, event({"reasoning": "hm"})), passes(Disconnected)),
    "closed after a word": (
        breaks(HEADERS, event({"content": "so "})),
        Course(Disconnected, "a", "a", "a", [], falls_back=False),
    ),
    "empty": (breaks(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n"), passes(InvalidResponse)),
    "stall": (stall, passes(DeadlinePassed)),
    "stall in the stream": (stall_in_the_stream, passes(DeadlinePassed)),
}
every_fault = pytest.mark.parametrize(("fault", "course"), TABLE.values(), ids=TABLE)


class Hasty:
    """A wire with no time to lose: stalls are seen at once."""

    def __init__(self, client: Client) -> None:
        self._client = client

    def open(
        self, request: HttpRequest, may_retry: MayRetry | None = None
    ) -> AbstractAsyncContextManager[HttpReply]:
        deadlines = Deadlines(connect=5, first_byte=0.15, idle=0.15, total=60)
        return self._client.open(msgspec.structs.replace(request, deadlines=deadlines), may_retry)

    async def close(self) -> None:
        await self._client.close()


class Bench:
    """A server with a fault for some keys, a second one that is sound, and who is asked for what."""

    def __init__(self, fault: Fault, *, keys: str, sound: str = "", fallback: bool = False) -> None:
        self.keys, self.served, self.naps = "", "", Naps()
        self.events: list[object] = []
        self._fault, self._given, self._sound, self._fallback = fault, keys, sound, fallback

    async def __aenter__(self) -> "Bench":
        self.client = Client(sleep=self.naps, random=lambda: 0.0, environ={})
        self._first = await ScriptedServer(self._answer).__aenter__()
        self._second = await ScriptedServer(self._serve).__aenter__()
        names = ("second/m",) if self._fallback else ()
        chosen = self._make("first", self._first.url, self._given)
        self.models = Models(
            chosen, names, lambda _name: self._make("second", self._second.url, "z"), Notebook(None)
        )
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.client.close()
        await self._first.__aexit__()
        await self._second.__aexit__()

    def _make(self, name: str, url: str, keys: str) -> ModelClient:
        first, *spare = (Secret(f"sk-{key}") for key in keys)
        provider = Provider(name=name, title=name, api_mode="chat_completions", key_env=("KEY",))
        endpoint = Endpoint(
            provider=provider, model="m", base_url=url, api_key=first, spare_keys=tuple(spare)
        )
        return ModelClient(endpoint, Transport(), Hasty(self.client), Notebook(None), self.naps)

    async def _answer(self, exchange: Exchange) -> None:
        assert exchange.request is not None
        key = exchange.request.headers["authorization"][-1]
        self.keys += key
        await (self._serve if key in self._sound else self._fault)(exchange)

    async def _serve(self, exchange: Exchange) -> None:
        assert exchange.request is not None
        self.served += exchange.request.headers["authorization"][-1]
        await exchange.send(says("ok")(json.loads(exchange.request.body)))
        exchange.close()

    async def ask(self) -> str:
        """Who answered."""
        request = Request(messages=(Message(role="user", content="hi"),))
        served = await self.models.question().send(request, self.events.append)
        assert served.response.content == "ok"
        return served.endpoint.provider.name


@every_fault
async def test_with_one_key(fault: Fault, course: Course):
    async with Bench(fault, keys="a") as bench:
        with pytest.raises(course.error) as caught:
            await bench.ask()
        assert type(caught.value) is course.error
        assert (bench.keys, bench.naps) == (course.one_key, course.waits)
        told = [event.seconds for event in bench.events if isinstance(event, RetryWaiting)]
        assert told == course.waits


@every_fault
async def test_with_two_keys_that_both_fail(fault: Fault, course: Course):
    async with Bench(fault, keys="ab") as bench:
        with pytest.raises(course.error):
            await bench.ask()
        assert bench.keys == course.two_keys


@every_fault
async def test_with_a_second_key_that_is_sound(fault: Fault, course: Course):
    async with Bench(fault, keys="ab", sound="b") as bench:
        if "b" not in course.two_keys:
            with pytest.raises(course.error):
                await bench.ask()
            assert bench.keys == course.two_keys
        else:
            assert await bench.ask() == "first"
            assert bench.keys == course.two_keys.rstrip("b") + "b"
            assert await bench.ask() == "first"
            assert bench.keys.endswith("bb")


@every_fault
async def test_with_a_fallback(fault: Fault, course: Course):
    async with Bench(fault, keys="a", fallback=True) as bench:
        if not course.falls_back:
            with pytest.raises(course.error):
                await bench.ask()
        else:
            assert await bench.ask() == "second"
        assert (bench.keys, bench.served) == (course.beside_fallback, "z" * course.falls_back)
        assert bench.naps == course.waits[: len(course.beside_fallback) - 1]
        switches = [event for event in bench.events if isinstance(event, Switched)]
        assert [(switch.from_model, switch.to_model) for switch in switches] == (
            [("first/m", "second/m")] * course.falls_back
        )


@pytest.mark.parametrize(
    ("name", "keys"), [("401", "ab"), ("402", "ab"), ("403", "a"), ("429 rate", "aabb"), ("503", "aa")]
)
async def test_all_keys_come_before_the_fallback(name: str, keys: str):
    async with Bench(TABLE[name][0], keys="ab", fallback=True) as bench:
        assert await bench.ask() == "second"
        assert (bench.keys, bench.served) == (keys, "z")


@every_fault
async def test_a_fault_that_goes_away_is_hardly_seen(fault: Fault, course: Course):
    seen: list[Exchange] = []

    async def once(exchange: Exchange) -> None:
        seen.append(exchange)
        await (fault if len(seen) == 1 else bench._serve)(exchange)

    async with Bench(once, keys="a") as bench:
        if len(course.one_key) == 1:
            with pytest.raises(course.error):
                await bench.ask()
        else:
            assert await bench.ask() == "first"
            assert (bench.keys, bench.naps) == ("aa", course.waits[:1])


async def test_a_wait_that_is_too_long_says_when_to_come_back():
    async with Bench(status(429, "slow down", retry_after=5400), keys="a") as bench:
        with pytest.raises(RateLimited, match="come back in 1 h 30 min") as caught:
            await bench.ask()
        assert caught.value.retry_after == 5400
