"""Reading the web: the price of the guard's verdict, and how much of the extractor's speed is left."""

import asyncio
import contextlib
import multiprocessing
import os
import time
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor

from bench import pages
from bench.measure import MICRO, Figure, Goal, Plan, medians
from hermes.net import addresses, target
from hermes.net.client import Client
from hermes.net.fetch import Fetcher
from hermes.net.guard import Guard
from hermes.tools.web.backends.reader import PageReader
from hermes.tools.web.reader.html import read_html
from hermes.tools.web.reading.pool import ReadingPool

PAGES = 100
READERS = 2
SEEN = (
    ("https://example.com/a/long/path?with=a&query=string", "93.184.215.14"),
    ("http://[2606:2800:21f:cb07:6820:80da:af6b:8b2c]:8080/", "2606:2800:21f:cb07:6820:80da:af6b:8b2c"),
    ("https://münchen.example/straße", "64:ff9b::5db8:d70e"),
    ("http://1572394766/", "93.184.215.14"),
    ("https://docs.example.org/guide/start.html#top", "2a00:1450:4001:81b::200e"),
)
HERE = Guard(opened=(addresses.network("127.0.0.0/8"),))


def measure_guard(plan: Plan) -> list[Figure]:
    """From an address as text to a verdict on it and on what its name leads to, nothing remembered."""
    guard, parse, times = Guard(), target.parse.__wrapped__, 200

    def judge() -> float:
        started = time.process_time()
        for _ in range(times):
            for url, found in SEEN:
                guard.admit(parse(url))
                guard.admit_text(found, url)
        return (time.process_time() - started) / (times * len(SEEN)) * MICRO

    [verdict] = medians([judge], plan.rounds(40, 10))
    goal = Goal(50, "value at most")
    return [Figure(name="guard", what="a verdict on an address, CPU", value=verdict, unit="µs", goal=goal)]


def measure_pages(plan: Plan) -> list[Figure]:
    """Pages fetched and read at once, against the extractor alone on as many processes."""
    with (
        _both_cores(),
        pages.running() as server,
        asyncio.Runner() as runner,
        ProcessPoolExecutor(READERS, mp_context=multiprocessing.get_context("spawn")) as alone,
    ):
        reading = runner.run(_connected(server))
        value, floor = medians(
            [lambda: runner.run(reading.read()), lambda: _by_hand(alone)], plan.rounds(8, 3)
        )
        runner.run(reading.close())
    what = f"{PAGES} pages at once, rate"
    goal = Goal(0.8, "ratio at least")
    return [Figure(name="pages", what=what, value=value, floor=floor, unit="pages/s", goal=goal)]


class _Reading:
    def __init__(self, server: str) -> None:
        self._urls = [f"{server}/{number}" for number in range(PAGES)]
        self._fetcher = Fetcher(Client(guard=HERE, environ={}), per_host=PAGES)
        self._pool = ReadingPool(READERS)
        self._backend = PageReader(lambda: self._fetcher, lambda: self._pool)

    async def read(self) -> float:
        started = time.perf_counter()
        documents = await self._backend.extract(self._urls)
        spent = time.perf_counter() - started
        if any(document.error for document in documents):
            raise RuntimeError(f"a page was not read: {documents[0].error}")
        return PAGES / spent

    async def close(self) -> None:
        await self._pool.close()
        await self._fetcher.close()


async def _connected(server: str) -> _Reading:
    return _Reading(server)


def _by_hand(alone: ProcessPoolExecutor) -> float:
    started = time.perf_counter()
    shares = [range(first, PAGES, READERS) for first in range(READERS)]
    if sum(alone.map(_read_some, shares)) != PAGES:
        raise RuntimeError("a page was not read")
    return PAGES / (time.perf_counter() - started)


def _read_some(numbers: range) -> int:
    return sum(bool(read_html(pages.page(number), "http://127.0.0.1/").markdown) for number in numbers)


@contextlib.contextmanager
def _both_cores() -> Iterator[None]:
    """The other measures keep to one core; this one is about two."""
    if not hasattr(os, "sched_getaffinity"):
        yield
        return
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, range(os.cpu_count() or 1))
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)
