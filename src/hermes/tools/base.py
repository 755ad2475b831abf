"""What a tool is, and how its schema follows from its signature."""

import inspect
import types
from collections.abc import Awaitable, Callable, Mapping
from typing import Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints

import msgspec

from hermes.errors import HermesError
from hermes.protocols import Concern, Effect, ToolResult, ToolSpec

JSON_TYPES: dict[Any, str] = {
    str: "string",
    int: "integer",
    float: "number",
    bool: "boolean",
    dict: "object",
}


class Param(msgspec.Struct, frozen=True):
    """What the model is told of one parameter, beyond its type and default."""

    description: str
    minimum: int | None = None
    maximum: int | None = None
    max_items: int | None = None
    loose: bool = False
    """Whether the tool takes what does not fit the type, and makes its own sense of it."""


Judge = Callable[[Any, Mapping[str, Any]], Concern | None]


class Tool(msgspec.Struct, frozen=True):
    """One tool. `run` takes the services of the run first, then the tool's own arguments."""

    spec: ToolSpec
    toolset: str
    run: Callable[..., Awaitable[ToolResult]]
    effect: Effect = "reads"
    missing: Callable[[Any], str | None] | None = None
    """What has to be there before it can be used, asked of the services; None when nothing is missing."""
    loose: frozenset[str] = frozenset()
    """The parameters whose values are passed on even if they do not fit."""
    concern: Judge | None = None
    """What speaks against a call, from the services and the arguments; it asks nobody."""


def tool(
    function: Callable[..., Awaitable[ToolResult]],
    *,
    toolset: str,
    effect: Effect = "reads",
    missing: Callable[[Any], str | None] | None = None,
    concern: Judge | None = None,
) -> Tool:
    """A tool from a function: name, first docstring line and signature are all it takes."""
    description = (inspect.getdoc(function) or "").partition("\n\n")[0].replace("\n", " ")
    hints = get_type_hints(function, include_extras=True)
    parameters = dict(list(inspect.signature(function).parameters.items())[1:])
    return Tool(
        spec=ToolSpec(name=function.__name__, description=description, parameters=_schema(parameters, hints)),
        toolset=toolset,
        run=function,
        effect=effect,
        missing=missing,
        loose=frozenset(name for name in parameters if (told := _told(hints[name])) and told.loose),
        concern=concern,
    )


def as_json(value: object) -> str:
    """A tool's result as the model reads it: indented, other scripts kept."""
    return msgspec.json.format(msgspec.json.encode(value), indent=2).decode()


def failure(message: str) -> ToolResult:
    """The result of a tool that could not do what was asked, in words the model can act on."""
    return ToolResult(text=as_json({"error": message}), is_error=True)


def told(error: HermesError) -> str:
    """An error for a model: what is wrong, and how to mend it."""
    return f"{error} ({error.hint})" if error.hint else str(error)


def _schema(parameters: dict[str, inspect.Parameter], hints: dict[str, Any]) -> dict[str, Any]:
    properties: dict[str, Any] = {}
    required: list[str] = []
    for name, parameter in parameters.items():
        properties[name] = _property(hints[name])
        if parameter.default is inspect.Parameter.empty:
            required.append(name)
        elif parameter.default is not None:
            properties[name]["default"] = parameter.default
    return {"type": "object", "properties": properties, "required": required}


def _property(hint: Any) -> dict[str, Any]:
    found = _typed(_kind(hint))
    told = _told(hint)
    if told is not None:
        bounds = {"minimum": told.minimum, "maximum": told.maximum, "maxItems": told.max_items}
        found |= {"description": told.description} | {k: v for k, v in bounds.items() if v is not None}
    return found


def _typed(kind: Any) -> dict[str, Any]:
    if get_origin(kind) is list:
        return {"type": "array", "items": _typed(get_args(kind)[0])}
    if get_origin(kind) is Literal:
        choices = list(get_args(kind))
        return {"type": JSON_TYPES[type(choices[0])], "enum": choices}
    return {"type": JSON_TYPES[get_origin(kind) or kind]}


def _kind(hint: Any) -> Any:
    """The type itself: without what is told about it, and without `| None`."""
    kind = get_args(hint)[0] if get_origin(hint) is Annotated else hint
    if get_origin(kind) in (Union, types.UnionType):
        return next(option for option in get_args(kind) if option is not type(None))
    return kind


def _told(hint: Any) -> Param | None:
    extras = get_args(hint)[1:] if get_origin(hint) is Annotated else ()
    return next((extra for extra in extras if isinstance(extra, Param)), None)
