"""Requests to models, whatever their wire: what a person, a tool or a model said is cleaned, nothing else."""

from collections.abc import Callable, Mapping
from typing import Any

Clean = Callable[[str], str]

_SAID = frozenset({"messages", "input", "system", "instructions"})
_KEPT = frozenset(
    {
        "role", "type", "id", "name", "status", "format", "media_type", "detail", "cache_control",
        "tool_call_id", "tool_use_id", "call_id", "toolUseId", "signature", "encrypted_content",
        "redactedContent", "data", "bytes", "image_url", "source",
    }
)  # fmt: skip
"""Fields that a wire reads itself, and opaque ones, which must come back as they were."""


def cleaned(request: Mapping[str, Any], clean: Clean) -> dict[str, Any]:
    """The request with every text of the conversation cleaned."""
    return {name: _value(value, clean) if name in _SAID else value for name, value in request.items()}


def _value(value: Any, clean: Clean) -> Any:
    match value:
        case str():
            return clean(value)
        case list():
            return [_value(item, clean) for item in value]
        case {"signature": _}:
            return value  # signed words cannot be changed
        case dict():
            return {name: item if name in _KEPT else _value(item, clean) for name, item in value.items()}
        case _:
            return value
