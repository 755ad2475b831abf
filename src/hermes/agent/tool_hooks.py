"""What plugins have around every tool call: rewriting, a say beforehand, wrapping, and news of the end."""

from collections.abc import Awaitable, Callable, Iterator, Mapping
from typing import Any, Literal

import msgspec

from hermes.agent.occasion import Occasion
from hermes.errors import Block
from hermes.hooks import Heard, HookHost, Rewritten
from hermes.messages import ToolCall
from hermes.protocols import ToolResult

Status = Literal["ok", "error", "blocked", "cancelled", "timeout"]


class Ended(msgspec.Struct, frozen=True, kw_only=True):
    """How a call ended, as plugins are told."""

    status: Status = "ok"
    error_type: str = ""
    error_message: str = ""


class Say(msgspec.Struct, frozen=True):
    """What the callbacks of `pre_tool_call` say: a refusal, that a person should decide, or nothing."""

    blocked: str = ""
    error_type: str = "plugin_block"
    asks: bool = False
    message: str = ""
    rule_key: str = ""


class ToolHooks:
    """The hooks around the tool calls of one turn."""

    def __init__(self, hooks: HookHost, occasion: Occasion) -> None:
        self._hooks = hooks
        self._occasion = occasion

    def context(self, call: ToolCall) -> dict[str, Any]:
        return {"tool_name": call.name, **msgspec.structs.asdict(self._occasion.call_ids(call))}

    async def rewritten(self, call: ToolCall, arguments: dict[str, Any]) -> Rewritten:
        return await self._hooks.apply_request("tool_request", arguments, self.context(call))

    async def say(
        self, call: ToolCall, arguments: Mapping[str, Any], trace: tuple[dict[str, str], ...]
    ) -> Say:
        """Tell that a call is about to be run. A no counts whoever else would only ask."""
        try:
            heard = await self._hooks.emit(
                "pre_tool_call",
                lambda: {**self.context(call), "args": arguments, "middleware_trace": list(trace)},
            )
        except Block as block:
            return Say(blocked=str(block), error_type=block.code)
        said = list(_directives(heard))
        return next((one for one in said if one.blocked), said[0] if said else Say())

    async def run(
        self,
        call: ToolCall,
        rewritten: Rewritten,
        base: Callable[[dict[str, Any]], Awaitable[Any]],
    ) -> Any:
        context = {**self.context(call), "middleware_trace": list(rewritten.trace)}
        return await self._hooks.run(
            "tool_execution", rewritten.payload, base, context, rewritten.original, rewritten.spent
        )

    async def ended(
        self, call: ToolCall, rewritten: Rewritten, result: str, how: Ended, seconds: float
    ) -> None:
        """Tell how a call ended: once for every call that was told of before. Raises `Block`."""
        await self._hooks.emit_to_the_end(
            "post_tool_call", lambda: self._payload(call, rewritten, result, how, seconds)
        )

    async def cut(self, call: ToolCall, rewritten: Rewritten, how: Ended) -> None:
        """Tell the same of a call that was stopped, but do not wait for who hears it."""
        await self._hooks.emit_in_passing(
            "post_tool_call", lambda: self._payload(call, rewritten, "", how, 0.0)
        )

    async def transformed(
        self, call: ToolCall, rewritten: Rewritten, result: ToolResult, how: Ended, seconds: float
    ) -> ToolResult:
        """The result as the first plugin that wants another one gives it. Raises `Block`."""
        heard = await self._hooks.emit(
            "transform_tool_result", lambda: self._payload(call, rewritten, result.text, how, seconds)
        )
        other = next((answer.value for answer in heard if isinstance(answer.value, str)), None)
        return result if other is None else msgspec.structs.replace(result, text=other)

    def _payload(
        self, call: ToolCall, rewritten: Rewritten, result: str, how: Ended, seconds: float
    ) -> dict[str, Any]:
        return {
            **self.context(call),
            "args": rewritten.payload,
            "result": result,
            "duration_ms": int(seconds * 1000),
            **msgspec.structs.asdict(how),
            "middleware_trace": list(rewritten.trace),
            "middleware_frames": [msgspec.structs.asdict(one) for one in rewritten.spent],
        }


def _directives(heard: tuple[Heard, ...]) -> Iterator[Say]:
    for answer in heard:
        match answer.value:
            case {"action": "block", "message": str(words)} if words.strip():
                yield Say(blocked=words)
            case {"action": "approve", **more}:
                yield Say(asks=True, message=_text(more.get("message")), rule_key=_text(more.get("rule_key")))


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""
