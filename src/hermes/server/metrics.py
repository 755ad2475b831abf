"""Figures of the running server, in Prometheus' text format."""

import asyncio
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from hermes.errors import HermesError
from hermes.events import Answer

BUCKETS = (0.005, 0.025, 0.1, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 300.0)

PATH = "hermes.path"
"""Where a scope has the path as its endpoint declares it."""
_METHODS = ("GET", "HEAD", "POST", "DELETE")

Labels = tuple[tuple[str, str], ...]


class Metrics:
    """Counts what happens. Labels are few on purpose: paths as they are declared, never as they are asked."""

    def __init__(self) -> None:
        self._requests: Counter[Labels] = Counter()
        self._slower: dict[str, Counter[float]] = {}
        self._seconds: dict[str, float] = {}
        self._rejected: Counter[Labels] = Counter()
        self._tokens: Counter[Labels] = Counter()
        self._runs: Counter[Labels] = Counter()
        self._cost = 0.0

    def request(self, path: str, method: str, status: int, seconds: float) -> None:
        self._requests[("path", path), ("method", method), ("status", str(status))] += 1
        buckets = self._slower.setdefault(path, Counter())
        for limit in BUCKETS:
            buckets[limit] += seconds <= limit
        self._seconds[path] = self._seconds.get(path, 0.0) + seconds

    def rejected(self, code: str) -> None:
        self._rejected[(("reason", code),)] += 1

    def answered(self, answer: Answer) -> None:
        self._runs[(("outcome", "done" if answer.complete else "incomplete"),)] += 1
        used = answer.usage
        self._tokens[(("kind", "prompt"),)] += used.prompt_tokens
        self._tokens[(("kind", "completion"),)] += used.completion_tokens
        self._tokens[(("kind", "cached"),)] += used.cached_tokens
        self._cost += answer.cost or 0.0

    @contextmanager
    def counting(self) -> Iterator[None]:
        """Within this, a run that gives no answer is counted: it fails, or somebody stops it."""
        try:
            yield
        except HermesError:
            self._runs[(("outcome", "failed"),)] += 1
            raise
        except asyncio.CancelledError:
            self._runs[(("outcome", "stopped"),)] += 1
            raise

    def text(self, runs: int, inside: int) -> str:
        """All figures. `runs` are going on, `inside` requests are being answered."""
        return "\n".join(self._lines(runs, inside)) + "\n"

    def _lines(self, runs: int, inside: int) -> Iterator[str]:
        yield from _counter("hermes_requests_total", "Requests that were answered.", self._requests)
        yield from self._histogram()
        yield from _counter("hermes_rejected_total", "Requests that were not let in.", self._rejected)
        yield from _counter("hermes_runs_total", "Runs that have ended.", self._runs)
        yield from _counter("hermes_tokens_total", "Tokens of model calls.", self._tokens)
        yield from _single("hermes_cost_dollars_total", "counter", "US dollars of model calls.", self._cost)
        yield from _single("hermes_runs_in_flight", "gauge", "Runs that are going on.", runs)
        yield from _single("hermes_requests_in_flight", "gauge", "Requests that are being answered.", inside)

    def _histogram(self) -> Iterator[str]:
        name = "hermes_request_seconds"
        yield from _head(name, "histogram", "How long requests took.")
        for path, buckets in self._slower.items():
            count = sum(n for labels, n in self._requests.items() if labels[0][1] == path)
            for limit in BUCKETS:
                yield f'{name}_bucket{{path="{path}",le="{limit}"}} {buckets[limit]}'
            yield f'{name}_bucket{{path="{path}",le="+Inf"}} {count}'
            yield f'{name}_sum{{path="{path}"}} {self._seconds[path]}'
            yield f'{name}_count{{path="{path}"}} {count}'


def _head(name: str, kind: str, help: str) -> tuple[str, str]:
    return f"# HELP {name} {help}", f"# TYPE {name} {kind}"


def _counter(name: str, help: str, counts: Mapping[Labels, int]) -> Iterator[str]:
    yield from _head(name, "counter", help)
    for labels, count in counts.items():
        named = ",".join(f'{label}="{value}"' for label, value in labels)
        yield f"{name}{{{named}}} {count}"


def _single(name: str, kind: str, help: str, value: float) -> Iterator[str]:
    yield from _head(name, kind, help)
    yield f"{name} {value}"


class Measured:
    """An application whose requests are counted and timed, streams to their end."""

    def __init__(self, app: ASGIApp, metrics: Metrics, clock: Callable[[], float]) -> None:
        self._app = app
        self._metrics = metrics
        self._clock = clock

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        began, status = self._clock(), 0

        async def note(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        try:
            await self._app(scope, receive, note)
        finally:
            method = scope["method"] if scope["method"] in _METHODS else "other"
            self._metrics.request(scope.get(PATH, "other"), method, status, self._clock() - began)
