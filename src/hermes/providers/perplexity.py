"""Perplexity's Sonar models, which search by themselves and take no tools."""

from typing import Any

from hermes.protocols import Endpoint, Provider, Request
from hermes.providers.base.routes import changed, tail


def _quirks(body: dict[str, Any], _request: Request) -> dict[str, Any]:
    return {key: value for key, value in body.items() if key not in ("tools", "tool_choice")}


def _prepare(message: dict[str, Any]) -> dict[str, Any]:
    """Calls that another model made, and their results, are told in words."""
    if message["role"] == "tool":
        return {"role": "user", "content": f"The result of a tool:\n{message['content']}"}
    if "tool_calls" in message:
        names = ", ".join(call["function"]["name"] for call in message["tool_calls"])
        return {"role": "assistant", "content": message["content"] or f"(called {names})"}
    return message


def _refine(endpoint: Endpoint) -> Endpoint:
    takes_effort = "deep-research" in tail(endpoint.model)
    return changed(endpoint, efforts=("minimal", "low", "medium", "high") if takes_effort else ())


PROVIDER = Provider(
    name="perplexity",
    title="Perplexity",
    api_mode="chat_completions",
    aliases=("pplx",),
    rank=33,
    base_url="https://api.perplexity.ai",
    base_url_env=("PERPLEXITY_BASE_URL",),
    key_env=("PERPLEXITY_API_KEY",),
    default_model="sonar-pro",
    models=("sonar-pro", "sonar", "sonar-reasoning-pro", "sonar-deep-research"),
    models_path="",
    late_system=False,
    stream_usage=False,
    prepare=_prepare,
    quirks=_quirks,
    refine=_refine,
)
