"""The guardrail against a model that repeats itself: warned first, then, where that is set, stopped.

Pure: it counts what it is told of and says what follows. Whoever runs the calls acts on it.
"""

from collections import Counter
from collections.abc import Mapping
from typing import Any, Literal

import msgspec

from hermes.agent.digest import digest
from hermes.protocols import Effect, ToolResult

Code = Literal["repeated_exact_failure_block", "same_tool_failure_halt", "idempotent_no_progress_block"]

_NOW = "Change the plan, or say what is in the way."


class Thresholds(msgspec.Struct, frozen=True, kw_only=True):
    """How often something may happen in one turn before it is said, and before it is stopped."""

    warnings_enabled: bool = True
    hard_stop_enabled: bool = False
    exact_failure_warn_after: int = 2
    same_tool_failure_warn_after: int = 3
    no_progress_warn_after: int = 2
    exact_failure_block_after: int = 5
    same_tool_failure_halt_after: int = 8
    no_progress_block_after: int = 5


USUAL = Thresholds()


class Blocked(msgspec.Struct, frozen=True):
    """A hard stop: `block` stands in place of a call, `halt` follows one that was run; both end the turn."""

    action: Literal["block", "halt"]
    code: Code
    message: str
    tool_name: str
    count: int
    signature: str

    def payload(self) -> str:
        """The result that stands in place of the call."""
        return msgspec.json.encode({"error": self.message, "guardrail": self}).decode()


class Guardrail:
    """Counts the calls of one turn. `stopped` is the hard stop that ends the turn, once there is one."""

    def __init__(self, thresholds: Thresholds = USUAL) -> None:
        self._thresholds = thresholds
        self._failed_calls: Counter[str] = Counter()
        self._failed_tools: Counter[str] = Counter()
        self._unchanged: dict[str, tuple[str, int]] = {}
        self.stopped: Blocked | None = None

    def before(self, tool: str, arguments: Mapping[str, Any]) -> Blocked | None:
        """Why a call is not run: it has failed, or given the same, too often."""
        limits = self._thresholds
        if not limits.hard_stop_enabled:
            return None
        signature = digest(tool, arguments)
        failed, same = self._failed_calls[signature], self._unchanged.get(signature, ("", 0))[1]
        if failed >= limits.exact_failure_block_after:
            message = (
                f"`{tool}` has failed {failed} times with the same arguments; it is not run again. {_NOW}"
            )
            self.stopped = Blocked("block", "repeated_exact_failure_block", message, tool, failed, signature)
        elif same >= limits.no_progress_block_after:
            message = f"`{tool}` has given the same result {same} times; it is not run again. {_NOW}"
            self.stopped = Blocked("block", "idempotent_no_progress_block", message, tool, same, signature)
        else:
            return None
        return self.stopped

    def after(
        self, tool: str, arguments: Mapping[str, Any], result: ToolResult, effect: Effect
    ) -> str | None:
        """Take note of a result, as the tool gave it; returns a line to append to it, or None."""
        signature = digest(tool, arguments)
        warning = (
            self._note_failure(tool, signature)
            if result.is_error
            else self._note_success(tool, signature, result.text, effect)
        )
        return f"[loop warning: {warning}]" if warning and self._thresholds.warnings_enabled else None

    def _note_failure(self, tool: str, signature: str) -> str | None:
        limits = self._thresholds
        self._failed_calls[signature] += 1
        self._failed_tools[tool] += 1
        same, all_told = self._failed_calls[signature], self._failed_tools[tool]
        if limits.hard_stop_enabled and all_told >= limits.same_tool_failure_halt_after:
            message = f"`{tool}` has failed {all_told} times in this turn. {_NOW}"
            self.stopped = Blocked("halt", "same_tool_failure_halt", message, tool, all_told, signature)
        if same >= limits.exact_failure_warn_after:
            return f"this call has failed {same} times with the same arguments. {_NOW}"
        if all_told >= limits.same_tool_failure_warn_after:
            return f"`{tool}` has failed {all_told} times in this turn. {_NOW}"
        return None

    def _note_success(self, tool: str, signature: str, text: str, effect: Effect) -> str | None:
        del self._failed_calls[signature], self._failed_tools[tool]
        if effect == "changes":
            # What is read after a change is news, even if it looks the same.
            self._unchanged.clear()
            return None
        seen, times = self._unchanged.get(signature, ("", 0))
        fingerprint = digest(tool, {"result": text})
        times = times + 1 if fingerprint == seen else 1
        self._unchanged[signature] = fingerprint, times
        if times < self._thresholds.no_progress_warn_after:
            return None
        return f"this call has given the same result {times} times. Use what you have, or change the plan."
