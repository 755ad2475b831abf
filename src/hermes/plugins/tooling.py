"""A plugin's tool as one of ours: its schema told to the model, its handler called, its answer read."""

import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

import msgspec

from hermes.agent.tool_calls import tells_error
from hermes.errors import HermesError
from hermes.protocols import Effect, ToolResult, ToolSpec, current_call
from hermes.threads import in_thread
from hermes.tools.base import Tool, as_json, failure

Handler = Callable[..., Any]

_NOTHING: Mapping[str, Any] = {}


class Settings(Protocol):
    def setting(self, name: str) -> str | None: ...


class Offer(msgspec.Struct, frozen=True, kw_only=True):
    """A tool as a plugin registers it."""

    name: str
    toolset: str
    schema: Mapping[str, Any]
    handler: Handler
    check: Callable[[], Any] | None = None
    requires_env: tuple[str, ...] = ()
    description: str = ""
    effect: Effect = "changes"
    trusted: bool = True


def as_tool(offer: Offer) -> Tool:
    """The tool that calls a plugin's handler. What the handler raises is told to the model."""
    told = _told(offer.schema)

    async def run(_services: object, /, **arguments: Any) -> ToolResult:
        try:
            answer = await called(offer.handler, arguments, _ids_for(offer.handler))
        except HermesError:
            raise
        except (Exception, SystemExit) as error:  # noqa: BLE001 - a plugin's own code may raise anything
            return failure(f"{offer.name} failed: {type(error).__name__}: {error}")
        return _result(answer, trusted=offer.trusted)

    return Tool(
        spec=ToolSpec(
            name=offer.name,
            description=offer.description or str(told.get("description") or ""),
            parameters=_parameters(told),
        ),
        toolset=offer.toolset,
        run=run,
        effect=offer.effect,
        missing=lambda services: _lack(offer, services),
    )


async def called(handler: Handler, argument: Any, more: Mapping[str, Any] = _NOTHING) -> Any:
    """What a handler gives, be it async or not; one that is not waits in a thread of its own."""
    if inspect.iscoroutinefunction(handler):
        return await handler(argument, **more)
    answer = await in_thread(lambda: handler(argument, **more))
    return await answer if inspect.isawaitable(answer) else answer


def _ids_for(handler: Handler) -> dict[str, Any]:
    """The ids of the call, as far as the handler takes them."""
    ids = msgspec.structs.asdict(current_call.get())
    try:
        parameters = inspect.signature(handler).parameters
    except (TypeError, ValueError):
        return {}
    if any(parameter.kind is inspect.Parameter.VAR_KEYWORD for parameter in parameters.values()):
        return ids
    return {name: value for name, value in ids.items() if name in parameters}


def _result(answer: Any, *, trusted: bool) -> ToolResult:
    if isinstance(answer, ToolResult):
        return answer
    text = answer if isinstance(answer, str) else "" if answer is None else _json(answer)
    return ToolResult(text=text, is_error=tells_error(text), trusted=trusted)


def _json(answer: Any) -> str:
    try:
        return as_json(answer)
    except (TypeError, ValueError):
        return str(answer)


def _told(schema: Mapping[str, Any]) -> Mapping[str, Any]:
    """A schema without the envelope that some wires put around it."""
    inner = schema.get("function")
    return inner if isinstance(inner, Mapping) else schema


def _parameters(told: Mapping[str, Any]) -> dict[str, Any]:
    """The JSON Schema of the arguments, wherever the plugin wrote it; where it wrote none, any will do."""
    given = told.get("parameters") or told.get("input_schema")
    if not isinstance(given, Mapping):
        given = told if "properties" in told else {}
    is_open = {} if "properties" in given else {"additionalProperties": True}
    return {"type": "object", "properties": {}, "required": [], **is_open, **given}


def _lack(offer: Offer, services: Settings) -> str | None:
    for name in offer.requires_env:
        if services.setting(name) is None:
            return f"`{name}` is not set"
    if offer.check is None:
        return None
    try:
        return None if offer.check() else "the plugin says that it cannot be used now"
    except (Exception, SystemExit) as error:  # noqa: BLE001 - a plugin's own code may raise anything
        return f"the plugin's check failed: {type(error).__name__}: {error}"


def names_of(variables: Sequence[Any] | None) -> tuple[str, ...]:
    """The names among required variables, each given as a name or as a mapping that has one."""
    given = (item.get("name") if isinstance(item, Mapping) else item for item in variables or ())
    return tuple(str(name) for name in given if name)
