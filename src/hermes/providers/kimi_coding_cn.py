"""Moonshot's Kimi models, at its address in China."""

from hermes.protocols import Provider
from hermes.providers.base.kimi import thinking
from hermes.providers.base.schemas import kimi_schema

PROVIDER = Provider(
    name="kimi-coding-cn",
    title="Kimi (Moonshot, China)",
    api_mode="chat_completions",
    aliases=("kimi-cn", "moonshot-cn"),
    rank=16,
    base_url="https://api.moonshot.cn/v1",
    base_url_env=("KIMI_CN_BASE_URL",),
    key_env=("KIMI_CN_API_KEY",),
    default_model="kimi-k3",
    models=("kimi-k3", "kimi-k3.1-pro", "kimi-k2.7-code", "kimi-k2.6"),
    max_tokens=32_000,
    temperature="omit",
    echoes=("reasoning_content",),
    dialect=kimi_schema,
    quirks=thinking,
)
