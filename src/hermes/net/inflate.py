"""Compressed bodies, a bounded piece at a time, so that no small read becomes a large allocation. Pure."""

import zlib

_PIECE = 256 * 1024
_ZLIB = zlib.MAX_WBITS
_GZIP = 16 + zlib.MAX_WBITS
_WINDOWS = {"gzip": _GZIP, "x-gzip": _GZIP, "deflate": _ZLIB}

ENCODINGS = "gzip, deflate"
"""What we tell servers we can read."""


class Damaged(Exception):
    """The body is not what its `Content-Encoding` says, or ends too early."""


class Inflater:
    """Undoes one `Content-Encoding`: push what arrives, pull until nothing comes, finish at the end."""

    __slots__ = ("_engine", "_input", "_started", "_window")

    def __init__(self, encoding: str) -> None:
        if encoding not in _WINDOWS:
            raise Damaged
        self._window = _WINDOWS[encoding]
        self._engine = zlib.decompressobj(self._window)
        self._input = b""
        self._started = False

    def push(self, chunk: bytes) -> None:
        self._input = chunk
        if not self._started and chunk:
            self._start(chunk[0])

    def pull(self) -> bytes:
        """The next decoded bytes; empty when more input is needed."""
        piece = b""
        while self._input and not piece:
            if self._engine.eof and not self._next_member():
                break
            try:
                piece = self._engine.decompress(self._input, _PIECE)
            except zlib.error:
                raise Damaged from None
            self._input = self._engine.unconsumed_tail or self._engine.unused_data
        return piece

    def finish(self) -> None:
        """Raise `Damaged` when the body was cut."""
        if self._started and not self._engine.eof:
            raise Damaged

    def _start(self, first: int) -> None:
        """`deflate` is zlib by the standard and bare for some servers; the first byte tells which."""
        self._started = True
        if self._window == _ZLIB and first & 0x0F != zlib.DEFLATED:
            self._engine = zlib.decompressobj(-zlib.MAX_WBITS)

    def _next_member(self) -> bool:
        """Gzip may be several members in a row; anything else after the end is padding."""
        if self._window == _GZIP and self._input.startswith(b"\x1f"):
            self._engine = zlib.decompressobj(_GZIP)
            return True
        self._input = b""
        return False
