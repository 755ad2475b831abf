"""MiniMax's models, at its address in China, over the Messages wire."""

from hermes.protocols import Provider
from hermes.providers.base.minimax import by_address
from hermes.providers.base.routes import MESSAGES_HEADERS

PROVIDER = Provider(
    name="minimax-cn",
    title="MiniMax (China)",
    api_mode="anthropic_messages",
    aliases=("minimax-china",),
    rank=18,
    base_url="https://api.minimaxi.com/anthropic",
    base_url_env=("MINIMAX_CN_BASE_URL",),
    key_env=("MINIMAX_CN_API_KEY",),
    headers=MESSAGES_HEADERS,
    default_model="MiniMax-M3",
    models=("MiniMax-M3", "MiniMax-M3.1-Flash", "MiniMax-M2.7"),
    models_path="/v1/models",
    max_tokens=131_072,
    caches=True,
    refine=by_address,
)
