"""The contract with types: callbacks of models instead of keyword arguments, compiled to the same ones."""

import functools
import inspect
from collections.abc import Callable, Collection, Mapping
from typing import Any, Literal, Protocol, TypeVar

import msgspec

from hermes.hooks.names import HOOKS, PAYLOADS, STREAM

Callback = Callable[..., Any]
C = TypeVar("C", bound=Callback)


class CallContext(msgspec.Struct, frozen=True, kw_only=True):
    """Where a call belongs; what does not apply is empty."""

    session_id: str = ""
    task_id: str = ""
    turn_id: str = ""
    api_request_id: str = ""
    tool_call_id: str = ""
    platform: str = ""
    provider: str = ""
    model: str = ""
    base_url: str = ""
    api_mode: str = ""
    api_call_count: int = 0
    trace: tuple[Mapping[str, str], ...] = ()
    """What request middleware did before."""


class LLMRequest(msgspec.Struct, frozen=True, kw_only=True):
    """A request to a model in its provider's own words. A change is a copy."""

    body: Mapping[str, Any]
    original: Mapping[str, Any]
    """As it was before any plugin saw it."""
    ctx: CallContext
    reason: str = ""

    def with_(self, **changes: Any) -> "LLMRequest":
        """A copy in which these fields are set."""
        return msgspec.structs.replace(self, body={**self.body, **changes})

    def without(self, *fields: str) -> "LLMRequest":
        """A copy that does not have these fields."""
        body = {name: value for name, value in self.body.items() if name not in fields}
        return msgspec.structs.replace(self, body=body)

    def because(self, reason: str) -> "LLMRequest":
        """A copy that says in the trace why it was changed."""
        return msgspec.structs.replace(self, reason=reason)


class ToolCall(msgspec.Struct, frozen=True, kw_only=True):
    """A call of a tool. A change is a copy."""

    name: str
    args: Mapping[str, Any]
    original: Mapping[str, Any]
    """The arguments as the model gave them."""
    ctx: CallContext
    reason: str = ""

    def with_args(self, **changes: Any) -> "ToolCall":
        """A copy in which these arguments are set."""
        return msgspec.structs.replace(self, args={**self.args, **changes})

    def without_args(self, *names: str) -> "ToolCall":
        """A copy that does not have these arguments."""
        args = {name: value for name, value in self.args.items() if name not in names}
        return msgspec.structs.replace(self, args=args)

    def because(self, reason: str) -> "ToolCall":
        """A copy that says in the trace why it was changed."""
        return msgspec.structs.replace(self, reason=reason)


class Decision(msgspec.Struct, frozen=True, kw_only=True):
    """What a `pre_tool_call` hook decides; None lets the call pass, too."""

    action: Literal["allow", "block", "approve"]
    message: str = ""
    rule_key: str = ""

    @classmethod
    def allow(cls) -> "Decision":
        return cls(action="allow")

    @classmethod
    def block(cls, message: str) -> "Decision":
        """Do not let the tool run; the model reads the message."""
        return cls(action="block", message=message)

    @classmethod
    def approve(cls, message: str = "", *, rule_key: str = "") -> "Decision":
        """Let a person decide."""
        return cls(action="approve", message=message, rule_key=rule_key)

    def told(self) -> dict[str, str] | None:
        """The decision as the contract has it."""
        if self.action == "allow":
            return None
        said = {"action": self.action, "message": self.message, "rule_key": self.rule_key}
        return {key: value for key, value in said.items() if value}


class Next:
    """The rest of the chain. Call it with the request, changed or not; in async code, await it."""

    __slots__ = ("_next_call",)

    def __init__(self, next_call: Callable[[Any], Any]) -> None:
        self._next_call = next_call

    def __call__(self, request: LLMRequest | ToolCall | None = None) -> Any:
        return self._next_call(None if request is None else _payload(request))


class Context(Protocol):
    def register_middleware(self, kind: str, callback: Callback, **options: Any) -> None: ...

    def register_hook(self, name: str, callback: Callback, **options: Any) -> None: ...


class _Wanted(msgspec.Struct, frozen=True):
    kind: str
    callback: Callback
    options: Mapping[str, Any]


class Plugin:
    """A plugin as decorators. `register = app.register` makes a module of it a plugin."""

    def __init__(self, name: str, *, version: str = "", capabilities: Collection[str] = ()) -> None:
        self.name = name
        self.version = version
        self.capabilities = frozenset(capabilities)
        self._wanted: list[_Wanted] = []

    def register(self, ctx: Context) -> None:
        """The entry point: registers what was decorated, in that order."""
        for wanted in self._wanted:
            add = ctx.register_hook if wanted.kind in HOOKS else ctx.register_middleware
            add(wanted.kind, wanted.callback, **wanted.options)

    def llm_request(self, callback: C | None = None, **options: Any) -> Any:
        """Rewrite a request: `(req: LLMRequest) -> LLMRequest | None`."""
        return self._decorator("llm_request", callback, options)

    def llm_execution(self, callback: C | None = None, **options: Any) -> Any:
        """Wrap the call of a model: `(req: LLMRequest, next: Next) -> response`."""
        return self._decorator("llm_execution", callback, options)

    def tool_request(self, callback: C | None = None, **options: Any) -> Any:
        """Rewrite arguments: `(call: ToolCall) -> ToolCall | None`. `tools=` says of which tools."""
        return self._decorator("tool_request", callback, options)

    def tool_execution(self, callback: C | None = None, **options: Any) -> Any:
        """Wrap the call of a tool: `(call: ToolCall, next: Next) -> result`. `tools=` says of which."""
        return self._decorator("tool_execution", callback, options)

    def stream(self, callback: C | None = None, **options: Any) -> Any:
        """See an answer piece by piece: `(delta, ctx) -> str | None`. It is not async: it must not wait."""
        return self._decorator(STREAM, callback, options)

    def hook(self, name: str, **options: Any) -> Any:
        """Be told of what happens. A first parameter annotated `ToolCall` is one; the others go by name."""
        return self._decorator(name, None, options)

    def _decorator(self, kind: str, callback: C | None, options: Mapping[str, Any]) -> Any:
        def decorate(function: C) -> C:
            if kind == STREAM and inspect.iscoroutinefunction(function):
                raise TypeError("a callback for `stream` must not wait, so it cannot be async")
            self._wanted.append(_Wanted(kind, self._compiled(kind, function), _with_tools(options)))
            return function

        return decorate if callback is None else decorate(callback)

    def _compiled(self, kind: str, function: Callback) -> Callback:
        """The callback of the contract behind a typed one; one that is none stays as it is."""
        if _is_seed(kind, function):
            return function
        arguments = _Arguments(kind, function)

        def plain(**given: Any) -> Any:
            positional, named = arguments.of(given)
            return self._answer(function(*positional, **named), positional)

        async def awaited(**given: Any) -> Any:
            positional, named = arguments.of(given)
            return self._answer(await function(*positional, **named), positional)

        compiled = awaited if inspect.iscoroutinefunction(function) else plain
        compiled.__name__ = getattr(function, "__name__", kind)
        return compiled

    def _answer(self, value: Any, given: list[Any]) -> Any:
        """A typed return as the contract has it."""
        match value:
            case Decision():
                return value.told()
            case LLMRequest() | ToolCall():
                if given and value is given[0]:
                    return None
                told = {"source": self.name, "reason": value.reason}
                return {_name_of(value): _payload(value)} | {key: word for key, word in told.items() if word}
            case _:
                return value


def plugin(name: str, *, version: str = "", capabilities: Collection[str] = ()) -> Plugin:
    """A plugin to decorate callbacks with."""
    return Plugin(name, version=version, capabilities=capabilities)


class _Arguments:
    """What a typed callback is called with: its model first, then what it names."""

    def __init__(self, kind: str, function: Callback) -> None:
        parameters = list(inspect.signature(function).parameters.values())
        self._takes_all = any(one.kind is inspect.Parameter.VAR_KEYWORD for one in parameters)
        self._names = [one.name for one in parameters if one.kind is not inspect.Parameter.VAR_KEYWORD]
        self._model = None if kind == STREAM else _model_of(kind, parameters[0].annotation)
        if self._model is not None:
            self._names = self._names[1:]

    def of(self, given: Mapping[str, Any]) -> tuple[list[Any], dict[str, Any]]:
        positional = [self._model(given)] if self._model is not None else []
        offered = dict(given) | {"ctx": _context(given)}
        if "next_call" in given:
            offered["next"] = Next(given["next_call"])
        named = (
            offered if self._takes_all else {name: offered[name] for name in self._names if name in offered}
        )
        return positional, named


def _is_seed(kind: str, function: Callback) -> bool:
    """Whether a callback takes the contract's keyword arguments; if not, it takes models."""
    parameters = list(inspect.signature(function).parameters.values())
    if not parameters:
        return True
    if kind == STREAM:
        return False
    if _annotated(parameters[0].annotation):
        return False
    if kind not in PAYLOADS:
        return True
    seed = {PAYLOADS[kind], f"original_{PAYLOADS[kind]}", "next_call", "tool_name", "session_id"}
    return any(one.kind is inspect.Parameter.VAR_KEYWORD or one.name in seed for one in parameters)


def _annotated(annotation: object) -> str:
    """Which model an annotation names, be it the class or its name; empty when none."""
    name = annotation if isinstance(annotation, str) else getattr(annotation, "__name__", "")
    last = name.rpartition(".")[2]
    return last if last in ("LLMRequest", "ToolCall") else ""


def _model_of(kind: str, annotation: object) -> Callable[[Mapping[str, Any]], Any]:
    name = _annotated(annotation) or ("LLMRequest" if kind.startswith("llm_") else "ToolCall")
    return _request if name == "LLMRequest" else _call


def _request(given: Mapping[str, Any]) -> LLMRequest:
    body = given.get("request") or {}
    return LLMRequest(body=body, original=given.get("original_request", body), ctx=_context(given))


def _call(given: Mapping[str, Any]) -> ToolCall:
    args = given.get("args") or {}
    return ToolCall(
        name=given.get("tool_name", ""),
        args=args,
        original=given.get("original_args", args),
        ctx=_context(given),
    )


def _context(given: Mapping[str, Any]) -> CallContext:
    known = {name: given[name] for name in CallContext.__struct_fields__ if name in given}
    return CallContext(**known, trace=tuple(given.get("middleware_trace") or ()))


def _payload(request: LLMRequest | ToolCall) -> dict[str, Any]:
    return dict(request.body if isinstance(request, LLMRequest) else request.args)


def _name_of(request: LLMRequest | ToolCall) -> str:
    return "request" if isinstance(request, LLMRequest) else "args"


def _with_tools(options: Mapping[str, Any]) -> dict[str, Any]:
    """The options of the contract, with `tools` as a condition."""
    rest = {name: value for name, value in options.items() if name != "tools"}
    tools = options.get("tools")
    if tools is None:
        return rest
    names = frozenset([tools] if isinstance(tools, str) else tools)
    return rest | {"when": functools.partial(_is_for, names, rest.get("when"))}


def _is_for(names: frozenset[str], when: Any, context: Mapping[str, Any]) -> bool:
    if context.get("tool_name") not in names:
        return False
    if isinstance(when, Mapping):
        return all(context.get(key) == value for key, value in when.items())
    return when is None or bool(when(context))
