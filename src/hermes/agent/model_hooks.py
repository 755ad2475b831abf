"""What plugins have around every attempt of every model call, in the one order that holds for all.

Rewrite the request, tell that it goes out, wrap the sending, tell what came of it.
"""

import asyncio
import re
import time
from collections.abc import Awaitable, Callable
from typing import Any

import msgspec

from hermes.agent.cost import in_dollars
from hermes.agent.occasion import Attempt, Occasion, as_dict
from hermes.agent.stopping import is_out_of_time, is_stopped
from hermes.errors import Block, HermesError, HttpStatus, InvalidResponse, ModelError
from hermes.hooks import HookHost, Rewritten
from hermes.hooks.copying import changed_paths
from hermes.hooks.sanitised import request_shown, sanitised
from hermes.messages import Message, NormalizedResponse, Usage


class WatchedAttempt:
    """One attempt of one model call, open to plugins."""

    def __init__(self, hooks: HookHost, occasion: Occasion, attempt: Attempt) -> None:
        self._hooks = hooks
        self._occasion = occasion
        self._attempt = attempt
        self._began = time.time()
        self._rewritten = Rewritten({}, {})

    async def run(
        self,
        kwargs: dict[str, Any],
        exchange: Callable[[dict[str, Any]], Awaitable[NormalizedResponse]],
        read: Callable[[bytes], NormalizedResponse],
    ) -> NormalizedResponse:
        """Ask through the plugins. `read` makes a response of a whole reply in the provider's own form."""
        self._rewritten = Rewritten(kwargs, kwargs)
        try:
            response = await self._through(kwargs, exchange, read)
        except asyncio.CancelledError as error:
            if not is_stopped():
                raise await self._ended_by(error) from error
            reason = "timeout" if is_out_of_time() else "interrupted"
            ended = HermesError(reason)
            await self._hooks.emit_in_passing(
                "api_request_error", lambda: self._failed(ended) | {"reason": reason}
            )
            raise
        except KeyboardInterrupt:
            raise
        except Exception as error:  # noqa: BLE001 - whatever a plugin makes of a failure is told and raised
            explained = error if isinstance(error, HermesError) else _own(error)
            await self._hooks.emit("api_request_error", lambda: self._failed(explained))
            raise explained from explained.__cause__
        except BaseException as error:  # a plugin's own code may raise anything
            raise await self._ended_by(error) from error
        await self._hooks.emit("post_api_request", lambda: self._after(response))
        return response

    async def _through(
        self,
        kwargs: dict[str, Any],
        exchange: Callable[[dict[str, Any]], Awaitable[NormalizedResponse]],
        read: Callable[[bytes], NormalizedResponse],
    ) -> NormalizedResponse:
        context = self._occasion.context(self._attempt)
        rewritten = await self._hooks.apply_request("llm_request", kwargs, context)
        self._rewritten = rewritten
        await self._hooks.emit("pre_api_request", self._before)
        answer = await self._hooks.run(
            "llm_execution", rewritten.payload, exchange, self._told(), rewritten.original, rewritten.spent
        )
        return _response(answer, read)

    async def _ended_by(self, error: BaseException) -> Block:
        """What a plugin that wants to end more than its own call comes to."""
        blocked = Block(f"a plugin ended the call: {error!r}", code="plugin_exit")
        await self._hooks.emit("api_request_error", lambda: self._failed(blocked))
        return blocked

    def _told(self) -> dict[str, Any]:
        """What every word of this attempt tells, with what request middleware did to it so far."""
        return {**self._occasion.context(self._attempt), **_traced(self._rewritten)}

    def _before(self) -> dict[str, Any]:
        kwargs = self._rewritten.payload
        messages = kwargs.get("messages") or kwargs.get("input") or []
        characters = len(msgspec.json.encode(kwargs, enc_hook=repr))
        return {
            **self._told(),
            "user_message": self._occasion.question,
            "conversation_history": [as_dict(message) for message in self._occasion.history()],
            "request_messages": messages,
            "message_count": len(messages),
            "tool_count": len(kwargs.get("tools") or ()),
            "approx_input_tokens": characters // 4,
            "request_char_count": characters,
            "max_tokens": self._attempt.max_tokens,
            "started_at": self._began,
            "request": request_shown(kwargs, self._hooks.redact),
        }

    def _after(self, response: NormalizedResponse) -> dict[str, Any]:
        kwargs, told = self._rewritten.payload, self._told()
        messages = kwargs.get("messages") or kwargs.get("input") or []
        return {
            **told,
            **self._times(),
            **self._frames(),
            "finish_reason": response.finish_reason,
            "message_count": len(messages),
            "response_model": (response.provider_data or {}).get("model") or told["model"],
            "response": sanitised(response, self._hooks.redact),
            "usage": _usage(response.usage),
            "cost": in_dollars(told["provider"], told["model"], response.usage) if response.usage else None,
            "assistant_message": as_dict(
                Message("assistant", response.content, tuple(response.tool_calls or ()))
            ),
            "assistant_content_chars": len(response.content or ""),
            "assistant_tool_call_count": len(response.tool_calls or ()),
            "request": request_shown(kwargs, self._hooks.redact),
        }

    def _failed(self, error: Exception) -> dict[str, Any]:
        return {
            **self._told(),
            **self._times(),
            **self._frames(),
            "status_code": _status(error),
            "retry_count": self._attempt.attempt - 1,
            "max_retries": self._attempt.most - 1,
            "retryable": isinstance(error, HermesError) and error.retryable,
            "reason": _snake(type(error).__name__),
            "error": {"type": type(error).__name__, "message": str(error)},
            "request": request_shown(self._rewritten.payload, self._hooks.redact),
        }

    def _times(self) -> dict[str, float]:
        now = time.time()
        return {"api_duration": now - self._began, "started_at": self._began, "ended_at": now}

    def _frames(self) -> dict[str, Any]:
        return {"middleware_frames": [msgspec.structs.asdict(one) for one in self._rewritten.spent]}


def _own(error: Exception) -> ModelError:
    """What a plugin made of a failure, as a failure of the call."""
    explained = ModelError(f"a plugin gave up the call: {type(error).__name__}: {error}")
    explained.__cause__ = error
    return explained


def _response(answer: Any, read: Callable[[bytes], NormalizedResponse]) -> NormalizedResponse:
    """What came out of the chain as a response: ours, or a whole reply as the provider would write it."""
    match answer:
        case NormalizedResponse():
            return answer
        case dict():
            return read(msgspec.json.encode(answer))
        case bytes():
            return read(answer)
        case str():
            return read(answer.encode())
        case _:
            raise InvalidResponse(
                f"a plugin answered with something that is no response: {type(answer).__name__}",
                hint="see which with `hermes plugins stats`; a `return` may be missing in it",
            )


def _traced(rewritten: Rewritten) -> dict[str, Any]:
    events = [
        {
            "plugin": rewrite.plugin,
            "callback": rewrite.name,
            "kind": "llm_request",
            "paths": changed_paths(rewrite.before, rewrite.after),
        }
        for rewrite in rewritten.rewrites
    ]
    return {"middleware_trace": list(rewritten.trace), "middleware_events": events}


def _usage(usage: Usage | None) -> dict[str, int] | None:
    if usage is None:
        return None
    return msgspec.structs.asdict(usage) | {
        "input_tokens": usage.prompt_tokens,
        "output_tokens": usage.completion_tokens,
        "cache_read_tokens": usage.cached_tokens,
    }


def _status(error: BaseException) -> int | None:
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, HttpStatus):
            return cause.status
        cause = cause.__cause__
    return None


def _snake(name: str) -> str:
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name).lower()
