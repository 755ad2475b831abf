"""JSON Schemas as strict wires take them. The given schema is never changed."""

from collections.abc import Mapping
from typing import Any

import msgspec

_IN_WORDS = "Answer with JSON alone, without a fence around it. It must keep this JSON Schema:"
_STRICT_KEYS = frozenset(
    {"type", "properties", "required", "items", "enum", "const", "anyOf", "allOf", "$ref", "$defs", "title",
     "description", "additionalProperties", "format"}
)  # fmt: skip
_STRICT_FORMATS = frozenset(
    {"date-time", "time", "date", "duration", "email", "hostname", "uri", "ipv4", "ipv6", "uuid"}
)


def object_schema(schema: Mapping[str, Any]) -> dict[str, Any]:
    """A tool's parameters as the wire takes them: an object at the root, no unions with null."""
    root = {key: value for key, value in schema.items() if key not in ("anyOf", "oneOf", "allOf")}
    return {
        **_without_null(root),
        "type": "object",
        "properties": _without_null(root.get("properties") or {}),
    }


def _without_null(schema: Any) -> Any:
    if isinstance(schema, list):
        return [_without_null(item) for item in schema]
    if not isinstance(schema, Mapping):
        return schema
    for union in ("anyOf", "oneOf"):
        branches = schema.get(union)
        if isinstance(branches, list) and {"type": "null"} in branches and len(branches) == 2:
            kept: Mapping[str, Any] = next((branch for branch in branches if branch != {"type": "null"}), {})
            rest = {key: value for key, value in schema.items() if key not in (union, "default")}
            return _without_null({**rest, **kept})
    plain = {key: _without_null(value) for key, value in schema.items()}
    if (
        isinstance(plain.get("type"), list)
        and len(kinds := [kind for kind in plain["type"] if kind != "null"]) == 1
    ):
        plain["type"] = kinds[0]
    return plain


def strict_schema(schema: Any) -> Any:
    """An output schema as the wire takes it: closed objects; limits it cannot keep become words."""
    if not isinstance(schema, Mapping):
        return schema
    strict: dict[str, Any] = {}
    unkept: dict[str, Any] = {}
    for key, value in schema.items():
        name = "anyOf" if key == "oneOf" else key
        if name in ("properties", "$defs") and isinstance(value, Mapping):
            strict[name] = {part: strict_schema(inner) for part, inner in value.items()}
        elif name in ("anyOf", "allOf") and isinstance(value, list):
            strict[name] = [strict_schema(branch) for branch in value]
        elif name == "items":
            strict[name] = strict_schema(value)
        elif name in _STRICT_KEYS and not (name == "format" and value not in _STRICT_FORMATS):
            strict[name] = value
        else:
            unkept[name] = value
    if strict.get("type") == "object":
        strict |= {"properties": strict.get("properties", {}), "additionalProperties": False}
    if unkept:
        words = "{" + ", ".join(f"{key}: {value}" for key, value in unkept.items()) + "}"
        strict["description"] = "\n\n".join(filter(None, (strict.get("description"), words)))
    return strict


def in_words(schema: Mapping[str, Any]) -> str:
    """What tells a model of the schema its answer must keep, where no field can."""
    return f"{_IN_WORDS}\n{msgspec.json.encode(schema).decode()}"


def is_closed(schema: object) -> bool:
    """Whether every object names all its keys and requires them: what the strict mode asks of a schema."""
    if isinstance(schema, list | tuple):
        return all(map(is_closed, schema))
    if not isinstance(schema, Mapping):
        return True
    if schema.get("type") == "object" or "properties" in schema:
        required, properties = schema.get("required") or (), schema.get("properties") or {}
        if schema.get("additionalProperties") is not False or set(required) != set(properties):
            return False
    return all(map(is_closed, schema.values()))
