"""What config.yaml says, with the line of every key. The YAML library is imported when there is text."""

from collections.abc import Iterator

import msgspec

from hermes import discover
from hermes.config.settings import OPEN_SECTIONS, SECTIONS
from hermes.errors import ConfigError

Scalar = str | int | float | bool | None


class Node(msgspec.Struct, frozen=True):
    """A value; `line` is that of its key, or its own in a list."""

    value: "Scalar | list[Node] | dict[str, Node]"
    line: int

    def bare(self) -> object:
        """The values without their places."""
        match self.value:
            case dict():
                return {key: node.bare() for key, node in self.value.items()}
            case list():
                return [node.bare() for node in self.value]
            case _:
                return self.value


def read(text: str, path: str) -> dict[str, Node]:
    """Each dotted key of a settings file with its value; an unknown section comes as a whole.

    A key of the root that has a dot in its own name comes in quotes: it is not the key it looks like.
    Raises `ConfigError` with file and line.
    """
    if not text.strip():
        return {}
    root: Node = discover.module("hermes.config.yaml_events").read(text, path)
    return dict(_entries(root, path))


def _entries(root: Node, path: str) -> Iterator[tuple[str, Node]]:
    for section, node in _mapping(root, path, "the file").items():
        if section not in SECTIONS and section not in OPEN_SECTIONS:
            yield f'"{section}"' if "." in section else section, node
            continue
        for name, value in _mapping(node, path, f"`{section}`").items():
            yield f"{section}.{name}", value


def _mapping(node: Node, path: str, what: str) -> dict[str, Node]:
    if node.value is None:
        return {}
    if not isinstance(node.value, dict):
        found = "a list" if isinstance(node.value, list) else "a single value"
        raise ConfigError(f"{path}:{node.line}: {what} must be a mapping (`key: value` lines), not {found}")
    return node.value
