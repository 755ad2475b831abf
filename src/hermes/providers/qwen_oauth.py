"""The Qwen portal, with an API key."""

from typing import Any

from hermes.protocols import Provider, Request


def _prepare(message: dict[str, Any]) -> dict[str, Any]:
    """The portal wants content in parts, and the end of the instructions marked for its cache."""
    content = message["content"]
    if not content or not isinstance(content, str):
        return message
    mark = {"cache_control": {"type": "ephemeral"}} if message["role"] == "system" else {}
    return {**message, "content": [{"type": "text", "text": content, **mark}]}


def _quirks(body: dict[str, Any], request: Request) -> dict[str, Any]:
    body = {**body, "vl_high_resolution_images": True}
    if not request.session_id:
        return body
    asked = sum(message.role == "user" for message in request.messages)
    ids = {"sessionId": request.session_id, "promptId": f"{request.session_id}-{asked}"}
    return {**body, "metadata": ids}


# An early sketch named the address `/api/v1` and put the metadata elsewhere; what shipped stands here.
PROVIDER = Provider(
    name="qwen-oauth",
    title="Qwen portal",
    api_mode="chat_completions",
    aliases=("qwen", "qwen-portal", "qwen-cli"),
    rank=19,
    base_url="https://portal.qwen.ai/v1",
    base_url_env=("QWEN_BASE_URL", "HERMES_QWEN_BASE_URL"),
    key_env=("QWEN_API_KEY",),
    default_model="qwen3-coder-plus",
    models=("qwen3-coder-plus",),
    max_tokens=65_536,
    late_system=False,
    prepare=_prepare,
    quirks=_quirks,
)
