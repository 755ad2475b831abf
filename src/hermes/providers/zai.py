"""Z.ai's GLM models."""

import re
from typing import Any

from hermes.protocols import Provider, Request
from hermes.providers.base.routes import tail

_VERSION = re.compile(r"glm-(\d+)(?:[.p-](\d+)(?![\db]))?")
"""A second number that counts parameters, as in `glm-4-9b`, is no part of the version."""
_THINKS_SINCE, _EFFORT_SINCE = (4, 5), (5, 2)


def _quirks(body: dict[str, Any], request: Request) -> dict[str, Any]:
    """Thinking is spoken of only when somebody asked for it, or for none."""
    found = _VERSION.match(tail(request.model))
    version = (int(found[1]), int(found[2] or 0)) if found else (0, 0)
    if request.effort is None or version < _THINKS_SINCE:
        return body
    if request.effort == "none":
        return {**body, "thinking": {"type": "disabled"}}
    body = {**body, "thinking": {"type": "enabled"}}
    if version >= _EFFORT_SINCE:
        body["reasoning_effort"] = "max" if request.effort in ("xhigh", "max") else "high"
    return body


PROVIDER = Provider(
    name="zai",
    title="Z.ai",
    api_mode="chat_completions",
    aliases=("glm", "z-ai", "z.ai", "zhipu"),
    rank=17,
    base_url="https://api.z.ai/api/paas/v4",
    base_url_env=("GLM_BASE_URL", "ZAI_BASE_URL"),
    key_env=("GLM_API_KEY", "ZAI_API_KEY", "Z_AI_API_KEY"),
    default_model="glm-5.3",
    models=("glm-5.3", "glm-5.3-flash", "glm-5.2", "glm-4.7"),
    output="json_object",
    codes={"1305": 503},
    quirks=_quirks,
)
