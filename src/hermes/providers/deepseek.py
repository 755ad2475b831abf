"""DeepSeek's own API."""

import re
from typing import Any

from hermes.protocols import Endpoint, Provider, Request
from hermes.providers.base.routes import changed, over_messages, speaks_messages, tail

_THINKS = re.compile(r"deepseek-(reasoner|flash|v([4-9]|\d\d))")
_SEES = re.compile(r"deepseek-(flash|v4\.[1-9]|v[5-9])")
_EFFORTS = {"minimal": "low", "xhigh": "max"}


def _quirks(body: dict[str, Any], request: Request) -> dict[str, Any]:
    if not _THINKS.match(tail(request.model)):
        return body
    if request.effort == "none":
        return {**body, "thinking": {"type": "disabled"}}
    effort = {"reasoning_effort": _EFFORTS.get(request.effort, request.effort)} if request.effort else {}
    return {**body, "thinking": {"type": "enabled"}, **effort}


def _refine(endpoint: Endpoint) -> Endpoint:
    if speaks_messages(endpoint.base_url):
        return over_messages(endpoint)
    return changed(endpoint, sees=bool(_SEES.match(tail(endpoint.model))))


PROVIDER = Provider(
    name="deepseek",
    title="DeepSeek",
    api_mode="chat_completions",
    aliases=("deepseek-chat",),
    rank=14,
    base_url="https://api.deepseek.com/v1",
    base_url_env=("DEEPSEEK_BASE_URL",),
    key_env=("DEEPSEEK_API_KEY",),
    default_model="deepseek-v4-pro",
    models=("deepseek-v4-pro", "deepseek-v4-flash"),
    output="json_object",
    sees=False,
    echoes=("reasoning_content",),
    quirks=_quirks,
    refine=_refine,
)
