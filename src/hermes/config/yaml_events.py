"""The YAML reader: ruamel's event parser, and a builder that keeps lines and enforces limits.

Nothing is ever constructed from a tag, aliases are refused, and depth and size are bounded, so no
file can cost more than a moment. Messages never quote the file: it may hold a key.
"""

from collections.abc import Iterator
from typing import Any, NoReturn

from ruamel.yaml import events
from ruamel.yaml.error import MarkedYAMLError
from ruamel.yaml.main import YAML
from ruamel.yaml.nodes import ScalarNode
from ruamel.yaml.reader import ReaderError

from hermes.config.tree import Node, Scalar
from hermes.errors import ConfigError

DEEPEST = 32
MOST_VALUES = 5_000
LONGEST_LINE = 16_384

_YAML_1_2 = YAML(typ="safe", pure=True)
_READERS = {
    f"tag:yaml.org,2002:{kind}": getattr(_YAML_1_2.constructor, f"construct_yaml_{kind}")
    for kind in ("null", "bool", "int", "float")
}


def read(text: str, path: str) -> Node:
    """The tree of a YAML text; raises `ConfigError` with file and line."""
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


def resolve(text: str) -> Scalar:
    """What an unquoted scalar means in YAML 1.2, whatever the file's own directive says."""
    tag = str(_YAML_1_2.resolver.resolve(ScalarNode, text, (True, False)))
    if tag not in _READERS:
        return text
    try:
        value: Scalar = _READERS[tag](ScalarNode(tag, text))
    except ValueError:
        # Python takes no number of thousands of digits.
        return text
    return value


def _refuse_long_lines(text: str, path: str) -> None:
    # The scanner takes quadratic time over some long lines: a megabyte of `!` is half a minute.
    for number, line in enumerate(text.split("\n"), 1):
        if len(line) > LONGEST_LINE:
            raise ConfigError(f"{path}:{number}: the line is longer than {LONGEST_LINE} characters")


class _Builder:
    def __init__(self, text: str, path: str) -> None:
        self._events: Iterator[Any] = YAML(typ="safe", pure=True).parse(text)
        self._path = path
        self._count = 0

    def document(self) -> Node:
        next(self._events)
        if isinstance(next(self._events), events.StreamEndEvent):
            return Node(None, 1)
        root = self._node(next(self._events), 0)
        next(self._events)
        after = next(self._events)
        if not isinstance(after, events.StreamEndEvent):
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
        if isinstance(event, events.AliasEvent):
            self._fail(event, "aliases (`*name`) are not supported; write the value again")
        if event.ctag:
            self._fail(event, "tags (`!name`) are not supported; write the plain value")
        line = event.start_mark.line + 1
        if isinstance(event, events.MappingStartEvent):
            return Node(self._mapping(depth + 1), line)
        if isinstance(event, events.SequenceStartEvent):
            return Node(self._sequence(depth + 1), line)
        return Node(event.value if event.style else resolve(event.value), line)

    def _mapping(self, depth: int) -> dict[str, Node]:
        entries: dict[str, Node] = {}
        while not isinstance(event := next(self._events), events.MappingEndEvent):
            line = self._node(event, depth).line
            if not isinstance(event, events.ScalarEvent):
                self._fail(event, "a key must be plain text")
            if event.value in entries:
                self._fail(event, f"`{event.value[:40]}` is already set in line {entries[event.value].line}")
            entries[event.value] = Node(self._node(next(self._events), depth).value, line)
        return entries

    def _sequence(self, depth: int) -> list[Node]:
        items: list[Node] = []
        while not isinstance(event := next(self._events), events.SequenceEndEvent):
            items.append(self._node(event, depth))
        return items
