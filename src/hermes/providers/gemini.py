"""Google's Gemini models, over their OpenAI-compatible endpoint."""

import re
from typing import Any

from hermes.protocols import Effort, Provider, Request
from hermes.providers.base.routes import tail
from hermes.transports.base import nearest_effort

_LEVELS: tuple[tuple[re.Pattern[str], tuple[Effort, ...]], ...] = (
    (re.compile(r"gemini-[3-9].*flash"), ("low", "medium", "high")),
    (re.compile(r"gemini-[3-9]"), ("low", "high")),
)
"""How hard a model can be asked to think. Older ones are only asked to show what they thought."""


def _quirks(body: dict[str, Any], request: Request) -> dict[str, Any]:
    """Only models named Gemini know the field `extra_body`: Gemma refuses it."""
    name = tail(request.model)
    if request.effort is None or not name.startswith("gemini"):
        return body
    config: dict[str, Any] = {"include_thoughts": request.effort != "none"}
    levels = next((levels for pattern, levels in _LEVELS if pattern.match(name)), ())
    if request.effort != "none" and levels:
        config["thinking_level"] = nearest_effort(request.effort, levels)
    return {**body, "extra_body": {"extra_body": {"google": {"thinking_config": config}}}}


PROVIDER = Provider(
    name="gemini",
    title="Google Gemini",
    api_mode="chat_completions",
    aliases=("google", "google-gemini", "google-ai-studio"),
    rank=13,
    base_url="https://generativelanguage.googleapis.com/v1beta/openai",
    base_url_env=("GEMINI_BASE_URL",),
    key_env=("GOOGLE_API_KEY", "GEMINI_API_KEY"),
    default_model="gemini-3.8-flash",
    models=("gemini-3.8-flash", "gemini-4-argon", "gemini-3.1-pro-preview", "gemini-2.5-flash"),
    quirks=_quirks,
)
