"""The words that plugins rely on: kinds of middleware, hooks, schema versions."""

from typing import Literal

OBSERVER_SCHEMA = "hermes.observer.v1"
MIDDLEWARE_SCHEMA = "hermes.middleware.v1"

RequestKind = Literal["llm_request", "tool_request"]
ExecutionKind = Literal["llm_execution", "tool_execution"]

PAYLOADS = {
    "llm_request": "request",
    "llm_execution": "request",
    "tool_request": "args",
    "tool_execution": "args",
}
"""Each kind of middleware with the name of its payload; the untouched one is `original_` and that name."""

STREAM = "stream"
"""Told every piece of an answer as it arrives, and may give another in its place."""

MIDDLEWARE = frozenset({*PAYLOADS, STREAM})

HOOKS = frozenset(
    {
        "pre_tool_call",
        "post_tool_call",
        "transform_tool_result",
        "transform_terminal_output",
        "pre_llm_call",
        "transform_llm_output",
        "post_llm_call",
        "pre_verify",
        "pre_api_request",
        "post_api_request",
        "api_request_error",
        "on_session_start",
        "on_session_end",
        "on_session_finalize",
        "on_session_reset",
        "subagent_start",
        "subagent_stop",
        "pre_gateway_dispatch",
        "pre_approval_request",
        "post_approval_response",
        "kanban_task_claimed",
        "kanban_task_completed",
        "kanban_task_blocked",
    }
)
