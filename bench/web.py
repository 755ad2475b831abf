"""What a search costs over the bare request that it is made of, and what one costs that was made lately."""

import asyncio
import itertools
import time
from statistics import median

from bench.measure import MICRO, MILLI, Figure, Goal, Plan, Work, cpu_per_unit, medians, sampler, settle
from hermes.app.services import Services
from hermes.config import load
from hermes.net.client import Client
from hermes.protocols import HttpRequest, Query
from hermes.tools.web.options import site_of

SEARCHES = 50
"""Searches that are measured together: one alone is too short."""

GOAL = Goal(1.3)
CACHED_GOAL = Goal(1.0, "value at most")


def measure_web(plan: Plan) -> list[Figure]:
    settle()
    with asyncio.Runner() as runner:
        services = _services(plan, cached=False)
        wire = Client()
        subjects = [
            sampler(runner, cpu_per_unit, searches(services), SEARCHES),
            sampler(runner, cpu_per_unit, bare_requests(wire, request_of(services)), SEARCHES),
        ]
        value, floor = medians(subjects, plan.rounds(25, 5))
        runner.run(services.close())
        runner.run(wire.close())
        cached = runner.run(_cached(plan))
    return [
        Figure(
            name="web.search",
            what="a search over its bare request, CPU",
            value=value * MICRO,
            floor=floor * MICRO,
            unit="µs",
            goal=GOAL,
        ),
        Figure(
            name="web.cached", what="a search made lately", value=cached * MILLI, unit="ms", goal=CACHED_GOAL
        ),
    ]


def _services(plan: Plan, *, cached: bool) -> Services:
    environ = {
        "HERMES_HOME": plan.folder,
        "HERMES_WEB_BACKEND": "exa",
        "HERMES_WEB_CACHE_ENABLED": str(cached).lower(),
        "EXA_API_KEY": "bench-key-0123456789",
        "EXA_BASE_URL": plan.server,
    }
    return Services(load(environ))


def searches(services: Services) -> Work:
    # Made before: to write a question is no part of a search.
    questions = itertools.cycle([f"question {number:06}" for number in range(SEARCHES * 20)])

    async def work() -> None:
        for _ in range(SEARCHES):
            await services.web.search(next(questions), 10)

    return work


def request_of(services: Services) -> HttpRequest:
    """The request that a search is sent as."""
    backend = services.web_parts.backends.load("exa")
    assert backend.search_request is not None
    return backend.search_request(site_of(backend, services), Query(text="question 000000", limit=10))


def bare_requests(wire: Client, request: HttpRequest) -> Work:
    async def work() -> None:
        for _ in range(SEARCHES):
            async with wire.open(request) as reply:
                await reply.read()

    return work


async def _cached(plan: Plan) -> float:
    services = _services(plan, cached=True)
    try:
        await services.web.search("the same question", 10)
        samples = []
        for _ in range(SEARCHES):
            started = time.perf_counter()
            await services.web.search("the same question", 10)
            samples.append(time.perf_counter() - started)
    finally:
        await services.close()
    return median(samples)
