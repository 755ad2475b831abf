"""A server that is a program of this machine: started in a session of its own, its end certain."""

import asyncio
import os
import signal
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from typing import IO

import anyio
from anyio.abc import ObjectReceiveStream, ObjectSendStream
from mcp.shared.message import SessionMessage
from mcp_types import jsonrpc_message_adapter

LONGEST_LINE = 16 << 20
"""Bytes of one message; a server that sends more is taken as broken."""
PATIENCE = 1.0
"""Seconds that a program has to end when nobody talks to it any more, and again when it is told to."""

Incoming = ObjectReceiveStream[SessionMessage | Exception]
Outgoing = ObjectSendStream[SessionMessage]


@asynccontextmanager
async def started(
    command: str,
    args: Sequence[str],
    environment: Mapping[str, str],
    errors: IO[bytes],
    when_silent: Callable[[], None],
) -> AsyncIterator[tuple[Incoming, Outgoing]]:
    """The two streams of a program. Whatever it started is gone when this is left.

    `when_silent` is told when it says no more. Raises `OSError` or `ValueError` when it cannot be started.
    """
    reading, writing = os.pipe()
    with os.fdopen(reading, "rb", buffering=0) as source:
        try:
            process = await _start([command, *args], environment, writing, errors)
        finally:
            os.close(writing)
        heard, incoming = anyio.create_memory_object_stream[SessionMessage | Exception](0)
        outgoing, said = anyio.create_memory_object_stream[SessionMessage](0)
        async with heard, incoming, outgoing, said, anyio.create_task_group() as pumps:
            try:
                pumps.start_soon(_hear, source, heard, when_silent)
                pumps.start_soon(_say, process, said, heard)
                yield incoming, outgoing
            finally:
                with anyio.CancelScope(shield=True):
                    await _end(process)
                pumps.cancel_scope.cancel()


async def _start(
    words: Sequence[str], environment: Mapping[str, str], writing: int, errors: IO[bytes]
) -> asyncio.subprocess.Process:
    # A pipe of our own: asyncio's would make `wait` last until every child of the program has closed it.
    return await asyncio.create_subprocess_exec(
        *words,
        stdin=asyncio.subprocess.PIPE,
        stdout=writing,
        stderr=errors,
        env=environment,
        start_new_session=True,
    )


async def _hear(
    source: IO[bytes], heard: ObjectSendStream[SessionMessage | Exception], when_silent: Callable[[], None]
) -> None:
    """Pass on what it says. When it falls silent, so does the stream: who waits for an answer is told."""
    reader = asyncio.StreamReader(limit=LONGEST_LINE)
    pipe, _ = await asyncio.get_running_loop().connect_read_pipe(
        lambda: asyncio.StreamReaderProtocol(reader), source
    )
    try:
        async with heard:
            with suppress(ValueError, anyio.BrokenResourceError):  # a line too long, or nobody listens
                while line := await reader.readline():
                    await heard.send(_message(line))
    finally:
        when_silent()
        pipe.close()


def _message(line: bytes) -> SessionMessage | Exception:
    try:
        return SessionMessage(jsonrpc_message_adapter.validate_json(line, by_name=False))
    except ValueError as error:
        return error


async def _say(
    process: asyncio.subprocess.Process,
    said: ObjectReceiveStream[SessionMessage],
    heard: ObjectSendStream[SessionMessage | Exception],
) -> None:
    into = process.stdin
    try:
        async with said:
            async for message in said:
                if into is not None:
                    text = message.message.model_dump_json(by_alias=True, exclude_unset=True)
                    into.write(text.encode() + b"\n")
                    await into.drain()
    except (ConnectionError, RuntimeError):
        await heard.aclose()


async def _end(process: asyncio.subprocess.Process) -> None:
    """Let it end by itself, then tell it to, then end it with all that it started."""
    # Not `close`: it would wait until what was said is read, and a program that hangs reads nothing.
    if process.stdin is not None and not process.stdin.is_closing():
        process.stdin.transport.abort()
    try:
        if not await _ended(process):
            _signal(process, signal.SIGTERM)
            await _ended(process)
    finally:
        _signal(process, signal.SIGKILL)
    await process.wait()


async def _ended(process: asyncio.subprocess.Process) -> bool:
    try:
        async with asyncio.timeout(PATIENCE):
            await process.wait()
    except TimeoutError:
        return False
    return True


def _signal(process: asyncio.subprocess.Process, number: signal.Signals) -> None:
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, number)
