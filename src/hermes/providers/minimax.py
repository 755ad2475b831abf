"""MiniMax's models, over the Messages wire."""

from hermes.protocols import Provider
from hermes.providers.base.minimax import by_address
from hermes.providers.base.routes import MESSAGES_HEADERS

PROVIDER = Provider(
    name="minimax",
    title="MiniMax",
    api_mode="anthropic_messages",
    aliases=("mini-max",),
    rank=18,
    base_url="https://api.minimax.io/anthropic",
    base_url_env=("MINIMAX_BASE_URL",),
    key_env=("MINIMAX_API_KEY",),
    headers=MESSAGES_HEADERS,
    default_model="MiniMax-M3",
    models=("MiniMax-M3", "MiniMax-M3.1-Flash", "MiniMax-M2.7"),
    models_path="/v1/models",
    max_tokens=131_072,
    caches=True,
    refine=by_address,
)
