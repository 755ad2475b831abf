"""A server on loopback that does, byte for byte, what a test says.

    async with ScriptedServer(http_reply(200, b"{}", content_type="application/json")) as server:
        ...                         # server.url, server.requests

The script is bytes (sent to every request, then the connection is closed), a list of them (one per
request, the last one repeats), or a handler: `async def handler(exchange)`, called for each request.
A handler that returns without closing leaves the connection open for the next request. With
`reads=False` it is called as soon as a client connects, before a byte is read.
"""

import asyncio
import socket
import ssl
import struct
from collections.abc import Awaitable, Callable, Sequence
from typing import NamedTuple

_STEPS_TO_BE_SERVED = 5
"""Steps of the loop from a connection that was accepted to the task that serves it and can be cancelled."""


class Received(NamedTuple):
    """One request as it came; header names are lower case."""

    method: str
    path: str
    headers: dict[str, str]
    body: bytes


class Exchange:
    """One request and the connection it came on."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, request: Received | None):
        self.reader = reader
        self.writer = writer
        self.request = request

    async def send(self, *chunks: bytes) -> None:
        """Write the chunks, each on its own."""
        for chunk in chunks:
            self.writer.write(chunk)
            await self.writer.drain()

    def close(self) -> None:
        self.writer.close()

    def reset(self) -> None:
        """End the connection with a TCP reset instead of a goodbye."""
        peer = self.writer.get_extra_info("socket")
        peer.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.writer.transport.abort()

    async def client_left(self) -> None:
        """Return when the client has closed its side."""
        try:
            while await self.reader.read(65536):
                pass
        except OSError:
            return


Handler = Callable[[Exchange], Awaitable[None]]


class ScriptedServer:
    def __init__(
        self,
        script: bytes | Sequence[bytes] | Handler,
        *,
        reads: bool = True,
        tls: ssl.SSLContext | None = None,
    ) -> None:
        self.requests: list[Received] = []
        self.connections = 0
        self._handler = script if callable(script) else self._replay
        self._replies = [script] if isinstance(script, bytes) else () if callable(script) else list(script)
        self._reads = reads
        self._tls = tls
        self._tasks: set[asyncio.Task[None]] = set()
        self._writers: list[asyncio.StreamWriter] = []

    @property
    def url(self) -> str:
        return f"{'https' if self._tls else 'http'}://127.0.0.1:{self.port}"

    async def __aenter__(self) -> "ScriptedServer":
        self._server = await asyncio.start_server(
            self._connected, "127.0.0.1", 0, ssl=self._tls, backlog=1024
        )
        self.port: int = self._server.sockets[0].getsockname()[1]
        return self

    async def __aexit__(self, *_: object) -> None:
        self._server.close()
        for _ in range(_STEPS_TO_BE_SERVED):
            await asyncio.sleep(0)
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        for writer in self._writers:
            # Its client does not read, and it would stay open. Over TLS a closed one has no size.
            if self._tls or writer.transport.get_write_buffer_size():
                writer.transport.abort()
        for _ in range(_STEPS_TO_BE_SERVED):
            await asyncio.sleep(0)
        await self._server.wait_closed()

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        self._writers.append(writer)
        self.connections += 1
        try:
            await self._serve(reader, writer)
        except (OSError, asyncio.IncompleteReadError):
            pass  # the client left: tests look at what it did, not at this end
        except asyncio.CancelledError:
            writer.transport.abort()  # the test is over
        finally:
            writer.close()
            self._tasks.discard(task)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if not self._reads:
            await self._handler(Exchange(reader, writer, None))
            return
        while not writer.is_closing():
            request = await _receive(reader)
            self.requests.append(request)
            await self._handler(Exchange(reader, writer, request))

    async def _replay(self, exchange: Exchange) -> None:
        await exchange.send(self._replies[min(len(self.requests), len(self._replies)) - 1])
        exchange.close()


def http_reply(status: int = 200, body: bytes = b"", **headers: object) -> bytes:
    """A whole reply that ends its connection; `retry_after=3` becomes the header `retry-after: 3`."""
    fields = {"content-length": len(body), "connection": "close"}
    fields |= {name.replace("_", "-"): value for name, value in headers.items()}
    lines = "".join(f"{name}: {value}\r\n" for name, value in fields.items())
    return f"HTTP/1.1 {status} Scripted\r\n{lines}\r\n".encode() + body


async def _receive(reader: asyncio.StreamReader) -> Received:
    head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
    first, *lines = head.rstrip("\r\n").split("\r\n")
    method, path, _ = first.split(" ")
    headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
    if headers.get("transfer-encoding") == "chunked":
        return Received(method, path, headers, await _receive_chunked(reader))
    return Received(method, path, headers, await reader.readexactly(int(headers.get("content-length", "0"))))


async def _receive_chunked(reader: asyncio.StreamReader) -> bytes:
    body = b""
    while size := int(await reader.readline(), 16):
        body += (await reader.readexactly(size + 2))[:-2]
    await reader.readline()
    return body
