"""What the way to a model adds to aiohttp: per call, per streamed chunk, and with many calls in flight.

Both sides send the same bytes to the same server from the same event loop. The floor is aiohttp as
lean as it goes (no cookies, no pool limit, no decompression) with its own default deadline.
"""

import asyncio
import json
from collections.abc import Callable
from typing import Any

import aiohttp
import msgspec
from yarl import URL

from bench.measure import (
    MICRO,
    Figure,
    Goal,
    Meter,
    Plan,
    Work,
    cpu_per_unit,
    medians,
    sampler,
    settle,
    units_per_second,
)
from hermes import __version__
from hermes.agent.send import ModelClient
from hermes.events import Event
from hermes.messages import Message
from hermes.net.client import Client
from hermes.protocols import Endpoint, HttpRequest, Request
from hermes.providers.custom import PROVIDER
from hermes.transports.chat_completions import Transport

IN_FLIGHT = 100
USER_AGENT = f"hermes/{__version__}"


class Post(msgspec.Struct, frozen=True):
    """A request ready to be sent by hand."""

    url: URL
    headers: dict[str, str]
    body: bytes


def new_request(model: str, *, stream: bool) -> Request:
    """A request nobody has seen before, as every real one is."""
    message = Message(role="user", content="Where is the answer, and who says so?")
    return Request(model=model, messages=(message,), stream=stream)


def new_client(server: str, model: str) -> tuple[ModelClient, Client]:
    """Hermes' own way to a model, and the sockets under it, to be closed."""
    wire = Client(environ={}, user_agent=USER_AGENT)
    return ModelClient(Endpoint(provider=PROVIDER, model=model, base_url=server), Transport(), wire), wire


async def new_session() -> aiohttp.ClientSession:
    """aiohttp by hand, with the headers that Hermes sends; it must be made inside its loop."""
    return aiohttp.ClientSession(
        connector=aiohttp.TCPConnector(limit=0),
        cookie_jar=aiohttp.DummyCookieJar(),
        headers={"User-Agent": USER_AGENT, "Accept-Encoding": "gzip, deflate"},
        auto_decompress=False,
    )


def prepare(server: str, request: Request) -> Post:
    endpoint = Endpoint(provider=PROVIDER, model=request.model, base_url=server)
    transport = Transport()
    http: HttpRequest = transport.encode(transport.build_kwargs(request, PROVIDER), endpoint)
    return Post(url=URL(http.url), headers=dict(http.headers), body=http.body)


async def call_by_hand(session: aiohttp.ClientSession, post: Post) -> Any:
    async with session.post(post.url, data=post.body, headers=post.headers) as response:
        return json.loads(await response.read())


async def stream_by_hand(session: aiohttp.ClientSession, post: Post) -> str:
    texts: list[str] = []
    rest = b""
    async with session.post(post.url, data=post.body, headers=post.headers) as response:
        async for piece in response.content.iter_any():
            *lines, rest = (rest + piece).split(b"\n")
            for line in lines:
                if line.startswith(b"data: ") and line != b"data: [DONE]":
                    choices = json.loads(line[6:])["choices"]
                    if choices:
                        texts.append(choices[0]["delta"].get("content") or "")
    return "".join(texts)


def drop(_event: Event) -> None:
    pass


class Bench:
    """Hermes and the floor over one server, on one loop."""

    def __init__(self, plan: Plan, runner: asyncio.Runner, model: str, *, stream: bool) -> None:
        self._runner = runner
        self._model, self._stream = model, stream
        self._post = prepare(plan.server, new_request(model, stream=stream))
        self._client, self._wire = new_client(plan.server, model)
        self._session = runner.run(new_session())

    async def ask_hermes(self) -> str | None:
        return (await self._client.send(new_request(self._model, stream=self._stream), drop)).content

    async def ask_by_hand(self) -> str | None:
        if self._stream:
            return await stream_by_hand(self._session, self._post)
        text: str = (await call_by_hand(self._session, self._post))["choices"][0]["message"]["content"]
        return text

    def compare(
        self, load: Callable[[Work], Work], units: int, meter: Meter, rounds: int
    ) -> tuple[float, float]:
        """Hermes and the floor under the same load, by the same meter."""
        settle()
        asks = (self.ask_hermes, self.ask_by_hand)
        value, floor = medians([sampler(self._runner, meter, load(ask), units) for ask in asks], rounds)
        return value, floor

    def close(self) -> None:
        self._runner.run(self._wire.close())
        self._runner.run(self._session.close())


def one_by_one(ask: Work, times: int) -> Work:
    async def work() -> None:
        for _ in range(times):
            await ask()

    return work


def side_by_side(ask: Work, times: int) -> Work:
    async def work() -> None:
        await asyncio.gather(*(one_by_one(ask, times)() for _ in range(IN_FLIGHT)))

    return work


def measure_call(plan: Plan) -> list[Figure]:
    calls = 200
    with asyncio.Runner() as runner:
        bench = Bench(plan, runner, "bench", stream=False)
        value, floor = bench.compare(
            lambda ask: one_by_one(ask, calls), calls, cpu_per_unit, plan.rounds(40, 6)
        )
        bench.close()
    return [_cpu("call", "a model call, CPU", value, floor)]


def measure_chunk(plan: Plan) -> list[Figure]:
    return [
        _measure_stream(plan, "chunk", "a chunk in bursts, CPU", "bench-burst-2000"),
        _measure_stream(plan, "chunk.single", "a chunk in its own write, CPU", "bench-paced-500"),
    ]


def _measure_stream(plan: Plan, name: str, what: str, model: str) -> Figure:
    chunks = int(model.rpartition("-")[2])
    with asyncio.Runner() as runner:
        bench = Bench(plan, runner, model, stream=True)
        value, floor = bench.compare(lambda ask: ask, chunks, cpu_per_unit, plan.rounds(40, 8))
        bench.close()
    return _cpu(name, what, value, floor)


def measure_concurrency(plan: Plan) -> list[Figure]:
    each = 5
    with asyncio.Runner() as runner:
        bench = Bench(plan, runner, "bench", stream=False)
        value, floor = bench.compare(
            lambda ask: side_by_side(ask, each), each * IN_FLIGHT, units_per_second, plan.rounds(40, 8)
        )
        bench.close()
    goal = Goal(0.55, "ratio at least")
    what = f"{IN_FLIGHT} calls in flight, rate"
    return [Figure(name="concurrency", what=what, value=value, floor=floor, unit="calls/s", goal=goal)]


def _cpu(name: str, what: str, value: float, floor: float) -> Figure:
    return Figure(name=name, what=what, value=value * MICRO, floor=floor * MICRO, unit="µs", goal=Goal(1.6))
