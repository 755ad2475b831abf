"""Fireworks' hosted open models."""

from hermes.protocols import Provider

PROVIDER = Provider(
    name="fireworks",
    title="Fireworks AI",
    api_mode="chat_completions",
    aliases=("fireworks-ai", "fw"),
    rank=23,
    base_url="https://api.fireworks.ai/inference/v1",
    base_url_env=("FIREWORKS_BASE_URL",),
    key_env=("FIREWORKS_API_KEY",),
    default_model="accounts/fireworks/models/glm-5p3",
    models=(
        "accounts/fireworks/models/glm-5p3",
        "accounts/fireworks/models/kimi-k3",
        "accounts/fireworks/models/deepseek-v4-pro",
        "accounts/fireworks/models/gpt-oss-120b",
    ),
    efforts=("none", "low", "medium", "high"),
)
