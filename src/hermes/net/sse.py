"""Event streams as the WHATWG describes them: bytes in, the data of finished events out. Pure.

Servers of models nearly always send whole `data: …` events with plain line feeds, so that case is
decided with a few searches over the network read; everything else takes the longer way to the same
result.
"""

from hermes.errors import TooLarge

_BOM = b"\xef\xbb\xbf"


class SseDecoder:
    """Feed it network reads of any cut. One event, from blank line to blank line, has a cap."""

    __slots__ = ("_after_cr", "_cap", "_pending", "_pending_size", "_started")

    def __init__(self, cap: int = 8 * 1024 * 1024) -> None:
        self._cap = cap
        self._pending: list[bytes] = []
        self._pending_size = 0
        self._started = False
        self._after_cr = False

    def feed(self, chunk: bytes) -> list[bytes]:
        """The data of each event this chunk completes; an event that never ends is never seen."""
        if not self._started:
            chunk = self._without_bom(chunk)
        if self._after_cr or b"\r" in chunk:
            chunk = self._with_line_feeds(chunk)
        if self._pending:
            if not self._ends_event(chunk):
                self._hold(chunk)
                return []
            chunk = b"".join((*self._pending, chunk))
            self._pending.clear()
            self._pending_size = 0
        end = chunk.rfind(b"\n\n")
        if end < 0:
            self._hold(chunk)
            return []
        if end + 2 < len(chunk):
            self._hold(chunk[end + 2 :])
        return self._payloads(chunk[:end])

    def _without_bom(self, chunk: bytes) -> bytes:
        """The first bytes of the stream, once there are enough of them to know a byte order mark."""
        start = b"".join((*self._pending, chunk))
        self._pending.clear()
        if len(start) < len(_BOM) and _BOM.startswith(start):
            self._pending.append(start)
            return b""
        self._started = True
        return start.removeprefix(_BOM)

    def _with_line_feeds(self, chunk: bytes) -> bytes:
        """CRLF and CR become LF; a CR that ends one chunk takes the LF that starts the next."""
        if self._after_cr and chunk:
            chunk = chunk.removeprefix(b"\n")
            self._after_cr = False
        if chunk.endswith(b"\r"):
            self._after_cr = True
        return chunk.replace(b"\r\n", b"\n").replace(b"\r", b"\n")

    def _ends_event(self, chunk: bytes) -> bool:
        return b"\n\n" in chunk or (chunk.startswith(b"\n") and self._pending[-1].endswith(b"\n"))

    def _hold(self, chunk: bytes) -> None:
        if not chunk:
            return
        self._pending.append(chunk)
        self._pending_size += len(chunk)
        if self._pending_size > self._cap + 1:  # the line feed that ends its last line is not the event's
            self._refuse()

    def _payloads(self, text: bytes) -> list[bytes]:
        if len(text) > self._cap and any(len(block) > self._cap for block in text.split(b"\n\n")):
            self._refuse()
        if text.startswith(b"data: "):
            plain = text[6:].split(b"\n\ndata: ")
            if text.count(b"\n") == 2 * (len(plain) - 1):
                return plain
        found = map(_payload, text.split(b"\n\n"))
        return [payload for payload in found if payload is not None]

    def _refuse(self) -> None:
        raise TooLarge(f"one event of the stream is larger than {self._cap} bytes")


def _payload(block: bytes) -> bytes | None:
    """One event's data: None when it has no data field."""
    head, found, data = block.partition(b"\ndata: ")
    if found and head.startswith(b"event: ") and b"\n" not in head and b"\n" not in data:
        return data
    values: list[bytes] = []
    for line in block.split(b"\n"):
        if line.startswith(b"data:"):
            values.append(line[6:] if line.startswith(b"data: ") else line[5:])
        elif line == b"data":
            values.append(b"")
    return b"\n".join(values) if values else None
