"""Amazon's binary event stream: bytes in, one JSON payload per message out, checksums kept. Pure.

A message is a prelude (its length, the length of its headers, a CRC of both), headers, a payload and
a CRC of all before it. The name of the event stands in a header; it becomes the one key of the payload
that is handed on: `{"contentBlockDelta": {...}}`, and `{"throttlingException": {...}}` for a failure.
"""

import struct
import zlib

import msgspec

from hermes.errors import Disconnected, NetError, ProtocolBroken, TooLarge

MEDIA_TYPE = "application/vnd.amazon.eventstream"
LARGEST = 16 * 1024 * 1024

_PRELUDE = struct.Struct(">III")
_CRC = struct.Struct(">I")
_TEXT = 7
_SIZES = {0: 0, 1: 0, 2: 1, 3: 2, 4: 4, 5: 8, 8: 8, 9: 16}
"""How many bytes a header's value takes, by its type; types 6 and 7 carry their own length."""


class AwsEventDecoder:
    """Feed it network reads of any cut, then `finish` it. What is broken ends the stream.

    Messages before a broken one are handed out first: the fault is raised by the next call.
    """

    __slots__ = ("_buffer", "_fault", "_largest", "_needed")

    def __init__(self, largest: int = LARGEST) -> None:
        self._largest = largest
        self._buffer = bytearray()
        self._needed = _PRELUDE.size
        self._fault: NetError | None = None

    def feed(self, chunk: bytes) -> list[bytes]:
        """The payload of each message this chunk completes."""
        if self._fault is not None:
            raise self._fault
        self._buffer += chunk
        payloads: list[bytes] = []
        try:
            while len(self._buffer) >= self._needed:
                message = self._next_message()
                if message is not None:
                    payloads.append(_payload(message))
        except NetError as fault:
            if not payloads:
                raise
            self._fault = fault
        return payloads

    def finish(self) -> None:
        """The stream has ended; raises when it ended inside a message or after a broken one."""
        if self._fault is not None:
            raise self._fault
        if self._buffer:
            raise Disconnected("the event stream ended in the middle of a message")

    def _next_message(self) -> bytes | None:
        """The first message, its checksums kept; None when only its length is known by now."""
        if self._needed == _PRELUDE.size:
            self._needed = self._length()
            return None
        message = bytes(self._buffer[: self._needed])
        del self._buffer[: self._needed]
        self._needed = _PRELUDE.size
        if zlib.crc32(message[:-4]) != _CRC.unpack(message[-4:])[0]:
            raise ProtocolBroken("a message of the event stream is damaged: its checksum is wrong")
        return message

    def _length(self) -> int:
        length, headers, crc = _PRELUDE.unpack_from(self._buffer)
        if zlib.crc32(self._buffer[:8]) != crc:
            raise ProtocolBroken("the start of a message of the event stream is damaged")
        if length > self._largest:
            raise TooLarge(f"one message of the event stream is larger than {self._largest} bytes")
        if length < headers + _PRELUDE.size + _CRC.size:
            raise ProtocolBroken("a message of the event stream has lengths that cannot be true")
        return int(length)


def _payload(message: bytes) -> bytes:
    """The message as one JSON object: what happened is the key, the payload is the value."""
    end = _PRELUDE.size + int.from_bytes(message[4:8], "big")
    headers = _headers(message[_PRELUDE.size : end])
    body = message[end:-4] or b"{}"
    kind = headers.get(":message-type", "event")
    if kind == "error":
        body = msgspec.json.encode({"message": headers.get(":error-message", "")})
        name = headers.get(":error-code", "").removesuffix("Exception") + "Exception"
    else:
        name = headers.get(":exception-type" if kind == "exception" else ":event-type", "")
    return b"{%b:%b}" % (msgspec.json.encode(name), body)


def _headers(block: bytes) -> dict[str, str]:
    """The headers that hold text; the others are passed over."""
    found: dict[str, str] = {}
    at = 0
    try:
        while at < len(block):
            name_end = at + 1 + block[at]
            name = block[at + 1 : name_end].decode()
            kind = block[name_end]
            start = name_end + 1
            if kind in _SIZES:
                at = start + _SIZES[kind]
                continue
            at = start + 2 + int.from_bytes(block[start : start + 2], "big")
            if kind == _TEXT:
                found[name] = block[start + 2 : at].decode()
    except (IndexError, UnicodeDecodeError):
        at = -1
    if at != len(block):
        raise ProtocolBroken("a message of the event stream has headers that cannot be read")
    return found
