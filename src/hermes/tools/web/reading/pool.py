"""Processes that read documents, one document each at a time; closing the pool ends them."""

import asyncio
import errno
import os
import signal
import sys
from asyncio.subprocess import DEVNULL, PIPE, Process
from collections.abc import Sequence
from contextlib import suppress

import msgspec

from hermes.errors import DocumentError
from hermes.protocols import Fetched, Page
from hermes.tools.web.reading.jobs import LENGTH, Job, Outcome

TIME_LIMIT = 20.0

_PIECE = 256 * 1024
_MOST = 4
_WORKER = (sys.executable, "-P", "-m", "hermes.tools.web.reading.worker")


def cores() -> int:
    """How many processes can work at once on this machine."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


class ReadingPool:
    """A `DocumentReader` over processes that start when they are needed and are used again.

    `seconds` is how long one document may take by the clock, however busy the machine is.
    """

    def __init__(
        self, size: int | None = None, *, command: Sequence[str] = _WORKER, seconds: float = TIME_LIMIT
    ) -> None:
        self._size = size or min(cores(), _MOST)
        self._command = command
        self._seconds = seconds
        self._gate = asyncio.Semaphore(self._size)
        self._idle: list[_Worker] = []
        self._all: set[_Worker] = set()

    def prepare(self, count: int) -> None:
        """Start processes for so many documents, as far as there is room, while their bytes still arrive."""
        for _ in range(min(count, self._size) - len(self._all)):
            self._idle.append(self._new())

    async def read(self, fetched: Fetched) -> Page:
        """The readable content; raises `DocumentError` with the reason when there is none.

        Cancelling it ends the process that reads.
        """
        async with self._gate:
            worker = self._idle.pop() if self._idle else self._new()
            is_spent = True
            try:
                async with asyncio.timeout(self._seconds):
                    outcome = await worker.read(fetched)
                is_spent = outcome.spent
            except TimeoutError:
                raise DocumentError(f"took longer than {self._seconds:g} seconds to read") from None
            finally:
                if is_spent:
                    self._all.discard(worker)
                    await worker.end()
                else:
                    self._idle.append(worker)
        if outcome.page is None:
            raise DocumentError(outcome.error)
        return outcome.page

    async def close(self) -> None:
        """End every process, also those at work."""
        workers = list(self._all)
        self._all.clear()
        self._idle.clear()
        for worker in workers:
            await worker.end()

    def _new(self) -> "_Worker":
        worker = _Worker(self._command)
        self._all.add(worker)
        return worker


class _Worker:
    """One process, started at once and not waited for."""

    def __init__(self, command: Sequence[str]) -> None:
        self._started = asyncio.ensure_future(_start(command))

    async def read(self, fetched: Fetched) -> Outcome:
        """What the process makes of a document; one that breaks down leaves an error."""
        try:
            process = await asyncio.shield(self._started)
        except OSError as error:
            return Outcome(error=f"cannot be read, for no process starts: {error.strerror}", spent=True)
        try:
            await process.send(fetched)
            return await process.receive()
        except (OSError, asyncio.IncompleteReadError):
            return Outcome(error=_last_words(await process.wait()), spent=True)

    async def end(self) -> None:
        with suppress(OSError):
            await (await self._started).kill()


class _Process:
    """A running process and its two pipes."""

    def __init__(self, process: Process, source: asyncio.StreamReader, sink: asyncio.StreamWriter) -> None:
        self._process = process
        self._source = source
        self._sink = sink

    async def send(self, fetched: Fetched) -> None:
        """Pass a document on piece by piece, so that it is not held twice."""
        head = msgspec.msgpack.encode(Job(fetched.url, fetched.content_type, len(fetched.body)))
        self._sink.write(len(head).to_bytes(LENGTH, "big") + head)
        body = memoryview(fetched.body)
        for at in range(0, len(body), _PIECE):
            self._sink.write(body[at : at + _PIECE])
            await self._sink.drain()
        await self._sink.drain()

    async def receive(self) -> Outcome:
        size = int.from_bytes(await self._source.readexactly(LENGTH), "big")
        return msgspec.msgpack.decode(await self._source.readexactly(size), type=Outcome)

    async def wait(self) -> int:
        return await self._process.wait()

    async def kill(self) -> None:
        with suppress(ProcessLookupError):
            self._process.kill()
        await self._process.wait()
        # A pipe that nobody reads to its end is closed by nothing else.
        self._process._transport.close()  # type: ignore[attr-defined]  # noqa: SLF001
        await asyncio.sleep(0)


async def _start(command: Sequence[str]) -> _Process:
    # Only the module path: a process that reads hostile data is given no keys.
    environment = {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    if "SYSTEMROOT" in os.environ:  # Windows starts nothing without it
        environment["SYSTEMROOT"] = os.environ["SYSTEMROOT"]
    process = await asyncio.create_subprocess_exec(
        *command, stdin=PIPE, stdout=PIPE, stderr=DEVNULL, env=environment
    )
    if process.stdin is None or process.stdout is None:
        raise BrokenPipeError(errno.EPIPE, "it has no pipes")
    return _Process(process, process.stdout, process.stdin)


def _last_words(code: int) -> str:
    if code in (-getattr(signal, "SIGPROF", 0), -getattr(signal, "SIGXCPU", 0)):
        return "takes too long to read"
    return "cannot be read: the reader broke down on it"
