"""Any server that speaks chat completions: a base URL, a model name, and a key if it wants one."""

from hermes.protocols import Provider

PROVIDER = Provider(
    name="custom",
    title="Custom (OpenAI-compatible)",
    api_mode="chat_completions",
    aliases=("openai-compatible",),
    base_url_env=("CUSTOM_BASE_URL",),
    key_env=("CUSTOM_API_KEY",),
    key_required=False,
)
