"""xAI's Grok models, over its Responses API."""

from hermes.protocols import Provider

PROVIDER = Provider(
    name="xai",
    title="xAI",
    api_mode="codex_responses",
    aliases=("grok", "x-ai", "x.ai"),
    base_url="https://api.x.ai/v1",
    base_url_env=("XAI_BASE_URL",),
    key_env=("XAI_API_KEY",),
    default_model="grok-4.5",
    models=("grok-4.5", "grok-4.3", "grok-4.20-reasoning", "grok-4.20-non-reasoning"),
    caches=True,
)
