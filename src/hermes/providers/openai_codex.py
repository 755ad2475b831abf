"""OpenAI's coding models, with an API key, over the public Responses API."""

from hashlib import sha256
from typing import Any

from hermes.protocols import Provider, Request

_LONGEST_ID = 64


def _quirks(body: dict[str, Any], request: Request) -> dict[str, Any]:
    """No limit of output tokens; what belongs to one session goes to one machine."""
    body = {key: value for key, value in body.items() if key != "max_output_tokens"}
    if not request.session_id:
        return body
    id = request.session_id
    if len(id) > _LONGEST_ID:
        id = sha256(id.encode(errors="replace")).hexdigest()
    return {**body, "extra_headers": {"session_id": id, "x-client-request-id": id}}


# The coding backend behind a ChatGPT login wants that product's own client: it is not offered here.
PROVIDER = Provider(
    name="openai-codex",
    title="OpenAI Codex",
    api_mode="codex_responses",
    aliases=("codex", "openai_codex"),
    rank=0,
    base_url="https://api.openai.com/v1",
    base_url_env=("CODEX_BASE_URL",),
    key_env=("CODEX_API_KEY",),
    default_model="gpt-5.3-codex",
    models=("gpt-5.3-codex", "gpt-5.1-codex-mini"),
    caches=True,
    quirks=_quirks,
)
