"""Alibaba Cloud Model Studio (DashScope), at its international address."""

from typing import Any

from hermes.protocols import Endpoint, Provider, Request
from hermes.providers.base.routes import changed, tail


def _quirks(body: dict[str, Any], request: Request) -> dict[str, Any]:
    if request.effort is None or not tail(request.model).startswith("qwen"):
        return body
    return {**body, "enable_thinking": request.effort != "none"}


def _refine(endpoint: Endpoint) -> Endpoint:
    return changed(endpoint, caches=tail(endpoint.model).startswith("qwen"))


PROVIDER = Provider(
    name="alibaba",
    title="Alibaba Cloud (DashScope)",
    api_mode="chat_completions",
    aliases=("dashscope", "alibaba-cloud", "qwen-dashscope"),
    rank=20,
    base_url="https://dashscope-intl.aliyuncs.com/compatible-mode/v1",
    base_url_env=("DASHSCOPE_BASE_URL",),
    key_env=("DASHSCOPE_API_KEY",),
    default_model="qwen-plus",
    models=("qwen-plus", "qwen-max", "qwen-flash"),
    output="json_object",
    quirks=_quirks,
    refine=_refine,
)
