"""Together's hosted open models."""

import re
from typing import Any

from hermes.protocols import Endpoint, Provider, Request
from hermes.providers.base.routes import changed, tail

_SWITCHED = re.compile(r"deepseek-v|glm-|kimi-k|qwen3")
"""Models that think or not, as they are told."""


def _quirks(body: dict[str, Any], request: Request) -> dict[str, Any]:
    if request.effort is None or not _SWITCHED.match(tail(request.model)):
        return body
    return {**body, "reasoning": {"enabled": request.effort != "none"}}


def _refine(endpoint: Endpoint) -> Endpoint:
    is_open_gpt = tail(endpoint.model).startswith("gpt-oss")
    return changed(endpoint, efforts=("low", "medium", "high") if is_open_gpt else ())


PROVIDER = Provider(
    name="together",
    title="Together AI",
    api_mode="chat_completions",
    aliases=("together-ai", "togetherai"),
    rank=22,
    base_url="https://api.together.xyz/v1",
    base_url_env=("TOGETHER_BASE_URL",),
    key_env=("TOGETHER_API_KEY",),
    default_model="zai-org/GLM-5.3",
    models=(
        "zai-org/GLM-5.3",
        "moonshotai/Kimi-K3",
        "deepseek-ai/DeepSeek-V4-Pro-0813",
        "openai/gpt-oss-120b",
    ),
    quirks=_quirks,
    refine=_refine,
)
