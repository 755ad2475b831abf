"""MiniMax's two wires: Messages by default, and chat at its other address."""

from typing import Any

from hermes.protocols import Endpoint, Request
from hermes.providers.base.routes import changed, speaks_messages, tail


def by_address(endpoint: Endpoint) -> Endpoint:
    """The endpoint on the wire that its address has."""
    if speaks_messages(endpoint.base_url) or not endpoint.base_url.rstrip("/").endswith("/v1"):
        return endpoint
    chat = {"api_mode": "chat_completions", "models_path": "/models", "headers": {}, "caches": False}
    return changed(endpoint, **chat, quirks=_apart)


def _apart(body: dict[str, Any], request: Request) -> dict[str, Any]:
    """Thoughts come apart from the answer; the newest models think as much as they find right."""
    body = {**body, "reasoning_split": True}
    if request.effort is None or not tail(request.model).startswith("minimax-m3"):
        return body
    return {**body, "thinking": {"type": "disabled" if request.effort == "none" else "adaptive"}}
