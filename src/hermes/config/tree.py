"""What a YAML file says, with the line of every value; and a quick reader for plain files.

Most settings files are sections of `key: value` lines. Those are read here; anything else (flow
collections, escapes, block text, errors) goes to the full reader, whose import costs more than the
rest of start-up's reading. Both give the same tree; a test holds them to it.
"""

import msgspec

from hermes import discover

Scalar = str | int | float | bool | None


class Span(msgspec.Struct, frozen=True):
    """Where a value stands in the text: needed to change it, not to read it."""

    start: int
    end: int
    column: int
    style: str
    """`'`, `"`, `|`, `>` or nothing for a scalar; `flow` or `block` for a collection."""


class Node(msgspec.Struct, frozen=True):
    """A value; `line` is that of its key, or its own in a list."""

    value: "Scalar | list[Node] | dict[str, Node]"
    line: int
    span: Span | None = None


def read(text: str, path: str) -> Node:
    """The tree of a YAML text; raises `ConfigError` with file and line."""
    plain = read_plain(text)
    if plain is not None:
        return plain
    full: Node = discover.module("hermes.config.yaml_events").read(text, path)
    return full


_SPELLED: dict[str, bool | None] = {
    **dict.fromkeys(("", "~", "null", "Null", "NULL"), None),
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
}
_INFINITE = {f"{sign}.{word}" for sign in ("", "+", "-") for word in ("inf", "Inf", "INF")}
_NOT_A_NUMBER = {".nan", ".NaN", ".NAN"}
_NUMERIC = frozenset("0123456789+-.eE")
_LONGEST_NUMBER = 400


def resolve(text: str) -> Scalar:
    """What an unquoted scalar means in YAML 1.2."""
    if text in _SPELLED:
        return _SPELLED[text]
    if text in _INFINITE or text in _NOT_A_NUMBER:
        return float(text.replace(".", ""))
    if text.startswith(("0x", "0o")):
        return _based(text)
    if not _NUMERIC.issuperset(text) or len(text) > _LONGEST_NUMBER:
        return text
    for number in (int, float):
        try:
            return number(text)
        except ValueError:
            continue
    return text


def _based(text: str) -> int | str:
    try:
        return int(text[2:], 16 if text[1] == "x" else 8) if text.isascii() and text.isalnum() else text
    except ValueError:
        return text


_SAFE_FIRST = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_/.")
_SAFE = _SAFE_FIRST | frozenset("-+:@ ")


class _NotPlain(Exception):
    """Beyond the quick reader."""


def read_plain(text: str) -> Node | None:
    """The tree of a plain file, or None when the file is not that plain."""
    if not text.isascii() or not text.replace("\n", "").isprintable():
        return None
    reader = _PlainReader()
    try:
        for number, line in enumerate(text.split("\n"), 1):
            reader.take(line, number)
    except _NotPlain:
        return None
    return Node(reader.root or None, 1)


class _PlainReader:
    """Sections at the margin, keys at one indent below, lists of scalars below those."""

    def __init__(self) -> None:
        self.root: dict[str, Node] = {}
        self._section_name = ""
        self._section: dict[str, Node] | None = None
        self._indent = 0
        self._open_key = ""
        self._items: list[Node] = []
        self._item_indent = 0

    def take(self, line: str, number: int) -> None:
        content = line.lstrip(" ")
        if not content or content.startswith("#"):
            return
        indent = len(line) - len(content)
        if content.startswith("- "):
            self._item(content[2:], indent, number)
            return
        key, colon, rest = content.partition(":")
        if not colon or not key.isidentifier() or (rest and rest[0] != " "):
            raise _NotPlain
        if indent:
            self._entry(key, rest, indent, number)
        else:
            self._at_margin(key, rest, number)

    def _at_margin(self, key: str, rest: str, number: int) -> None:
        _add(self.root, key, _plain_value(rest, number))
        self._section_name, self._open_key = key, ""
        self._section = {} if _is_empty(rest) else None

    def _entry(self, key: str, rest: str, indent: int, number: int) -> None:
        if self._section is None or (self._section and indent != self._indent):
            raise _NotPlain
        if not self._section:
            self._indent = indent
            line = self.root[self._section_name].line
            self.root[self._section_name] = Node(self._section, line)
        _add(self._section, key, _plain_value(rest, number))
        self._open_key, self._items = key if _is_empty(rest) else "", []

    def _item(self, rest: str, indent: int, number: int) -> None:
        if not self._section or not self._open_key or indent < self._indent:
            raise _NotPlain
        if not self._items:
            self._item_indent = indent
            line = self._section[self._open_key].line
            self._section[self._open_key] = Node(self._items, line)
        if indent != self._item_indent:
            raise _NotPlain
        self._items.append(Node(_plain_scalar(rest), number))


def _add(mapping: dict[str, Node], key: str, node: Node) -> None:
    if key in mapping:
        raise _NotPlain
    mapping[key] = node


def _is_empty(rest: str) -> bool:
    return not rest.strip(" ") or rest.lstrip(" ").startswith("#")


def _plain_value(rest: str, number: int) -> Node:
    """What follows a key: a scalar, or a list of unquoted ones in brackets."""
    text = rest.partition(" #")[0].strip(" ")
    if not text.startswith("["):
        return Node(_plain_scalar(rest), number)
    if not text.endswith("]"):
        raise _NotPlain
    items = [item.strip(" ") for item in text[1:-1].split(",")] if text[1:-1].strip(" ") else []
    if any(not item or item[0] in "'\"" for item in items):
        raise _NotPlain
    return Node([Node(_plain_scalar(item), number) for item in items], number)


def _plain_scalar(rest: str) -> Scalar:
    if _is_empty(rest):
        return None
    text = rest.strip(" ")
    if text[0] in "'\"":
        return _plain_quoted(text)
    text = text.partition(" #")[0].rstrip(" ")
    if text[0] not in _SAFE_FIRST or not _SAFE.issuperset(text) or text[-1] == ":" or ": " in text:
        raise _NotPlain
    return resolve(text)


def _plain_quoted(text: str) -> str:
    inside, closed, after = text[1:].partition(text[0])
    if not closed or "\\" in inside or not inside.isprintable() or (after and not after.startswith(" ")):
        raise _NotPlain
    if not _is_empty(after):
        raise _NotPlain
    return inside
