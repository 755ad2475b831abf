"""A reply in the making: its body within the caps and the deadlines, whole or as events."""

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence

import aiohttp
import msgspec

from hermes.errors import Disconnected, NetError, ProtocolBroken, TooLarge
from hermes.net import aws_events, faults
from hermes.net.aws_events import AwsEventDecoder
from hermes.net.inflate import Damaged, Inflater
from hermes.net.sse import SseDecoder
from hermes.net.target import Target
from hermes.protocols import HttpRequest

CREDENTIALS = frozenset(
    {"authorization", "proxy-authorization", "x-api-key", "api-key", "x-amz-security-token", "cookie"}
)
_QUOTED = 200
_LOOK = 0.5


class Caps(msgspec.Struct, frozen=True):
    """The most bytes that are taken from a server, and the most redirects followed for it.

    `raw` and `decoded` bound a body that is read whole; above `small` it may not be more than `ratio`
    times what was sent. An event stream keeps nothing, so that one event is bounded, and the stream by
    the deadline for the whole call.
    """

    raw: int = 10 * 1024 * 1024
    decoded: int = 20 * 1024 * 1024
    headers: int = 64 * 1024
    event: int = 8 * 1024 * 1024
    error_body: int = 64 * 1024
    redirects: int = 5
    small: int = 1024 * 1024
    ratio: int = 100


class Reply:
    """An `HttpReply` over aiohttp. Its watch is one timer that moves itself, not one per read."""

    __slots__ = (
        "_caps", "_content", "_inflater", "_loop", "_origin", "_request", "_response", "_timer", "_total_at",
        "_waiting_since", "_where", "_whole", "headers", "status",
    )  # fmt: skip

    def __init__(
        self,
        response: aiohttp.ClientResponse,
        request: HttpRequest,
        where: Target,
        caps: Caps,
        total_at: float,
    ) -> None:
        self.status = response.status
        self._where = where
        self.headers: Mapping[str, str] = response.headers
        self._response = response
        self._content = response.content
        self._request = request
        self._origin = where.origin
        self._caps = caps
        self._total_at = total_at
        self._loop = asyncio.get_running_loop()
        self._inflater: Inflater | None = None
        self._waiting_since: float | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._whole: bytes | None = None

    async def load(self) -> None:
        """Take the whole body now; `read` gives it later."""
        self._whole = await self.read()

    @property
    def url(self) -> str:
        """Where the reply came from, after any redirects."""
        return str(self._where.url)

    async def read(self) -> bytes:
        """The whole body, within the caps."""
        if self._whole is not None:
            return self._whole
        chunks: list[bytes] = []
        reached = await self._collect(chunks)
        if reached:
            raise TooLarge(f"the answer of `{self._origin}` is larger than {reached} bytes")
        return chunks[0] if len(chunks) == 1 else b"".join(chunks)

    async def read_part(self) -> tuple[bytes, str]:
        """The body up to the caps and to where it breaks, and a note when that is not all of it."""
        chunks: list[bytes] = []
        note = ""
        try:
            reached = await self._collect(chunks)
            note = f"it is larger than {reached} bytes; the rest was left out" if reached else ""
        except (Disconnected, ProtocolBroken):
            if not chunks:
                raise
            note = "it broke off; this is what had arrived"
        return b"".join(chunks), note

    async def _collect(self, chunks: list[bytes]) -> int:
        """Read into `chunks`; returns the cap that was reached, or 0 at the end of the body."""
        size = 0
        caps, content = self._caps, self._content
        self._start()
        while chunk := await self._chunk():
            chunks.append(chunk)
            size += len(chunk)
            raw = content.total_raw_bytes
            if size > caps.small and size > raw * caps.ratio:
                self.close()
                raise TooLarge(
                    f"the answer of `{self._origin}` unpacks to more than {caps.ratio} times its size"
                )
            if size > caps.decoded or raw > caps.raw:
                self.close()
                return caps.decoded if size > caps.decoded else caps.raw
        return 0

    async def events(self) -> AsyncIterator[Sequence[bytes]]:
        """The data of each event, one batch per network read that finished any."""
        media_type = self.headers.get("content-type", "").partition(";")[0].strip().lower()
        decoder: SseDecoder | AwsEventDecoder
        if media_type == "text/event-stream":
            decoder = SseDecoder(self._caps.event)
        elif media_type == aws_events.MEDIA_TYPE:
            decoder = AwsEventDecoder()
        else:
            raise await self._not_events(media_type)
        feed = decoder.feed
        self._start()
        while chunk := await self._chunk():
            if batch := feed(chunk):
                yield batch
        if isinstance(decoder, AwsEventDecoder):
            decoder.finish()

    async def read_start(self, limit: int) -> bytes:
        """The first bytes of a body that explains a failure: cut at the limit, and where it breaks."""
        start = b""
        try:
            self._start()
            while len(start) < limit and (chunk := await self._chunk()):
                start += chunk
        except NetError:
            return start[:limit]
        return start[:limit]

    def fail(self, error: NetError) -> None:
        """Wake whoever reads with this error, and cut the connection."""
        self._content.set_exception(error)
        self.close()

    def close(self) -> None:
        """Let the connection go; when the body was not taken to its end, it is cut at once."""
        if self._timer is not None:
            self._timer.cancel()
        connection = self._response.connection
        if connection is not None and connection.transport is not None:
            connection.transport.abort()
        self._response.close()

    async def _chunk(self) -> bytes:
        """The next bytes of the body, decoded; empty at its end."""
        inflater = self._inflater
        if inflater is None:
            return await self._receive()
        try:
            while not (piece := inflater.pull()):
                received = await self._receive()
                if not received:
                    inflater.finish()
                    return b""
                inflater.push(received)
        except Damaged:
            raise self._damaged() from None
        return piece

    async def _receive(self) -> bytes:
        """What the next network read brings."""
        self._waiting_since = self._loop.time()
        try:
            return await self._content.readany()
        except aiohttp.ClientError as error:
            raise faults.in_body(error, self._origin) from None
        finally:
            self._waiting_since = None

    def _start(self) -> None:
        encoding = self.headers.get("content-encoding", "identity").lower()
        if encoding != "identity":
            try:
                self._inflater = Inflater(encoding)
            except Damaged:
                raise self._damaged() from None
        if self._timer is None and not self._content.is_eof():
            self._watch()

    def _damaged(self) -> ProtocolBroken:
        return ProtocolBroken(f"`{self._origin}` sent a compressed body that cannot be read")

    def _watch(self) -> None:
        """Look again soon, until a deadline has passed or the connection is gone; then fail the reader."""
        now, deadlines = self._loop.time(), self._request.deadlines
        idle_at = (now if self._waiting_since is None else self._waiting_since) + deadlines.idle
        if now >= self._total_at:
            self.fail(faults.deadline_passed("total", deadlines.total, self._origin))
        elif now >= idle_at:
            self.fail(faults.deadline_passed("idle", deadlines.idle, self._origin))
        elif self._waits_in_vain():
            self.fail(faults.broken_body(self._origin))
        else:
            self._timer = self._loop.call_at(min(idle_at, self._total_at, now + _LOOK), self._watch)

    def _waits_in_vain(self) -> bool:
        """Whether the connection is gone and aiohttp has not told the reader, as after a broken chunk."""
        connection = self._response.connection
        gone = connection is not None and connection.closed and self._waiting_since is not None
        return gone and not self._content.is_eof() and self._content.exception() is None

    async def _not_events(self, media_type: str) -> ProtocolBroken:
        start = await self.read_start(4 * _QUOTED)
        kind = f"`{media_type}`" if media_type else "no content type"
        quote = _quote(start, self._request.headers)
        said = f": {quote}" if quote else " and no text"
        return ProtocolBroken(f"`{self._origin}` answered with {kind} instead of an event stream{said}")


def _quote(body: bytes, sent: Mapping[str, str]) -> str:
    """The start of a text in one printable line, without any credential that was sent."""
    text = body.decode(errors="replace")
    for name, value in sent.items():
        if name.lower() in CREDENTIALS:
            text = text.replace(value.rpartition(" ")[2] or value, "***")
    line = " ".join("".join(mark if mark.isprintable() else " " for mark in text).split())
    return line[:_QUOTED]
