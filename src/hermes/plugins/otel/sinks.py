"""Where spans and measurements go. A sink takes a span when it is over; a turn's is opened before."""

import os
import secrets
import threading
from collections.abc import Mapping, Sequence
from typing import Any, Protocol

import msgspec

Attributes = Mapping[str, Any]


class Opened(Protocol):
    """A span that has begun, or one that has ended and is referred to."""

    def end(self, attributes: Attributes, error: str, at: float) -> None: ...


class Sink(Protocol):
    def open(self, name: str, attributes: Attributes, at: float) -> Opened:
        """Begin a span that others will be within."""
        ...

    def span(
        self,
        name: str,
        attributes: Attributes,
        *,
        began: float,
        ended: float,
        within: Opened | None = None,
        after: Opened | None = None,
        error: str = "",
        notes: Sequence[tuple[str, Attributes]] = (),
    ) -> Opened:
        """A span that is over. `after` is what it follows from; `notes` are events in it."""
        ...

    def measure(self, metric: str, value: float, attributes: Attributes, at: float) -> None: ...


class FileSink:
    """One line of JSON for every span and measurement, in a file that only its owner can read."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._lock = threading.Lock()

    def open(self, name: str, attributes: Attributes, at: float) -> "FileSpan":
        return FileSpan(self, name, secrets.token_hex(16), "", attributes, at)

    def span(
        self,
        name: str,
        attributes: Attributes,
        *,
        began: float,
        ended: float,
        within: Any = None,
        after: Any = None,
        error: str = "",
        notes: Sequence[tuple[str, Attributes]] = (),
    ) -> "FileSpan":
        trace, parent = (within.trace_id, within.span_id) if within else (secrets.token_hex(16), "")
        made = FileSpan(self, name, trace, parent, attributes, began)
        made.links = [{"trace_id": after.trace_id, "span_id": after.span_id}] if after else []
        made.events = [{"name": title, "attributes": told} for title, told in notes]
        made.end({}, error, ended)
        return made

    def measure(self, metric: str, value: float, attributes: Attributes, at: float) -> None:
        self.write(
            {"type": "metric", "name": metric, "value": value, "attributes": attributes, "time": _nanos(at)}
        )

    def write(self, row: Mapping[str, Any]) -> None:
        line = msgspec.json.encode(row) + b"\n"
        with self._lock:
            file = os.open(self._path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
            try:
                os.write(file, line)
            finally:
                os.close(file)


class FileSpan:
    """A span of a `FileSink`."""

    def __init__(
        self, sink: FileSink, name: str, trace_id: str, parent_id: str, attributes: Attributes, began: float
    ) -> None:
        self.trace_id = trace_id
        self.span_id = secrets.token_hex(8)
        self.links: list[Attributes] = []
        self.events: list[Attributes] = []
        self._sink = sink
        self._row = {"type": "span", "name": name, "parent_span_id": parent_id, "start": _nanos(began)}
        self._attributes = attributes

    def end(self, attributes: Attributes, error: str, at: float) -> None:
        self._sink.write(
            {
                **self._row,
                "trace_id": self.trace_id,
                "span_id": self.span_id,
                "end": _nanos(at),
                "status": "error" if error else "unset",
                "attributes": {**self._attributes, **attributes},
                "events": self.events,
                "links": self.links,
            }
        )


def _nanos(seconds: float) -> int:
    return int(seconds * 1e9)
