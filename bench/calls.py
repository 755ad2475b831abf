"""What the way to a model adds to aiohttp: per call, per streamed chunk, and with many calls in flight.

Both sides send the same bytes to the same server from the same event loop. The floor is aiohttp as
lean as it goes (no cookies, no pool limit, no decompression) with its own default deadline.
"""

import asyncio
import json
from collections.abc import Callable

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
from bench.wires import CHAT, VENDORS, Wire
from hermes import __version__
from hermes.agent.send import ModelClient
from hermes.events import Event
from hermes.messages import Message
from hermes.net.client import Client
from hermes.protocols import Request

IN_FLIGHT = 100
USER_AGENT = f"hermes/{__version__}"
GOAL, VENDOR_GOAL = Goal(1.6), Goal(1.8)


class Post(msgspec.Struct, frozen=True):
    """A request ready to be sent by hand."""

    url: URL
    headers: dict[str, str]
    body: bytes


def new_request(model: str, *, stream: bool) -> Request:
    """A request nobody has seen before, as every real one is."""
    message = Message(role="user", content="Where is the answer, and who says so?")
    return Request(model=model, messages=(message,), stream=stream)


def new_client(wire: Wire, server: str, model: str) -> tuple[ModelClient, Client]:
    """Hermes' own way to a model, and the sockets under it, to be closed."""
    client = Client(environ={}, user_agent=USER_AGENT)
    return ModelClient(wire.endpoint(server, model), wire.transport(), client), client


async def new_session() -> aiohttp.ClientSession:
    """aiohttp by hand, with the headers that Hermes sends; it must be made inside its loop."""
    return aiohttp.ClientSession(
        connector=aiohttp.TCPConnector(limit=0),
        cookie_jar=aiohttp.DummyCookieJar(),
        headers={"User-Agent": USER_AGENT, "Accept-Encoding": "gzip, deflate"},
        auto_decompress=False,
    )


def prepare(wire: Wire, server: str, request: Request) -> Post:
    transport = wire.transport()
    http = transport.encode(
        transport.build_kwargs(request, wire.provider), wire.endpoint(server, request.model)
    )
    return Post(url=URL(http.url), headers=dict(http.headers), body=http.body)


async def call_by_hand(wire: Wire, session: aiohttp.ClientSession, post: Post) -> str:
    async with session.post(post.url, data=post.body, headers=post.headers) as response:
        return wire.text_of(json.loads(await response.read()))


async def stream_by_hand(wire: Wire, session: aiohttp.ClientSession, post: Post) -> str:
    texts: list[str] = []
    read, rest = wire.read, b""
    async with session.post(post.url, data=post.body, headers=post.headers) as response:
        async for piece in response.content.iter_any():
            rest = read(rest + piece, texts)
    return "".join(texts)


def drop(_event: Event) -> None:
    pass


class Bench:
    """Hermes and the floor over one server, on one loop."""

    def __init__(self, plan: Plan, runner: asyncio.Runner, model: str, wire: Wire, *, stream: bool) -> None:
        self._runner = runner
        self._model, self._stream, self._wire = model, stream, wire
        self._post = prepare(wire, plan.server, new_request(model, stream=stream))
        self._model_client, self._client = new_client(wire, plan.server, model)
        self._session = runner.run(new_session())

    async def ask_hermes(self) -> str | None:
        return (await self._model_client.send(new_request(self._model, stream=self._stream), drop)).content

    async def ask_by_hand(self) -> str:
        ask = stream_by_hand if self._stream else call_by_hand
        return await ask(self._wire, self._session, self._post)

    def compare(
        self, load: Callable[[Work], Work], units: int, meter: Meter, rounds: int
    ) -> tuple[float, float]:
        """Hermes and the floor under the same load, by the same meter."""
        settle()
        asks = (self.ask_hermes, self.ask_by_hand)
        value, floor = medians([sampler(self._runner, meter, load(ask), units) for ask in asks], rounds)
        return value, floor

    def close(self) -> None:
        self._runner.run(self._client.close())
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
    return [
        _measure_calls(plan, "call", CHAT, GOAL),
        *(_measure_calls(plan, f"call.{wire.name}", wire, VENDOR_GOAL) for wire in VENDORS),
    ]


def _measure_calls(plan: Plan, name: str, wire: Wire, goal: Goal) -> Figure:
    calls = 200
    with asyncio.Runner() as runner:
        bench = Bench(plan, runner, "bench", wire, stream=False)
        value, floor = bench.compare(
            lambda ask: one_by_one(ask, calls), calls, cpu_per_unit, plan.rounds(20, 6)
        )
        bench.close()
    return _cpu(name, "a model call, CPU", (value, floor), goal)


def measure_chunk(plan: Plan) -> list[Figure]:
    in_bursts, alone = "bench-burst-2000", "bench-paced-500"
    return [
        _measure_stream(plan, "chunk", in_bursts, CHAT, GOAL),
        _measure_stream(plan, "chunk.single", alone, CHAT, GOAL),
        *(_measure_stream(plan, f"chunk.{wire.name}", in_bursts, wire, VENDOR_GOAL) for wire in VENDORS),
    ]


def _measure_stream(plan: Plan, name: str, model: str, wire: Wire, goal: Goal) -> Figure:
    chunks = int(model.rpartition("-")[2])
    with asyncio.Runner() as runner:
        bench = Bench(plan, runner, model, wire, stream=True)
        value, floor = bench.compare(lambda ask: ask, chunks, cpu_per_unit, plan.rounds(40, 8))
        bench.close()
    what = "a chunk in its own write, CPU" if "paced" in model else "a chunk in bursts, CPU"
    return _cpu(name, what, (value, floor), goal)


def measure_concurrency(plan: Plan) -> list[Figure]:
    each = 5
    with asyncio.Runner() as runner:
        bench = Bench(plan, runner, "bench", CHAT, stream=False)
        value, floor = bench.compare(
            lambda ask: side_by_side(ask, each), each * IN_FLIGHT, units_per_second, plan.rounds(40, 8)
        )
        bench.close()
    goal = Goal(0.55, "ratio at least")
    what = f"{IN_FLIGHT} calls in flight, rate"
    return [Figure(name="concurrency", what=what, value=value, floor=floor, unit="calls/s", goal=goal)]


def _cpu(name: str, what: str, seconds: tuple[float, float], goal: Goal) -> Figure:
    value, floor = (part * MICRO for part in seconds)
    return Figure(name=name, what=what, value=value, floor=floor, unit="µs", goal=goal)
