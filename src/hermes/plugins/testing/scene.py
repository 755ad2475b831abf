"""One call, put through a plugin from its beginning to its end: the same engine, scripted ends."""

from collections.abc import Callable, Coroutine, Mapping
from typing import Any

import msgspec

from hermes import discover
from hermes.agent.approvals import Approvals
from hermes.agent.means import Means
from hermes.agent.model_hooks import WatchedAttempt
from hermes.agent.occasion import Attempt, Occasion
from hermes.agent.tool_calls import ToolRunner
from hermes.agent.untrusted import Guard, unfenced
from hermes.errors import Block
from hermes.hooks import HOOKS, HookHost, Registration
from hermes.messages import NormalizedResponse, ToolCall
from hermes.plugins.lending import Asked, Completion
from hermes.protocols import (
    Approval,
    Choice,
    Concern,
    Effect,
    Endpoint,
    Provider,
    Toolbox,
    ToolResult,
    ToolSpec,
)
from hermes.tools.base import Tool, as_json
from hermes.tools.toolbox import Toolbox as OwnTools

Failure = BaseException | type[BaseException] | None

_WATCHER = "harness"


class Heard(msgspec.Struct, frozen=True):
    """A hook that was called, and with what."""

    hook: str
    payload: Mapping[str, Any]


class ToolRun(msgspec.Struct, frozen=True, kw_only=True):
    """What became of a tool call."""

    args: Mapping[str, Any]
    """As the tool got them, or would have."""
    result: str
    """What the model would read."""
    status: str
    error_type: str = ""
    error_message: str = ""
    base_calls: int
    """How often the tool itself was run."""
    trace: tuple[Mapping[str, str], ...] = ()
    asked: tuple[str, ...] = ()
    """What a person was asked, if anything."""
    heard: tuple[Heard, ...] = ()
    warnings: tuple[str, ...] = ()


class LlmRun(msgspec.Struct, frozen=True, kw_only=True):
    """What became of a model call."""

    request: Mapping[str, Any]
    """As the provider got it last, or would have."""
    response: NormalizedResponse | None
    base_calls: int
    attempts: int
    trace: tuple[Mapping[str, str], ...] = ()
    error: BaseException | None = None
    heard: tuple[Heard, ...] = ()
    warnings: tuple[str, ...] = ()


def watchers(heard: list[Heard]) -> list[Registration]:
    def watcher(hook: str) -> Callable[..., None]:
        def watch(**payload: Any) -> None:
            heard.append(Heard(hook, payload))

        return watch

    return [Registration(plugin=_WATCHER, kind=hook, callback=watcher(hook)) for hook in sorted(HOOKS)]


class ScriptedHost:
    """A run that answers from a script."""

    def __init__(self, answers: list[str]) -> None:
        self._answers = answers
        self.said: list[tuple[str, str]] = []

    async def complete(self, asked: Asked) -> Completion:
        text = self._answers.pop(0) if self._answers else "ok"
        try:
            parsed = msgspec.json.decode(text) if asked.schema is not None else None
        except msgspec.DecodeError:
            parsed = None
        return Completion(
            text=text, parsed=parsed, provider="scripted", model="scripted", finish_reason="stop"
        )

    async def dispatch_tool(self, name: str, arguments: Mapping[str, Any], *, pipeline: bool) -> ToolResult:
        return ToolResult(text="ok")

    def inject_message(self, content: str, role: str) -> bool:
        self.said.append((role, content))
        return True


class Scene:
    """One call, put through the plugin from its beginning to its end."""

    def __init__(
        self,
        host: HookHost,
        tools: Mapping[str, Tool],
        ids: Mapping[str, str],
        heard: list[Heard],
        warnings: list[str],
    ) -> None:
        self._host = host
        self._tools = tools
        self._ids = ids
        self._heard = heard
        self._warnings = warnings
        self._calls = 0
        self._asked: list[str] = []

    async def emit(self, hook: str, payload: Mapping[str, Any]) -> list[Any]:
        return [answer.value for answer in await self._host.emit(hook, lambda: payload)]

    async def llm(self, request: dict[str, Any], response: Any, fail: list[Failure]) -> LlmRun:
        sent = request
        failures = [*fail] or [None]
        for number, failure in enumerate(failures, 1):

            async def base(payload: dict[str, Any], failure: Failure = failure) -> Any:
                nonlocal sent
                sent = payload
                self._calls += 1
                if failure is not None:
                    raise failure
                return _as_response(response)

            error, answer = await self._attempt(request, base, number, len(failures))
            if error is None or isinstance(error, Block):
                break
        before = self._last("pre_api_request")
        return LlmRun(
            request=sent if self._calls else before["request"]["body"] if before else request,
            response=answer,
            base_calls=self._calls,
            attempts=number,
            trace=tuple(before["middleware_trace"]) if before else (),
            error=error,
            heard=tuple(self._heard),
            warnings=tuple(self._warnings),
        )

    async def _attempt(
        self,
        request: dict[str, Any],
        base: Callable[[dict[str, Any]], Coroutine[Any, Any, Any]],
        number: int,
        most: int,
    ) -> tuple[BaseException | None, NormalizedResponse | None]:
        attempt = Attempt(endpoint=_ENDPOINT, number=1, attempt=number, most=most)
        watched = WatchedAttempt(self._host, self._occasion(), attempt)
        transport = discover.load("hermes.transports", "chat_completions", "protocol").Transport()
        try:
            return None, await watched.run(request, base, transport.normalize_response)
        except Exception as error:  # noqa: BLE001 - what reaches the caller is what the author wants to see
            return error.__cause__ if not isinstance(error, Block) and error.__cause__ else error, None

    async def tool(
        self, name: str, args: dict[str, Any], result: Any, fail: Failure, approver: Choice | None
    ) -> ToolRun:
        tools = _ScriptedTools(self._tools, result, fail)
        runner = ToolRunner(self._means(tools, approver), self._occasion(), lambda _event: None)
        call = ToolCall(id="call", name=name, arguments=msgspec.json.encode(args).decode())
        (brought,) = await runner.run([call])
        before = self._last("pre_tool_call") or {"args": args, "middleware_trace": []}
        after = self._last("post_tool_call") or {"status": "error", "error_type": "", "error_message": ""}
        return ToolRun(
            args=tools.calls[-1] if tools.calls else before["args"],
            result=unfenced(brought.text),
            status=after["status"],
            error_type=after["error_type"],
            error_message=after["error_message"],
            base_calls=len(tools.calls),
            trace=tuple(before["middleware_trace"]),
            asked=tuple(self._asked),
            heard=tuple(self._heard),
            warnings=tuple(self._warnings),
        )

    def _means(self, tools: Toolbox, approver: Choice | None) -> Means:
        """What a tool call needs; no model is asked in it."""

        async def answer(wanted: Approval) -> Choice:
            self._asked.append(wanted.reason)
            return approver or "deny"

        nobody: Any = None
        return Means(
            models=nobody,
            auxiliary=nobody,
            tools=tools,
            guard=Guard(lambda _text: False),
            approvals=Approvals(approve=answer if approver else None),
            hooks=self._host,
        )

    def _occasion(self) -> Occasion:
        occasion = Occasion(
            session_id=self._ids["session_id"],
            task_id=self._ids["task_id"],
            turn_id=self._ids["turn_id"],
            platform="cli",
            question="question",
        )
        occasion.next_call()
        return occasion

    def _last(self, hook: str) -> Mapping[str, Any] | None:
        return next((heard.payload for heard in reversed(self._heard) if heard.hook == hook), None)


class _ScriptedTools:
    """Any tool there could be, which does as the script says; those of the plugin are its own."""

    def __init__(self, own: Mapping[str, Tool], result: Any, fail: Failure) -> None:
        self._own = own
        self._box = OwnTools(tuple(own.values()), _Settings())
        self._result = result
        self._fail = fail
        self.calls: list[Mapping[str, Any]] = []

    def specs(self) -> tuple[ToolSpec, ...]:
        return self._box.specs()

    def fit(self, name: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
        return self._box.fit(name, arguments) if name in self._own else dict(arguments)

    def effect(self, name: str) -> Effect:
        return self._box.effect(name) if name in self._own else "reads"

    def lack(self, name: str) -> str | None:
        return self._box.lack(name) if name in self._own else None

    def concern(self, name: str, arguments: Mapping[str, Any]) -> Concern | None:
        return self._box.concern(name, arguments) if name in self._own else None

    async def call(
        self, name: str, arguments: Mapping[str, Any], judged: Concern | None = None
    ) -> ToolResult:
        self.calls.append(arguments)
        if self._fail is not None:
            raise self._fail
        if name in self._own:
            return await self._box.call(name, arguments, judged)
        value = self._result(arguments) if callable(self._result) else self._result
        return ToolResult(text=value if isinstance(value, str) else as_json(value))


class _Settings:
    """Every variable that a plugin's tool may need is set."""

    def setting(self, name: str) -> str | None:
        return f"the {name} of the harness"


_ENDPOINT = Endpoint(
    provider=Provider(name="scripted", title="Scripted", api_mode="chat_completions"),
    model="model",
    base_url="http://127.0.0.1/v1",
)


def _as_response(response: Any) -> Any:
    if isinstance(response, str):
        return NormalizedResponse(content=response, tool_calls=None, finish_reason="stop")
    return response
