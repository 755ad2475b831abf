"""How Kimi models are told to think, at each of their maker's addresses."""

from typing import Any

from hermes.protocols import Request


def thinking(body: dict[str, Any], request: Request) -> dict[str, Any]:
    """Either an effort or the switch: the API refuses both at once."""
    if request.effort in ("low", "medium", "high"):
        return {**body, "reasoning_effort": request.effort}
    return {**body, "thinking": {"type": "disabled" if request.effort == "none" else "enabled"}}
