"""Arguments as a model gave them, made to fit a tool's schema; what cannot fit is said in plain words."""

from collections.abc import Collection, Mapping
from math import isfinite
from typing import Any

import msgspec

from hermes.errors import ToolError, nearest
from hermes.messages import NOT_JSON

LONGEST_NUMBER = 18
LONGEST_SHOWN = 60

_WANTED = {
    "string": "text",
    "integer": "a whole number",
    "number": "a number",
    "boolean": "true or false",
    "array": "a list",
    "object": "an object",
}


def fit(
    name: str, arguments: Mapping[str, Any], parameters: Mapping[str, Any], loose: Collection[str] = ()
) -> dict[str, Any]:
    """The arguments of tool `name` in the types its schema names; what fits already stays as it is.

    A null stands for an argument that is not given. Raises `ToolError` that names the parameter which
    is missing, not known or of another type; the values of `loose` ones are passed on as they are.
    """
    properties: Mapping[str, Mapping[str, Any]] = parameters["properties"]
    fitted: dict[str, Any] = {}
    for key, value in arguments.items():
        if key not in properties:
            if not parameters.get("additionalProperties"):
                raise ToolError(_unknown(name, key, properties))
            fitted[key] = value
            continue
        if value is None:
            continue
        fitted[key] = coerce(value, properties[key])
        problem = _problem(fitted[key], properties[key])
        if problem and key not in loose:
            raise ToolError(f"`{key}` of `{name}` must be {problem}, not {_shown(value)}")
    missing = next((required for required in parameters["required"] if required not in fitted), None)
    if missing:
        raise ToolError(f"`{name}` needs `{missing}`")
    return fitted


def coerce(value: object, schema: Mapping[str, Any]) -> object:
    """The value in the type the schema names where that loses nothing (`"5"` for a number)."""
    match schema.get("type"), value:
        case "integer", str() if _spells_whole(value):
            return int(value)
        case "integer", float() if value.is_integer():
            return int(value)
        case "number", str():
            return _number(value)
        case "boolean", str() if value.strip().lower() in ("true", "false"):
            return value.strip().lower() == "true"
        case "string", int() | float() if not isinstance(value, bool):
            return str(value)
        case "object", str():
            decoded = _decoded(value, dict)
            return value if decoded is None else decoded
        case "array", _:
            return _list(value, schema.get("items") or {})
        case _:
            return value


def _list(value: object, items: Mapping[str, Any]) -> object:
    """A list of what the items may be: given as one, as JSON text, or as a single item."""
    found = value if isinstance(value, list) else None
    if isinstance(value, str) and value.strip().startswith("["):
        found = _decoded(value, list)
    return [coerce(item, items) for item in ([value] if found is None else found)]


def _decoded(text: str, kind: type) -> Any | None:
    try:
        value = msgspec.json.decode(text)
    except NOT_JSON:
        return None
    return value if isinstance(value, kind) else None


def _spells_whole(text: str) -> bool:
    digits = text.strip().lstrip("+-")
    return digits.isascii() and digits.isdigit() and len(digits) <= LONGEST_NUMBER and text.count("-") < 2


def _number(text: str) -> object:
    try:
        return float(text)
    except ValueError:
        return text


def _problem(value: object, schema: Mapping[str, Any]) -> str | None:
    """What the value must be instead, or None when it fits."""
    if "enum" in schema and value not in schema["enum"]:
        return "one of " + ", ".join(f"`{choice}`" for choice in schema["enum"])
    wanted = schema.get("type")
    if not isinstance(wanted, str) or wanted not in _WANTED:
        return None  # the schema says it in another way, which is the tool's own business
    if not _is(value, wanted):
        return _WANTED[wanted]
    if isinstance(value, list):
        items = schema.get("items") or {}
        wrong = next((problem for item in value if (problem := _problem(item, items))), None)
        return f"a list in which each item is {wrong}" if wrong else None
    return None


def _is(value: object, wanted: str) -> bool:
    match wanted:
        case "string":
            return isinstance(value, str)
        case "boolean":
            return isinstance(value, bool)
        case "integer":
            return isinstance(value, int) and not isinstance(value, bool)
        case "number":
            return _is(value, "integer") or (isinstance(value, float) and isfinite(value))
        case "array":
            return isinstance(value, list)
        case _:
            return isinstance(value, dict)


def _unknown(name: str, key: str, known: Collection[str]) -> str:
    near = nearest(key, known, most=1)
    if near:
        return f"`{name}` has no parameter `{key}`; did you mean `{near[0]}`"
    takes = ", ".join(f"`{other}`" for other in known) or "nothing"
    return f"`{name}` has no parameter `{key}`; it takes {takes}"


def _shown(value: object) -> str:
    match value:
        case str():
            return f'"{value[:LONGEST_SHOWN]}…"' if len(value) > LONGEST_SHOWN else f'"{value}"'
        case bool():
            return str(value).lower()
        case int() | float():
            return "this number"
        case list():
            return "a list"
        case _:
            return "an object"
