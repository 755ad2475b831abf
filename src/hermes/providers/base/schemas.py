"""Tool schemas in the dialects that model families take. The given schema is never changed."""

from collections.abc import Callable, Mapping
from typing import Any

Schema = dict[str, Any]

_NAMED = ("properties", "$defs", "definitions", "patternProperties")
_LISTED = ("anyOf", "oneOf", "allOf", "prefixItems")
_SINGLE = ("items", "additionalProperties", "not")
_GEMINI_KEYS = frozenset(
    {"type", "format", "title", "description", "nullable", "enum", "maxItems", "minItems", "properties",
     "required", "minProperties", "maxProperties", "minLength", "maxLength", "pattern", "example", "anyOf",
     "propertyOrdering", "default", "items", "minimum", "maximum"}
)  # fmt: skip
_DEEPEST_REFERENCE = 8


def kimi_schema(schema: Mapping[str, Any]) -> Schema:
    """Every schema has a type, or alternatives that have one; every object says what it requires."""
    return _mapped(schema, _typed)


def gemini_schema(schema: Mapping[str, Any]) -> Schema:
    """Only the keys that Gemini knows: references are written out, constants become enumerations."""
    return _mapped(_resolved(schema, schema), _known_to_gemini)


def without_patterns(schema: Mapping[str, Any]) -> Schema:
    """No `pattern` and no `format`, for servers that cannot make a grammar of them."""
    return _mapped(schema, lambda part: _without(part, "pattern", "format"))


def without_paths(schema: Mapping[str, Any]) -> Schema:
    """No `pattern`, no `format`, and no enumeration with a slash in one of its values."""
    return _mapped(schema, _without_slashes)


def _mapped(schema: Mapping[str, Any], change: Callable[[Schema], Schema]) -> Schema:
    """The schema with every schema in it changed, innermost first. Names of properties are no keywords."""
    return change({key: _mapped_part(key, value, change) for key, value in schema.items()})


def _mapped_part(key: str, value: Any, change: Callable[[Schema], Schema]) -> Any:
    if key in _NAMED and isinstance(value, Mapping):
        return {name: _mapped_any(inner, change) for name, inner in value.items()}
    if key in _LISTED and isinstance(value, list | tuple):
        return [_mapped_any(inner, change) for inner in value]
    return _mapped_any(value, change) if key in _SINGLE else value


def _mapped_any(value: Any, change: Callable[[Schema], Schema]) -> Any:
    return _mapped(value, change) if isinstance(value, Mapping) else value


def _without(schema: Schema, *keys: str) -> Schema:
    return {key: value for key, value in schema.items() if key not in keys}


def _typed(schema: Schema) -> Schema:
    if "anyOf" in schema:
        return _without(schema, "type")
    if "type" not in schema and not schema.keys() & {"$ref", "oneOf", "allOf"}:
        schema = {"type": _likely_type(schema), **schema}
    if schema.get("type") == "object":
        schema = {"required": [], **schema}
    return schema


def _likely_type(schema: Schema) -> str:
    if "properties" in schema or "additionalProperties" in schema:
        return "object"
    if "items" in schema:
        return "array"
    match schema.get("enum", [schema.get("const", "")]):
        case [bool(), *_]:
            return "boolean"
        case [int(), *_]:
            return "integer"
        case [float(), *_]:
            return "number"
    return "string"


def _known_to_gemini(schema: Schema) -> Schema:
    schema = _with_one_type(_with_alternatives(schema))
    if "const" in schema:
        schema = {"enum": [schema["const"]], **schema}
    if not all(isinstance(value, str) for value in schema.get("enum", ())):
        schema = _without(schema, "enum")
    if schema.get("type") == "array":
        schema = {"items": {"type": "string"}, **schema}
    if "properties" in schema and "required" in schema:
        known = [name for name in schema["required"] if name in schema["properties"]]
        schema = {**schema, "required": known}
    return {key: value for key, value in schema.items() if key in _GEMINI_KEYS}


def _with_alternatives(schema: Schema) -> Schema:
    """Alternatives under the one key there is. Null among them, or a single one left, is said plainly."""
    branches = schema.get("anyOf", schema.get("oneOf"))
    if not isinstance(branches, list):
        return schema
    rest = _without(schema, "anyOf", "oneOf")
    real = [branch for branch in branches if not _is_null(branch)]
    null = {"nullable": True} if len(real) < len(branches) else {}
    alternatives = real[0] if len(real) == 1 and isinstance(real[0], Mapping) else {"anyOf": real}
    return {**rest, **alternatives, **null}


def _is_null(schema: Any) -> bool:
    return isinstance(schema, Mapping) and schema.get("type") == "null"


def _with_one_type(schema: Schema) -> Schema:
    if "anyOf" in schema:
        return _without(schema, "type")
    kinds = schema.get("type", _likely_type(schema))
    if not isinstance(kinds, list):
        return {**schema, "type": kinds}
    real = [kind for kind in kinds if kind != "null"] or ["string"]
    return {**schema, "type": real[0], **({"nullable": True} if len(real) < len(kinds) else {})}


def _resolved(value: Any, root: Mapping[str, Any], depth: int = 0) -> Any:
    """The schema with local references written out; one that refers to itself ends as an empty schema."""
    if isinstance(value, list | tuple):
        return [_resolved(inner, root, depth) for inner in value]
    if not isinstance(value, Mapping):
        return value
    reference = value.get("$ref")
    if not isinstance(reference, str):
        return {key: _resolved(inner, root, depth) for key, inner in value.items()}
    rest = {key: inner for key, inner in value.items() if key != "$ref"}
    if depth >= _DEEPEST_REFERENCE:
        return rest
    found: Any = root
    for part in reference.removeprefix("#/").split("/"):
        found = found.get(part, {}) if isinstance(found, Mapping) else {}
    return {**_resolved(found, root, depth + 1), **rest} if isinstance(found, Mapping) else rest


def _without_slashes(schema: Schema) -> Schema:
    schema = _without(schema, "pattern", "format")
    has_slash = any(isinstance(value, str) and "/" in value for value in schema.get("enum", ()))
    return _without(schema, "enum") if has_slash else schema
