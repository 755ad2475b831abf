"""Groq's hosted open models."""

from typing import Any

from hermes.protocols import Endpoint, Provider, Request
from hermes.providers.base.routes import changed, tail


def _quirks(body: dict[str, Any], request: Request) -> dict[str, Any]:
    """Qwen models are asked to keep their thoughts apart, and know thinking only as on or off."""
    if not tail(request.model).startswith("qwen"):
        return body
    effort = {"reasoning_effort": "none" if request.effort == "none" else "default"} if request.effort else {}
    return {**body, "reasoning_format": "parsed", **effort}


def _refine(endpoint: Endpoint) -> Endpoint:
    is_open_gpt = tail(endpoint.model).startswith("gpt-oss")
    return changed(endpoint, efforts=("low", "medium", "high") if is_open_gpt else ())


PROVIDER = Provider(
    name="groq",
    title="Groq",
    api_mode="chat_completions",
    rank=21,
    base_url="https://api.groq.com/openai/v1",
    base_url_env=("GROQ_BASE_URL",),
    key_env=("GROQ_API_KEY",),
    default_model="openai/gpt-oss-120b",
    models=("openai/gpt-oss-120b", "openai/gpt-oss-20b", "qwen/qwen3.8-27b", "llama-3.3-70b-versatile"),
    max_tokens_key="max_completion_tokens",
    quirks=_quirks,
    refine=_refine,
)
