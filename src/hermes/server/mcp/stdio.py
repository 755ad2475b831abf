"""One client, on two descriptors: a message in each line, and nothing else."""

import os
from collections.abc import AsyncIterator
from contextlib import suppress
from functools import partial

import anyio
from anyio.abc import ObjectReceiveStream, ObjectSendStream
from mcp.shared.message import SessionMessage
from mcp_types import jsonrpc_message_adapter

from hermes.app import Runtime
from hermes.server.mcp.ask import Asking
from hermes.server.mcp.protocol import server
from hermes.server.runs import Runs
from hermes.server.sources import Seen
from hermes.threads import in_thread

LONGEST_LINE = 16 << 20
"""Bytes of one message; who sends more is not listened to any longer."""
_READ_AT_ONCE = 1 << 16


async def serve(runtime: Runtime, reading: int, writing: int) -> None:
    """Answer what comes in until it ends, or until nobody reads the answers."""
    heard, incoming = anyio.create_memory_object_stream[SessionMessage | Exception](0)
    outgoing, said = anyio.create_memory_object_stream[SessionMessage](0)
    runs = Runs()
    spoken = server(Asking(runtime, lambda ask: runs.start(ask, Seen())))
    async with heard, incoming, outgoing, said, anyio.create_task_group() as pumps:
        pumps.start_soon(_hear, reading, heard)
        pumps.start_soon(_say, writing, said, heard)
        await spoken.run(incoming, outgoing, spoken.create_initialization_options())
        pumps.cancel_scope.cancel()


async def _hear(reading: int, heard: ObjectSendStream[SessionMessage | Exception]) -> None:
    async with heard:
        with suppress(anyio.ClosedResourceError, anyio.BrokenResourceError):  # nobody reads the answers
            async for line in _lines(reading):
                await heard.send(_message(line))


async def _lines(reading: int) -> AsyncIterator[bytes]:
    # In threads that nobody waits for: a read of a terminal or a file cannot be taken back.
    buffer = bytearray()
    while data := await in_thread(partial(os.read, reading, _READ_AT_ONCE)):
        buffer += data
        if b"\n" in data:
            *lines, buffer = buffer.split(b"\n")
            for line in lines:
                yield bytes(line)
        if len(buffer) > LONGEST_LINE:
            return


def _message(line: bytes) -> SessionMessage | Exception:
    try:
        return SessionMessage(jsonrpc_message_adapter.validate_json(line, by_name=False))
    except ValueError as error:
        return error


async def _say(
    writing: int,
    said: ObjectReceiveStream[SessionMessage],
    heard: ObjectSendStream[SessionMessage | Exception],
) -> None:
    try:
        async with said:
            async for message in said:
                text = message.message.model_dump_json(by_alias=True, exclude_unset=True)
                await in_thread(partial(_write, writing, text.encode() + b"\n"))
    except BrokenPipeError:
        await heard.aclose()


def _write(writing: int, data: bytes) -> None:
    while data:
        data = data[os.write(writing, data) :]
