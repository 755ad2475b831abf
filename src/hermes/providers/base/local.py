"""What servers of one's own have in common: a switch for thinking, and a window they are told of."""

from functools import partial
from typing import Any

from hermes.protocols import Endpoint, Request
from hermes.providers.base.routes import changed


def quiet(body: dict[str, Any], request: Request, *, window: int | None = None) -> dict[str, Any]:
    """The fields with both words for no thinking, since servers know one or the other, and the window."""
    if request.effort == "none":
        body = {**body, "reasoning_effort": "none", "think": False}
    return {**body, "options": {"num_ctx": window}} if window else body


def told_window(endpoint: Endpoint) -> Endpoint:
    """The endpoint whose server is told the context window, where one is set."""
    window = endpoint.provider.context_window
    return changed(endpoint, quirks=partial(quiet, window=window)) if window else endpoint
