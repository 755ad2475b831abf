"""The full YAML reader: ruamel's event parser, and a builder that keeps places and enforces limits.

Nothing is ever constructed from a tag, aliases are refused, and depth and size are bounded, so no
file can cost more than a moment. Messages never quote the file: it may hold a key.
"""

from collections.abc import Iterator
from typing import Any, NoReturn

from ruamel.yaml.error import MarkedYAMLError
from ruamel.yaml.events import (
    AliasEvent,
    MappingEndEvent,
    MappingStartEvent,
    ScalarEvent,
    SequenceEndEvent,
    SequenceStartEvent,
    StreamEndEvent,
)
from ruamel.yaml.main import YAML
from ruamel.yaml.reader import ReaderError

from hermes.config.tree import Node, Span, resolve
from hermes.errors import ConfigError

DEEPEST = 32
MOST_VALUES = 5_000
LONGEST_LINE = 16_384


def read(text: str, path: str) -> Node:
    """The tree of a YAML text with the place of every value; raises `ConfigError` with file and line."""
    _refuse_long_lines(text, path)
    try:
        return _Builder(text, path).document()
    except MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line = mark.line + 1 if mark else 1
        problem = (error.problem or error.context or "not YAML").partition("\n")[0]
        hint = "indent with spaces, never with tabs" if "\\t" in problem else None
        raise ConfigError(f"{path}:{line}: {problem}", hint=hint) from None
    except ReaderError as error:
        line = text.count("\n", 0, error.position) + 1
        raise ConfigError(f"{path}:{line}: a control character cannot stand in YAML") from None


def _refuse_long_lines(text: str, path: str) -> None:
    # The scanner takes quadratic time over some long lines: a megabyte of `!` is half a minute.
    for number, line in enumerate(text.split("\n"), 1):
        if len(line) > LONGEST_LINE:
            raise ConfigError(f"{path}:{number}: the line is longer than {LONGEST_LINE} characters")


class _Builder:
    def __init__(self, text: str, path: str) -> None:
        self._text = text
        self._events: Iterator[Any] = YAML(typ="safe", pure=True).parse(text)
        self._path = path
        self._count = 0

    def document(self) -> Node:
        next(self._events)
        if isinstance(next(self._events), StreamEndEvent):
            return Node(None, 1)
        root = self._node(next(self._events), 0)
        next(self._events)
        after = next(self._events)
        if not isinstance(after, StreamEndEvent):
            self._fail(after, "a second document begins; settings are one document")
        return root

    def _fail(self, event: Any, message: str) -> NoReturn:
        raise ConfigError(f"{self._path}:{event.start_mark.line + 1}: {message}")

    def _node(self, event: Any, depth: int) -> Node:
        self._count += 1
        if self._count > MOST_VALUES:
            self._fail(event, f"more than {MOST_VALUES} values; settings are not data")
        if depth > DEEPEST:
            self._fail(event, f"nested deeper than {DEEPEST} levels")
        if isinstance(event, AliasEvent):
            self._fail(event, "aliases (`*name`) are not supported; write the value again")
        if event.ctag:
            self._fail(event, "tags (`!name`) are not supported; write the plain value")
        if isinstance(event, MappingStartEvent):
            return self._mapping(event, depth)
        if isinstance(event, SequenceStartEvent):
            return self._sequence(event, depth)
        return _scalar(event)

    def _mapping(self, start: Any, depth: int) -> Node:
        entries: dict[str, Node] = {}
        last = None
        while not isinstance(event := next(self._events), MappingEndEvent):
            key = self._node(event, depth + 1)
            if not isinstance(event, ScalarEvent):
                self._fail(event, "a key must be plain text")
            if event.value in entries:
                first = entries[event.value].line
                self._fail(event, f"`{_cut(event.value)}` is already set in line {first}")
            last = self._value(next(self._events), event.end_mark.index, depth)
            entries[event.value] = Node(last.value, key.line, last.span)
        return _collection(entries, start, event, last)

    def _value(self, event: Any, key_end: int, depth: int) -> Node:
        """A key's value; one that is not there gets its place after the colon, not at the next token."""
        node = self._node(event, depth + 1)
        if node.span and node.span.start == node.span.end:
            place = self._text.find(":", key_end) + 1
            return Node(node.value, node.line, Span(place, place, 0, ""))
        return node

    def _sequence(self, start: Any, depth: int) -> Node:
        items: list[Node] = []
        while not isinstance(event := next(self._events), SequenceEndEvent):
            items.append(self._node(event, depth + 1))
        return _collection(items, start, event, items[-1] if items else None)


def _collection(value: Any, start: Any, closing: Any, last: Node | None) -> Node:
    """Ends a flow collection at its bracket, a block one with its last value, before any comment."""
    mark = start.start_mark
    if start.flow_style or not (last and last.span):
        span = Span(mark.index, closing.end_mark.index, mark.column, "flow")
    else:
        span = Span(mark.index, last.span.end, mark.column, "block")
    return Node(value, mark.line + 1, span)


def _scalar(event: Any) -> Node:
    style = event.style or ""
    value = event.value if style else resolve(event.value)
    start = event.start_mark
    return Node(value, start.line + 1, Span(start.index, event.end_mark.index, start.column, style))


def _cut(key: str) -> str:
    return key if len(key) <= 40 else f"{key[:40]}…"
