"""Nous Research's inference API."""

import re
from typing import Any

from hermes.protocols import Endpoint, Provider, Request
from hermes.providers.base.routes import changed

_MARKED = re.compile(r".*(claude|kimi|qwen)")


def _quirks(body: dict[str, Any], request: Request) -> dict[str, Any]:
    conversation = [f"conversation={request.session_id}"] if request.session_id else []
    body = {**body, "tags": ["product=hermes", *conversation]}
    if request.effort == "none":
        return body
    return {**body, "reasoning": {"enabled": True, "effort": request.effort or "medium"}}


def _refine(endpoint: Endpoint) -> Endpoint:
    return changed(endpoint, caches=bool(_MARKED.match(endpoint.model.lower())))


PROVIDER = Provider(
    name="nous",
    title="Nous Research",
    api_mode="chat_completions",
    aliases=("nous-portal", "nousresearch"),
    rank=31,
    base_url="https://inference-api.nousresearch.com/v1",
    base_url_env=("NOUS_BASE_URL",),
    key_env=("NOUS_API_KEY",),
    default_model="Hermes-4-405B",
    models=("Hermes-4-405B", "Hermes-4-70B"),
    echoes=("reasoning_details",),
    quirks=_quirks,
    refine=_refine,
)
