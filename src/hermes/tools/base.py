"""What a tool is, how its schema follows from its signature, and how arguments are made to fit."""

import inspect
from collections.abc import Awaitable, Callable, Mapping
from typing import Annotated, Any, get_args, get_origin, get_type_hints

import msgspec

from hermes.protocols import Effect, ToolResult, ToolSpec

JSON_TYPES: dict[Any, str] = {str: "string", int: "integer", float: "number", bool: "boolean"}


class Param(msgspec.Struct, frozen=True):
    """What the model is told of one parameter, beyond its type and default."""

    description: str
    minimum: int | None = None
    maximum: int | None = None
    max_items: int | None = None


class Tool(msgspec.Struct, frozen=True):
    """One tool. `run` takes the services of the run first, then the tool's own arguments."""

    spec: ToolSpec
    toolset: str
    run: Callable[..., Awaitable[ToolResult]]
    effect: Effect = "reads"
    missing: Callable[[Any], str | None] | None = None
    """What has to be there before it can be used, asked of the services; None when nothing is missing."""


def tool(
    function: Callable[..., Awaitable[ToolResult]],
    *,
    toolset: str,
    effect: Effect = "reads",
    missing: Callable[[Any], str | None] | None = None,
) -> Tool:
    """A tool from a function: name, first docstring line and signature are all it takes."""
    description = (inspect.getdoc(function) or "").partition("\n\n")[0].replace("\n", " ")
    spec = ToolSpec(name=function.__name__, description=description, parameters=_schema(function))
    return Tool(spec=spec, toolset=toolset, run=function, effect=effect, missing=missing)


def as_json(value: object) -> str:
    """A tool's result as the model reads it: indented, other scripts kept."""
    return msgspec.json.format(msgspec.json.encode(value), indent=2).decode()


def coerce(arguments: Mapping[str, Any], parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Arguments in the types the schema names where that loses nothing (`"5"` for a number).

    What does not fit is passed on as it is: the tool knows better what to make of it. Arguments
    the schema does not name are dropped.
    """
    properties: Mapping[str, Mapping[str, Any]] = parameters["properties"]
    return {
        name: _coerce_value(value, properties[name]["type"])
        for name, value in arguments.items()
        if name in properties
    }


def _coerce_value(value: object, wanted: str) -> object:
    match wanted, value:
        case "integer", str() if value.strip().lstrip("+-").isdecimal():
            return int(value)
        case "number", str():
            try:
                return float(value)
            except ValueError:
                return value
        case "boolean", "true" | "True":
            return True
        case "boolean", "false" | "False":
            return False
        case "array", str():
            return [value]
        case _:
            return value


def _schema(function: Callable[..., Any]) -> dict[str, Any]:
    hints = get_type_hints(function, include_extras=True)
    properties: dict[str, Any] = {}
    required: list[str] = []
    for name, parameter in list(inspect.signature(function).parameters.items())[1:]:
        properties[name] = _property(hints[name])
        if parameter.default is inspect.Parameter.empty:
            required.append(name)
        elif parameter.default is not None:
            properties[name]["default"] = parameter.default
    return {"type": "object", "properties": properties, "required": required}


def _property(hint: Any) -> dict[str, Any]:
    kind, param = get_args(hint) if get_origin(hint) is Annotated else (hint, None)
    kind = (
        next((option for option in get_args(kind) if option is not type(None)), kind)
        if _optional(kind)
        else kind
    )
    found: dict[str, Any]
    if get_origin(kind) is list:
        found = {"type": "array", "items": {"type": JSON_TYPES[get_args(kind)[0]]}}
    else:
        found = {"type": JSON_TYPES[kind]}
    if isinstance(param, Param):
        bounds = {"minimum": param.minimum, "maximum": param.maximum, "maxItems": param.max_items}
        found |= {"description": param.description} | {k: v for k, v in bounds.items() if v is not None}
    return found


def _optional(kind: Any) -> bool:
    return type(None) in get_args(kind)
