"""Ollama's hosted models, with a key; the server on one's own machine is `ollama`."""

from typing import Any

from hermes.protocols import Provider, Request

_EFFORTS = {"none": "none", "low": "low", "medium": "medium", "high": "high", "xhigh": "max", "max": "max"}


def _quirks(body: dict[str, Any], request: Request) -> dict[str, Any]:
    effort = _EFFORTS.get(request.effort or "")
    return {**body, "reasoning_effort": effort} if effort else body


PROVIDER = Provider(
    name="ollama-cloud",
    title="Ollama Cloud",
    api_mode="chat_completions",
    aliases=("ollama_cloud",),
    rank=25,
    base_url="https://ollama.com/v1",
    base_url_env=("OLLAMA_CLOUD_BASE_URL",),
    key_env=("OLLAMA_API_KEY",),
    default_model="gpt-oss:120b",
    models=("gpt-oss:120b", "nemotron-3-nano:30b"),
    quirks=_quirks,
)
