"""OpenAI, over its Responses API."""

from hermes.protocols import Provider

PROVIDER = Provider(
    name="openai",
    title="OpenAI",
    api_mode="codex_responses",
    aliases=("openai-api",),
    rank=11,
    base_url="https://api.openai.com/v1",
    base_url_env=("OPENAI_BASE_URL",),
    key_env=("OPENAI_API_KEY",),
    default_model="gpt-6.1-sol",
    models=("gpt-6.1-sol", "gpt-6-astra", "gpt-6-luna", "gpt-5.6-sol", "gpt-5.5"),
    caches=True,
)
