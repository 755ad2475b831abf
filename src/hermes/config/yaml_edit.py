"""One change to a YAML text by ruamel's round trip, which keeps comments, order and quotes."""

import io
import re
from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any

from ruamel.yaml.comments import CommentedMap, CommentedSeq
from ruamel.yaml.error import CommentMark, YAMLError
from ruamel.yaml.main import YAML
from ruamel.yaml.resolver import VersionedResolver
from ruamel.yaml.scalarstring import DoubleQuotedScalarString, PlainScalarString
from ruamel.yaml.tokens import CommentToken

from hermes.config import tree
from hermes.config.yaml_events import LONGEST_LINE, resolve
from hermes.errors import ConfigError

Section = dict[str, Any]
Change = Callable[[Section], Section]


class _AsWritten(VersionedResolver):
    """Takes every scalar for text, so that `0x10`, `1.50` or `~` are written as they were read."""

    versioned_resolver: Mapping[str, object] = {}


def changed(text: str, file: str, section: str, change: Change) -> str:
    """The text with one section changed. Raises `ConfigError` unless reading it back finds just that.

    `change` is given what the section says and returns what it shall say.
    Our own reader goes first, so that a hostile file never reaches ruamel's loader.
    """
    nodes = tree.read(text, file)
    old = {name.partition(".")[2]: node.bare() for name, node in nodes.items() if _is_in(section, name)}
    new = change(old)
    others = {name: repr(node.bare()) for name, node in nodes.items() if not _is_in(section, name)}
    expected = others | {f"{section}.{name}": repr(value) for name, value in new.items()}
    try:
        result = _round_trip(text, section, old, new)
        lost = _comments(text) - _comments(result)
        kept = _outline(result, file) == expected and not lost - _beside_removed(text, nodes, section, new)
    except (YAMLError, ConfigError):
        kept = False
    if not kept:
        message = f"cannot change `{section}` in `{file}` without touching the rest"
        raise ConfigError(message, hint="edit the file by hand")
    return result


def _is_in(section: str, name: str) -> bool:
    return name.startswith(f"{section}.")


def _outline(text: str, file: str) -> dict[str, str]:
    """What each key says, in a form that tells `1` from `true` and finds `.nan` equal to itself."""
    return {name: repr(node.bare()) for name, node in tree.read(text, file).items()}


def _comments(text: str) -> Counter[str]:
    """The comments, and what only looks like one: a change that loses either is refused."""
    return Counter(comment.rstrip() for comment in re.findall(r"(?:^|[ \t])(#.*)", text, re.MULTILINE))


def _beside_removed(text: str, nodes: Mapping[str, tree.Node], section: str, new: Section) -> Counter[str]:
    """The comments in the lines of list items that go: they go with them."""
    lines = text.replace("\r\n", "\n").split("\n")
    found: Counter[str] = Counter()
    for name, node in nodes.items():
        if _is_in(section, name) and isinstance(node.value, list):
            kept = new.get(name.partition(".")[2])
            for item in node.value:
                if not isinstance(kept, list) or item.bare() not in kept:
                    found += _comments(lines[item.line - 1])
    return found


def _round_trip(text: str, section: str, old: Section, new: Section) -> str:
    yaml = YAML(typ="rt")
    yaml.Resolver = _AsWritten
    yaml.preserve_quotes = True
    yaml.width = LONGEST_LINE
    yaml.explicit_start = text.startswith("---")
    line_end = "\r\n" if "\r\n" in text else "\n"
    text = text.replace("\r\n", "\n")
    root = yaml.load(text)
    if not isinstance(root, CommentedMap):
        root = yaml.load(f"{text}\n{section}:\n".lstrip("\n"))
    mapping, offset = _indents(root)
    yaml.indent(mapping=mapping, sequence=offset + 2, offset=offset)
    if not isinstance(root.get(section), CommentedMap):
        root[section] = CommentedMap()
    after = _take_tail(root[section])
    _change_mapping(root[section], old, new)
    _give_tail(root[section], after)
    out = io.StringIO()
    yaml.dump(root, out)
    return out.getvalue().replace("\n", line_end)


def _indents(root: CommentedMap) -> tuple[int, int]:
    """How far the file sets sections and the dashes of lists in; 2 and 0 when it has none."""
    parents = [root, *(section for section in root.values() if isinstance(section, CommentedMap))]
    blocks = [
        (type(block), block.lc.col - parent.lc.col)
        for parent in parents
        for block in parent.values()
        if isinstance(block, CommentedMap | CommentedSeq) and block and not block.fa.flow_style()
    ]
    mapping = next((indent for kind, indent in blocks if kind is CommentedMap), 2)
    return mapping, next((indent for kind, indent in blocks if kind is CommentedSeq), 0)


def _change_mapping(mapping: CommentedMap, old: Section, new: Section) -> None:
    for name in [name for name in old if name not in new]:
        del mapping[name]
    for name, value in new.items():
        before, there = old.get(name), mapping.get(name)
        if name in old and repr(before) == repr(value):
            continue
        if isinstance(there, CommentedMap) and isinstance(before, dict) and isinstance(value, dict):
            _change_mapping(there, before, value)
        elif isinstance(there, CommentedSeq) and isinstance(before, list) and isinstance(value, list):
            _change_sequence(there, before, value)
        else:
            mapping[name] = _made(value)


def _change_sequence(sequence: CommentedSeq, old: list[Any], new: list[Any]) -> None:
    """Take out what is gone and put in what is new; what stays keeps its place and its comments."""
    left = list(old)
    for index in reversed(range(len(left))):
        if left[index] not in new:
            _remove(sequence, index)
            del left[index]
    for index, item in enumerate(new):
        if index >= len(left) or left[index] != item:
            if item in left:  # it stands further down, with comments that must not get lost
                sequence.insert(index, sequence.pop(left.index(item)))
                left.remove(item)
            else:
                sequence.insert(index, _made(item))
            left.insert(index, item)


def _remove(sequence: CommentedSeq, index: int) -> None:
    """Take an item out with the comment beside it; comments on lines of their own go to the item before."""
    comment = sequence.ca.items.get(index)
    after = comment[0].value.partition("\n")[2] if comment and comment[0] else ""
    if after and index:
        _append_comment(sequence, index - 1, 0, after)
    del sequence[index]


def _made(value: Any) -> Any:
    """A value as ruamel writes it in our style: blocks, and quotes where text would mean something else."""
    match value:
        case dict():
            return CommentedMap((name, _made(item)) for name, item in value.items())
        case list():
            return CommentedSeq(map(_made, value))
        case bool() | int() | float():
            return PlainScalarString(str(value).lower())
        case _:
            return value if resolve(value) == value else DoubleQuotedScalarString(value)


def _take_tail(node: CommentedMap) -> str:
    """The comments that follow a section, taken off its last entry, where ruamel keeps them."""
    place = _last(node)
    comment = place and place[0].ca.items.get(place[1])
    token = comment[_slot(place[0])] if place and comment else None
    if place is None or token is None:
        return ""
    beside, _, after = token.value.partition("\n")
    token.value = f"{beside}\n"
    if not beside:
        del place[0].ca.items[place[1]]
    return str(after)


def _give_tail(node: CommentedMap, after: str) -> None:
    place = _last(node)
    if after and place is not None:
        _append_comment(*place, _slot(place[0]), after)


def _append_comment(node: Any, key: Any, slot: int, after: str) -> None:
    comments = node.ca.items.setdefault(key, [None, None, None, None])
    if comments[slot] is None:
        comments[slot] = CommentToken(f"\n{after}", CommentMark(0), None)
    else:
        comments[slot].value += after


def _last(node: Any) -> tuple[Any, Any] | None:
    """The last entry of a block, however deep: the block that holds it and its key there."""
    if not isinstance(node, CommentedMap | CommentedSeq) or not node:
        return None
    key = next(reversed(node)) if isinstance(node, CommentedMap) else len(node) - 1
    child = node[key]
    inner = None if getattr(child, "fa", None) is None or child.fa.flow_style() else _last(child)
    return inner or (node, key)


def _slot(node: Any) -> int:
    """Where ruamel keeps the comment behind an entry."""
    return 2 if isinstance(node, CommentedMap) else 0
