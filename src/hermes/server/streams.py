"""A run as a stream of events to one reader, and what becomes of it when the reader leaves."""

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from typing import Any, Protocol, TypeVar

import msgspec
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from hermes.errors import HermesError, Interrupted
from hermes.events import Answer
from hermes.server.faults import FAILED, error_response
from hermes.server.runs import News, Run, Runs, leaving
from hermes.server.sources import Seen

T = TypeVar("T")

QUIET = b": nothing new\n\n"
"""A comment, by which a reader sees that we are still here, and we that the reader is."""


def event(value: object) -> bytes:
    """One event of a stream."""
    return b"data: " + msgspec.json.encode(value) + b"\n\n"


class Format(Protocol):
    """The shape in which a run is streamed."""

    def begin(self) -> bytes: ...

    def news(self, batch: list[News]) -> bytes: ...

    async def end(self, answer: Answer, seen: Seen) -> bytes: ...

    def failed(self, error: HermesError) -> bytes: ...


class EventStream(Response):
    """Streams a run. One that fails before its first word is an error with a status, not a stream."""

    media_type = "text/event-stream"

    def __init__(self, run: Run, format: Format, redact: Callable[[str], str]) -> None:
        super().__init__(headers={"cache-control": "no-store", "x-accel-buffering": "no"})
        del self.headers["content-length"]
        self._run = run
        self._format = format
        self._redact = redact

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async with stopped_when_left(self._run, receive):
            try:
                await self._run.begin()
            except HermesError as error:
                await error_response(error, self._redact)(scope, receive, send)
                return
            await send({"type": "http.response.start", "status": 200, "headers": self.raw_headers})
            await _send(send, self._format.begin())
            async for batch in self._run.batches():
                words = self._format.news(batch)
                if words:
                    await _send(send, words)
            await _send(send, await self._ending(scope), more=False)

    async def _ending(self, scope: Scope) -> bytes:
        try:
            return await self._format.end(await self._run.answer(), self._run.seen)
        except HermesError as error:
            scope[FAILED] = True
            return self._format.failed(error)


async def _send(send: Send, body: bytes, *, more: bool = True) -> None:
    await send({"type": "http.response.body", "body": body, "more_body": more})


@asynccontextmanager
async def stopped_when_left(run: Run, receive: Receive) -> AsyncIterator[None]:
    """Within this, the run ends when its caller leaves; and in any case with this."""
    watching = asyncio.ensure_future(_left(receive))
    watching.add_done_callback(lambda _watching: run.stop(Interrupted("the caller left")))
    try:
        yield
    finally:
        watching.cancel()
        run.stop(Interrupted("nobody waits for the answer any more"))
        await run.ended()


async def unless_left(receive: Receive, runs: Runs, work: Coroutine[Any, Any, T]) -> T:
    """What some work gives; it ends when its caller or the server leaves, and `Interrupted` is raised."""
    doing, watching = runs.work(work), asyncio.ensure_future(_left(receive))
    try:
        await asyncio.wait([doing, watching], return_when=asyncio.FIRST_COMPLETED)
        if not doing.done():
            raise Interrupted("the caller left")
        if doing.cancelled():
            raise leaving()
        return doing.result()
    finally:
        watching.cancel()
        doing.cancel()
        await asyncio.gather(doing, return_exceptions=True)


async def _left(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
