"""One change to a YAML text by ruamel's round trip, which keeps comments, order and quotes."""

import io
import re
from collections import Counter
from collections.abc import Mapping
from typing import Any

from ruamel.yaml.comments import CommentedMap, CommentedSeq
from ruamel.yaml.error import YAMLError
from ruamel.yaml.main import YAML
from ruamel.yaml.resolver import VersionedResolver
from ruamel.yaml.scalarstring import DoubleQuotedScalarString, PlainScalarString
from ruamel.yaml.tokens import CommentToken

from hermes.config import tree
from hermes.config.keys import Key
from hermes.config.yaml_events import LONGEST_LINE, resolve
from hermes.errors import ConfigError


class _AsWritten(VersionedResolver):
    """Takes every scalar for text, so that `0x10`, `1.50` or `~` are written as they were read."""

    versioned_resolver: Mapping[str, object] = {}


def changed(text: str, file: str, key: Key, value: str | float) -> str:
    """The text with the key set. Raises `ConfigError` unless that is all that reading it back finds changed.

    Our own reader goes first, so that a hostile file never reaches ruamel's loader.
    """
    expected = _outline(text, file) | {key.path: repr(value)}
    try:
        result = _round_trip(text, key, value)
        kept = _outline(result, file) == expected and not _comments(text) - _comments(result)
    except (YAMLError, ConfigError):
        kept = False
    if not kept:
        message = f"cannot change `{key.path}` in `{file}` without touching the rest"
        raise ConfigError(message, hint="edit the file by hand")
    return result


def _outline(text: str, file: str) -> dict[str, str]:
    """What each key says, in a form that tells `1` from `true` and finds `.nan` equal to itself."""
    outline: dict[str, str] = {}
    entries = list(tree.read(text, file).items())
    for name, node in entries:
        if isinstance(node.value, dict) and node.value:
            entries.extend((f"{name}.{key}", inner) for key, inner in node.value.items())
        else:
            outline[name] = repr(node.bare())
    return outline


def _comments(text: str) -> Counter[str]:
    """The comments, and what only looks like one: a change that loses either is refused."""
    return Counter(comment.rstrip() for comment in re.findall(r"(?:^|[ \t])(#.*)", text, re.MULTILINE))


def _round_trip(text: str, key: Key, value: str | float) -> str:
    yaml = YAML(typ="rt")
    yaml.Resolver = _AsWritten
    yaml.preserve_quotes = True
    yaml.width = LONGEST_LINE
    yaml.explicit_start = text.startswith("---")
    line_end = "\r\n" if "\r\n" in text else "\n"
    text = text.replace("\r\n", "\n")
    root = yaml.load(text)
    if not isinstance(root, CommentedMap):
        root = yaml.load(f"{text}\n{key.section}:\n".lstrip("\n"))
    mapping, offset = _indents(root)
    yaml.indent(mapping=mapping, sequence=offset + 2, offset=offset)
    *parents, name = key.path.split(".")
    section = root
    for parent in parents:
        if not isinstance(section.get(parent), CommentedMap):
            section[parent] = CommentedMap()
        section = section[parent]
    _set(section, name, _scalar(value))
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


def _scalar(value: str | float) -> Any:
    if isinstance(value, int | float):
        return PlainScalarString(str(value).lower())
    return value if resolve(value) == value else DoubleQuotedScalarString(value)


def _set(section: CommentedMap, name: str, value: str) -> None:
    """Sets an entry; a new one goes before the comments that follow the section, not after them."""
    last = next(reversed(section), None)
    is_new = name not in section
    section[name] = value
    comments: dict[Any, Any] = section.ca.items
    token = comments[last][2] if is_new and last in comments else None
    if token is not None:
        beside, _, after = token.value.partition("\n")
        token.value = f"{beside}\n"
        comments[last][2] = token if beside else None
        if after:
            comments[name] = [None, None, CommentToken(f"\n{after}", token.start_mark, None), None]
