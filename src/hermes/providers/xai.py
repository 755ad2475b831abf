"""xAI's Grok models, over its Responses API."""

import re
from typing import Any

from hermes.protocols import Effort, Provider, Request
from hermes.providers.base.routes import tail
from hermes.providers.base.schemas import without_paths
from hermes.transports.base import nearest_effort

_EFFORTS: tuple[tuple[re.Pattern[str], tuple[Effort, ...]], ...] = (
    (re.compile(r"grok-3-mini"), ("low", "high")),
    (re.compile(r"grok-4\.3"), ("none", "low", "medium", "high")),
    (re.compile(r"grok-4\.[4-9]|grok-4\.20-multi-agent"), ("low", "medium", "high")),
)
"""The models that take an effort; every other one refuses the field."""


def _quirks(body: dict[str, Any], request: Request) -> dict[str, Any]:
    body = {key: value for key, value in body.items() if key not in ("reasoning", "service_tier")}
    efforts = next((known for pattern, known in _EFFORTS if pattern.match(tail(request.model))), None)
    if request.effort and efforts:
        body["reasoning"] = {"effort": nearest_effort(request.effort, efforts), "summary": "auto"}
    if "tools" in body:
        body["tools"] = [_native(tool) for tool in body["tools"]]
    if request.session_id:
        body["extra_headers"] = {"x-grok-conv-id": request.session_id}
    return body


def _native(tool: dict[str, Any]) -> dict[str, Any]:
    """xAI keeps the name `web_search` for the search on its own side, and refuses a function of that name."""
    return {"type": "web_search"} if tool.get("name") == "web_search" else tool


PROVIDER = Provider(
    name="xai",
    title="xAI",
    api_mode="codex_responses",
    aliases=("grok", "x-ai", "x.ai"),
    rank=12,
    base_url="https://api.x.ai/v1",
    base_url_env=("XAI_BASE_URL",),
    key_env=("XAI_API_KEY",),
    default_model="grok-4.7",
    models=("grok-4.7", "grok-4.6", "grok-4.5", "grok-4.3"),
    caches=True,
    dialect=without_paths,
    quirks=_quirks,
)
