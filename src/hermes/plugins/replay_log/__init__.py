"""What was asked and answered, whole: every request to a model, every response, every tool call.

A line has what belongs to the call itself first; the ids and the time stand under `at`, so that two runs
can be compared without them.
"""

import time
from collections.abc import Callable, Mapping
from typing import Annotated, Any

import msgspec

from .journal import Journal

AtLeastOne = Annotated[int, msgspec.Meta(ge=1)]
_IDS = ("session_id", "task_id", "turn_id", "api_request_id", "tool_call_id", "attempt")


class Settings(msgspec.Struct, forbid_unknown_fields=True):
    """How large a file may be, and how many files are kept."""

    max_megabytes: AtLeastOne = 20
    keep: AtLeastOne = 50


def register(ctx: Any) -> None:
    settings = msgspec.convert(dict(ctx.settings), Settings)
    journal = Journal(ctx.folder, most_bytes=settings.max_megabytes << 20, keep=settings.keep)
    log = ReplayLog(journal, ctx.redact)
    # Innermost: it sees what goes to the model, after every other plugin.
    ctx.register_middleware("llm_execution", log.model_call, priority=1000, permissions=("observe",))
    ctx.register_hook("post_tool_call", log.tool_call)


class ReplayLog:
    """The callbacks. `redact` takes the keys out of what is written."""

    def __init__(
        self, journal: Journal, redact: Callable[[str], str], clock: Callable[[], float] = time.time
    ) -> None:
        self._journal = journal
        self._redact = redact
        self._clock = clock

    def model_call(self, *, request: dict[str, Any], next_call: Callable[[], Any], **context: Any) -> Any:
        began = self._clock()
        row = {"type": "model", "provider": context["provider"], "api_mode": context["api_mode"]}
        try:
            response = next_call()
        except BaseException as error:
            self._write({**row, "request": request, "error": _error(error)}, context, began)
            raise
        self._write({**row, "request": request, "response": response}, context, began)
        return response

    def tool_call(
        self, *, tool_name: str, args: dict[str, Any], result: str, status: str, **context: Any
    ) -> None:
        row = {"type": "tool", "tool": tool_name, "args": args, "result": result, "status": status}
        self._write(row, context, self._clock() - context["duration_ms"] / 1000)

    def _write(self, row: Mapping[str, Any], context: Mapping[str, Any], began: float) -> None:
        ids = {name: context[name] for name in _IDS if context.get(name)}
        times = {"began": began, "seconds": self._clock() - began}
        plain = self._private(msgspec.to_builtins({**row, "at": ids | times}, enc_hook=repr))
        self._journal.write(context["session_id"], plain)

    def _private(self, value: Any) -> Any:
        """The value without a secret in any of its texts."""
        match value:
            case str():
                return self._redact(value)
            case list():
                return [self._private(item) for item in value]
            case dict():
                return {name: self._private(item) for name, item in value.items()}
            case _:
                return value


def _error(error: BaseException) -> dict[str, str]:
    return {"type": type(error).__name__, "message": str(error)}
