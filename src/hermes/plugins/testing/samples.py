"""Payloads as Hermes makes them, one for each kind of middleware and each hook."""

from typing import Any

IDS = {"task_id": "task", "session_id": "session", "turn_id": "turn", "api_request_id": "turn:api:1"}
NO_IDS = dict.fromkeys(IDS, "")
MODEL = {"platform": "cli", "model": "model", "provider": "custom", "api_mode": "chat_completions"}
CALL = {"base_url": "http://127.0.0.1/v1", "api_call_count": 1, "attempt": 1}
TRACE: dict[str, Any] = {"middleware_trace": [], "middleware_events": []}
MESSAGES = [{"role": "user", "content": "question"}]

ARGUMENTS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("terminal", {"command": "ls"}),
    ("read_file", {"path": "notes.txt"}),
    ("web_search", {"query": "news", "limit": 5}),
    ("a_tool_nobody_knows", {}),
)
REQUESTS: tuple[dict[str, Any], ...] = (
    {"model": "model", "messages": MESSAGES, "tools": [], "stream": True},
    {"model": "model", "input": [{"role": "user", "content": "question"}], "store": False},
    {"model": "model", "messages": [], "extra_body": None},
)


def context(kind: str, *, with_ids: bool = True) -> dict[str, Any]:
    """The context that callbacks of a kind get beside their payload."""
    ids = IDS if with_ids else NO_IDS
    if kind.startswith("llm_"):
        return {**ids, **MODEL, **CALL}
    return {**ids, "tool_call_id": "call" if with_ids else ""}


def hook(name: str) -> list[dict[str, Any]]:
    """Payloads of a hook: with ids and, where they may be empty, without."""
    told = KNOWN.get(name)
    if told is None:
        return [{**IDS}]
    return [{**told, **IDS}, {**told, **NO_IDS}] if set(IDS) & set(told) else [told]


_TOOL = {"tool_name": "terminal", "args": {"command": "ls"}, "tool_call_id": "call", **IDS}
_FRAME = {"plugin": "demo", "callback": "wrap", "after_ms": 0.1, "duration_ms": 0.8, "own_ms": 0.2}
_FRAMES = {"middleware_frames": [_FRAME]}
_DONE = {"result": "ok", "duration_ms": 1, "status": "ok", "error_type": "", "error_message": "", **_FRAMES}
_ASKED = {
    "command": "rm -r build",
    "description": "deletes files",
    "pattern_key": "recursive delete",
    "pattern_keys": ["recursive delete"],
    "session_key": "session",
    "surface": "cli",
    "turn_id": "turn",
    "tool_call_id": "call",
}
_TIMES = {"api_duration": 0.1, "started_at": 1.0, "ended_at": 1.1, **_FRAMES}
_SHOWN = {"method": "POST", "body": REQUESTS[0]}
_TURN = {"model": "model", "platform": "cli"}
_SESSION = {"session_id": "session", **_TURN}

KNOWN: dict[str, dict[str, Any]] = {
    "pre_tool_call": {**_TOOL, **TRACE},
    "post_tool_call": {**_TOOL, **_DONE, **TRACE},
    "transform_tool_result": {**_TOOL, **_DONE, **TRACE},
    "transform_terminal_output": {
        "command": "ls",
        "output": "a\n",
        "returncode": 0,
        "task_id": "task",
        "env_type": "local",
    },
    "pre_llm_call": {
        **IDS,
        **_TURN,
        "user_message": "question",
        "conversation_history": MESSAGES,
        "is_first_turn": True,
        "sender_id": "",
    },
    "transform_llm_output": {**_SESSION, "response_text": "answer"},
    "post_llm_call": {
        **IDS,
        **_TURN,
        "user_message": "question",
        "assistant_response": "answer",
        "conversation_history": MESSAGES,
    },
    "pre_verify": {
        **_SESSION,
        "coding": True,
        "attempt": 0,
        "final_response": "done",
        "changed_paths": ["notes.txt"],
    },
    "pre_api_request": {
        **IDS,
        **MODEL,
        **CALL,
        **TRACE,
        "user_message": "question",
        "conversation_history": MESSAGES,
        "request_messages": MESSAGES,
        "message_count": 1,
        "tool_count": 0,
        "approx_input_tokens": 10,
        "request_char_count": 40,
        "max_tokens": None,
        "started_at": 1.0,
        "request": _SHOWN,
    },
    "post_api_request": {
        **IDS,
        **MODEL,
        **CALL,
        **TRACE,
        **_TIMES,
        "finish_reason": "stop",
        "message_count": 1,
        "response_model": "model",
        "response": {"content": "answer", "finish_reason": "stop"},
        "usage": None,
        "cost": None,
        "assistant_message": {"role": "assistant", "content": "answer"},
        "assistant_content_chars": 6,
        "assistant_tool_call_count": 0,
        "request": _SHOWN,
    },
    "api_request_error": {
        **IDS,
        **MODEL,
        **CALL,
        **TRACE,
        **_TIMES,
        "status_code": None,
        "retry_count": 0,
        "max_retries": 2,
        "retryable": True,
        "reason": "connect_failed",
        "error": {"type": "ConnectFailed", "message": "nobody answers"},
        "request": _SHOWN,
    },
    "on_session_start": _SESSION,
    "on_session_end": {**IDS, **_TURN, "completed": True, "interrupted": False},
    "on_session_finalize": _SESSION,
    "on_session_reset": _SESSION,
    "subagent_start": {
        "parent_session_id": "session",
        "parent_turn_id": "turn",
        "parent_subagent_id": "",
        "child_session_id": "child",
        "child_subagent_id": "child",
        "child_role": "reader",
        "child_goal": "read",
    },
    "subagent_stop": {
        "parent_session_id": "session",
        "parent_turn_id": "turn",
        "child_session_id": "child",
        "child_role": "reader",
        "child_summary": "read",
        "child_status": "done",
        "duration_ms": 1,
    },
    "pre_approval_request": _ASKED,
    "post_approval_response": {**_ASKED, "choice": "once"},
}
