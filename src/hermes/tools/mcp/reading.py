"""What a server offers, made harmless: the words of a stranger that a model would read as ours."""

import hashlib
from collections.abc import Mapping, Sequence
from typing import Any

import jsonschema_rs
import msgspec

from hermes.tools.mcp.listing import ListedTool, Listing

MOST_TOOLS = 128
LONGEST_NAME = 128
LONGEST_DESCRIPTION = 4_000
LARGEST_SCHEMA = 20_000
"""Bytes of JSON."""

_SELECTORS = range(0xE0100, 0xE01F0)
"""Marks that can be printed, that nobody sees, and that spell a text all the same."""
_AGREED = ("name", "title", "description", "inputSchema", "outputSchema", "annotations")
"""What of a tool a person agrees to. The rest, such as `_meta`, may be another each time."""
_WORDS = ("description", "title", "$comment")
"""The keys of a schema that only a reader needs; all others are a contract."""


def read(offered: Sequence[Mapping[str, Any]]) -> Listing:
    """The tools of a server, from what `tools/list` gave."""
    tools: dict[str, ListedTool] = {}
    left_out: list[str] = []
    for raw in offered:
        name = str(raw.get("name"))
        problem = _problem(name, raw.get("inputSchema"), tools)
        if problem is None:
            tools[name] = _tool(name, raw)
        else:
            left_out.append(f"`{plain(name, 60)}` {problem}")
    return Listing(_digest(offered), tuple(tools.values()), tuple(left_out))


def plain(text: str, longest: int) -> str:
    """Text of letters that a person can see, in one paragraph and cut."""
    seen = "".join(letter if _is_seen(letter) else " " if letter.isspace() else "" for letter in text)
    line = " ".join(seen.split())
    return line if len(line) <= longest else f"{line[: longest - 1]}…"


def _is_seen(letter: str) -> bool:
    return letter.isprintable() and ord(letter) not in _SELECTORS


def _digest(offered: Sequence[Mapping[str, Any]]) -> str:
    told = ({key: raw[key] for key in _AGREED if key in raw} for raw in offered)
    ordered = sorted(told, key=lambda raw: str(raw.get("name")))
    return hashlib.sha256(msgspec.json.encode(ordered, order="deterministic")).hexdigest()


def _problem(name: str, schema: object, before: Mapping[str, ListedTool]) -> str | None:
    if not name or len(name) > LONGEST_NAME or not all(map(_is_seen, name)):
        return "has a name that cannot be shown"
    if name in before:
        return "is there twice"
    if len(before) >= MOST_TOOLS:
        return f"is one too many: {MOST_TOOLS} tools of a server are offered"
    if not isinstance(schema, dict) or len(msgspec.json.encode(schema)) > LARGEST_SCHEMA:
        return f"has no schema of at most {LARGEST_SCHEMA:,} bytes"
    if not jsonschema_rs.meta.is_valid(schema):
        return "has a schema that is not JSON Schema"
    return "has letters in its schema that nobody can see" if _hides(schema) else None


def _hides(value: object) -> bool:
    """Whether a part of a schema that cannot be rewritten holds what nobody can see."""
    match value:
        case str():
            return not all(_is_seen(letter) or letter.isspace() for letter in value)
        case Mapping():
            kept = (inner for key, inner in value.items() if not _is_for_readers(key, inner))
            return any(map(_hides, value)) or any(map(_hides, kept))
        case list():
            return any(map(_hides, value))
        case _:
            return False


def _is_for_readers(key: object, value: object) -> bool:
    return key in _WORDS and isinstance(value, str)


def _tool(name: str, raw: Mapping[str, Any]) -> ListedTool:
    annotations = raw.get("annotations")
    reads = isinstance(annotations, Mapping) and annotations.get("readOnlyHint") is True
    return ListedTool(
        name=name,
        description=plain(str(raw.get("description") or ""), LONGEST_DESCRIPTION),
        parameters=_parameters(raw["inputSchema"]),
        effect="reads" if reads else "changes",
    )


def _parameters(schema: Mapping[str, Any]) -> dict[str, Any]:
    """The schema of the arguments as our own are written: an object that says what it takes."""
    clean = _readable(schema)
    is_open = {} if "properties" in clean else {"additionalProperties": True}
    return {"properties": {}, "required": [], **is_open, **clean, "type": "object"}


def _readable(value: Any, *, are_names: bool = False) -> Any:
    """A schema in which words are plain, and a part that says only yes or no is a schema too."""
    if isinstance(value, list):
        return [_readable(inner) for inner in value]
    if not isinstance(value, Mapping):
        return value
    made: dict[str, Any] = {}
    for key, inner in value.items():
        if not are_names and _is_for_readers(key, inner):
            made[key] = plain(inner, LONGEST_DESCRIPTION)
        elif (are_names or key == "items") and isinstance(inner, bool):
            made[key] = {}
        else:
            made[key] = _readable(inner, are_names=key == "properties" and not are_names)
    return made
