"""One call, put through a plugin from its beginning to its end: the same engine, scripted ends."""

import time
from collections.abc import Callable, Coroutine, Mapping
from typing import Any, Literal

import msgspec

from hermes import discover
from hermes.agent.model_hooks import WatchedAttempt
from hermes.agent.occasion import Attempt, Occasion
from hermes.errors import Block
from hermes.hooks import HOOKS, HookHost, Registration
from hermes.messages import NormalizedResponse
from hermes.plugins.lending import Asked, Completion
from hermes.protocols import Endpoint, Provider, ToolResult
from hermes.tools.base import Tool

Failure = BaseException | type[BaseException] | None
Answer = Literal["once", "session", "always", "deny"]

_WATCHER = "harness"


class Heard(msgspec.Struct, frozen=True):
    """A hook that was called, and with what."""

    hook: str
    payload: Mapping[str, Any]


class ToolRun(msgspec.Struct, frozen=True, kw_only=True):
    """What became of a tool call."""

    args: Mapping[str, Any]
    """As the tool got them, or would have."""
    result: Any
    """What the model would read."""
    status: str
    base_calls: int
    trace: tuple[Mapping[str, str], ...] = ()
    error: BaseException | None = None
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
        before = next((one for one in reversed(self._heard) if one.hook == "pre_api_request"), None)
        return LlmRun(
            request=sent if self._calls else before.payload["request"]["body"] if before else request,
            response=answer,
            base_calls=self._calls,
            attempts=number,
            trace=tuple(before.payload["middleware_trace"]) if before else (),
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
        occasion = Occasion(
            session_id=self._ids["session_id"],
            task_id=self._ids["task_id"],
            turn_id=self._ids["turn_id"],
            platform="cli",
            question="question",
        )
        watched = WatchedAttempt(self._host, occasion, attempt)
        transport = discover.load("hermes.transports", "chat_completions", "protocol").Transport()
        try:
            return None, await watched.run(request, base, transport.normalize_response)
        except Exception as error:  # noqa: BLE001 - what reaches the caller is what the author wants to see
            return error.__cause__ if not isinstance(error, Block) and error.__cause__ else error, None

    async def tool(
        self, name: str, args: dict[str, Any], result: Any, fail: Failure, approver: Answer | None
    ) -> ToolRun:
        told: dict[str, Any] = {"tool_name": name, "tool_call_id": "call", **self._ids}
        rewritten = await self._host.apply_request("tool_request", args, told)
        told["middleware_trace"] = list(rewritten.trace)
        effective = rewritten.payload
        error: Exception | None = None
        started = time.monotonic()

        async def base(payload: dict[str, Any]) -> Any:
            nonlocal effective
            effective = payload
            self._calls += 1
            if fail is not None:
                raise fail
            return await self._base(name, payload, result)

        try:
            await self._decide(told, effective, approver)
            outcome = await self._host.run(
                "tool_execution", effective, base, told, original=rewritten.original
            )
            status = "ok"
        except Block as block:
            outcome, status, error = {"error": str(block)}, "blocked", block
        except Exception as failure:  # noqa: BLE001 - a tool's failure is told to the model
            outcome, status, error = {"error": f"{type(failure).__name__}: {failure}"}, "error", failure
        done = {
            **told,
            "args": effective,
            "result": outcome,
            "duration_ms": int((time.monotonic() - started) * 1000),
            "status": status,
            "error_type": getattr(error, "code", "tool_error") if error else "",
            "error_message": str(error or ""),
        }
        await self._host.emit("post_tool_call", lambda: done)
        heard = await self._host.emit("transform_tool_result", lambda: done)
        shown = next((answer.value for answer in heard if isinstance(answer.value, str)), outcome)
        return ToolRun(
            args=effective,
            result=shown,
            status=status,
            base_calls=self._calls,
            trace=rewritten.trace,
            error=error,
            asked=tuple(self._asked),
            heard=tuple(self._heard),
            warnings=tuple(self._warnings),
        )

    async def _decide(self, told: dict[str, Any], args: dict[str, Any], approver: Answer | None) -> None:
        """What hooks decide before a tool runs: a no is a no, and who wants a person to decide gets one."""
        answers = [
            answer.value
            for answer in await self._host.emit("pre_tool_call", lambda: {**told, "args": args})
            if isinstance(answer.value, dict)
        ]
        for answer in answers:
            if answer.get("action") == "block" and answer.get("message"):
                raise Block(str(answer["message"]), code="plugin_block")
        for answer in answers:
            if answer.get("action") == "approve":
                self._asked.append(str(answer.get("message") or told["tool_name"]))
                if approver in (None, "deny"):
                    raise Block("the user has not consented", code="approval_denied")

    async def _base(self, name: str, payload: dict[str, Any], result: Any) -> Any:
        own = self._tools.get(name)
        if own is not None:
            return (await own.run(None, **payload)).text
        return result(payload) if callable(result) else result


_ENDPOINT = Endpoint(
    provider=Provider(name="scripted", title="Scripted", api_mode="chat_completions"),
    model="model",
    base_url="http://127.0.0.1/v1",
)


def _as_response(response: Any) -> Any:
    if isinstance(response, str):
        return NormalizedResponse(content=response, tool_calls=None, finish_reason="stop")
    return response
