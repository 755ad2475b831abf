"""OpenRouter: the models of most vendors, behind one key."""

import re
from typing import Any

from hermes.protocols import Endpoint, Provider, Request
from hermes.providers.base.routes import changed

_THINKS = re.compile(
    r"deepseek/|anthropic/|openai/|x-ai/|google/gemini-[2-9]|google/gemma-4|qwen/qwen3|tencent/hy3|xiaomi/"
)
_ADAPTIVE = re.compile(r"anthropic/claude-(opus|sonnet|haiku|fable|mythos)-(4[.-][6-9]|[5-9])")
"""Claude models that decide by themselves how long to think: the effort is said as verbosity."""
_MARKED = re.compile(r".*(claude|kimi)")
_DEVELOPED = re.compile(r"openai/(gpt-[5-9]|.*codex|o[134])")


def _quirks(body: dict[str, Any], request: Request) -> dict[str, Any]:
    body = {**body, **_thinking(request)}
    if request.session_id:
        body["session_id"] = request.session_id
        if request.model.startswith("x-ai/"):
            body["extra_headers"] = {"x-grok-conv-id": request.session_id}
    return body


def _thinking(request: Request) -> dict[str, Any]:
    if not _THINKS.match(request.model):
        return {}
    if _ADAPTIVE.match(request.model):
        said = "low" if request.effort == "minimal" else request.effort
        return {} if said in (None, "none") else {"verbosity": said}
    if request.effort == "none":
        return {"reasoning": {"enabled": False}}
    return {"reasoning": {"enabled": True, "effort": request.effort or "medium"}}


def _refine(endpoint: Endpoint) -> Endpoint:
    return changed(
        endpoint,
        caches=bool(_MARKED.match(endpoint.model)),
        system_role="developer" if _DEVELOPED.match(endpoint.model) else "system",
    )


PROVIDER = Provider(
    name="openrouter",
    title="OpenRouter",
    api_mode="chat_completions",
    aliases=("or",),
    rank=30,
    base_url="https://openrouter.ai/api/v1",
    base_url_env=("OPENROUTER_BASE_URL",),
    key_env=("OPENROUTER_API_KEY",),
    headers={"X-Title": "Hermes", "X-OpenRouter-Categories": "cli-agent"},
    default_model="anthropic/claude-sonnet-5.5",
    models=(
        "anthropic/claude-sonnet-5.5",
        "openai/gpt-6.1-sol",
        "google/gemini-3.8-flash",
        "x-ai/grok-4.7",
        "moonshotai/kimi-k3",
        "z-ai/glm-5.3",
    ),
    open_list=True,
    echoes=("reasoning_details",),
    quirks=_quirks,
    refine=_refine,
)
