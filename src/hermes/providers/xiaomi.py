"""Xiaomi's MiMo models."""

from hermes.protocols import Provider

PROVIDER = Provider(
    name="xiaomi",
    title="Xiaomi MiMo",
    api_mode="chat_completions",
    aliases=("mimo",),
    rank=24,
    base_url="https://api.xiaomimimo.com/v1",
    base_url_env=("XIAOMI_BASE_URL",),
    key_env=("XIAOMI_API_KEY",),
    default_model="mimo-v2.6-pro",
    models=("mimo-v2.6-pro", "mimo-v2.6-flash", "mimo-v2.5-pro"),
    # The list of models is not to be relied on.
    models_path="",
    echoes=("reasoning_content",),
)
