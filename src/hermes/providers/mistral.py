"""Mistral's own API."""

import re
from hashlib import sha256
from typing import Any

from hermes.protocols import Endpoint, Provider
from hermes.providers.base.routes import changed, tail

_LEGAL_ID = re.compile(r"[a-zA-Z0-9]{9}")
_THINKS = re.compile(r"mistral-(small|medium)")


def _prepare(message: dict[str, Any]) -> dict[str, Any]:
    """Ids of calls have nine letters and digits."""
    if "tool_calls" in message:
        calls = [{**call, "id": _legal(call["id"])} for call in message["tool_calls"]]
        return {**message, "tool_calls": calls}
    if "tool_call_id" in message:
        return {**message, "tool_call_id": _legal(message["tool_call_id"])}
    return message


def _legal(id: str) -> str:
    return id if _LEGAL_ID.fullmatch(id) else sha256(id.encode(errors="replace")).hexdigest()[:9]


def _refine(endpoint: Endpoint) -> Endpoint:
    return changed(endpoint, efforts=("none", "high") if _THINKS.match(tail(endpoint.model)) else ())


PROVIDER = Provider(
    name="mistral",
    title="Mistral",
    api_mode="chat_completions",
    aliases=("mistral-ai",),
    rank=15,
    base_url="https://api.mistral.ai/v1",
    base_url_env=("MISTRAL_BASE_URL",),
    key_env=("MISTRAL_API_KEY",),
    default_model="mistral-medium-latest",
    models=("mistral-medium-latest", "mistral-large-latest", "mistral-small-latest"),
    user_after_tool=False,
    # Streams report their tokens unasked, and the option that asks for it is refused.
    stream_usage=False,
    prepare=_prepare,
    refine=_refine,
)
