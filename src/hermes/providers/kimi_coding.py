"""Moonshot's Kimi models; a key of the coding plan goes to that plan's own address and wire."""

import msgspec

from hermes.protocols import Endpoint, Provider
from hermes.providers.base.kimi import thinking
from hermes.providers.base.routes import over_messages, speaks_messages
from hermes.providers.base.schemas import kimi_schema

_CODING_PLAN, _PLAN_MODEL = "https://api.kimi.com/coding", "kimi-for-coding"


def _refine(endpoint: Endpoint) -> Endpoint:
    has_plan = endpoint.api_key is not None and endpoint.api_key.reveal().startswith("sk-kimi-")
    if has_plan and endpoint.base_url == PROVIDER.base_url:
        model = _PLAN_MODEL if endpoint.model == PROVIDER.default_model else endpoint.model
        endpoint = msgspec.structs.replace(endpoint, base_url=_CODING_PLAN, model=model)
    is_plan = endpoint.base_url.rstrip("/").removesuffix("/v1").endswith("/coding")
    if is_plan or speaks_messages(endpoint.base_url):
        return over_messages(endpoint, dialect=kimi_schema)
    return endpoint


# An early sketch named `https://api.kimi.com/v1` and a temperature of 0.6; what shipped stands here.
PROVIDER = Provider(
    name="kimi-coding",
    title="Kimi (Moonshot)",
    api_mode="chat_completions",
    aliases=("kimi", "moonshot", "kimi-for-coding"),
    rank=16,
    base_url="https://api.moonshot.ai/v1",
    base_url_env=("KIMI_BASE_URL",),
    key_env=("KIMI_API_KEY", "KIMI_CODING_API_KEY", "MOONSHOT_API_KEY"),
    default_model="kimi-k3",
    models=("kimi-k3", "kimi-k3.1-pro", "kimi-k2.7-code", "kimi-k2.6"),
    max_tokens=32_000,
    temperature="omit",
    echoes=("reasoning_content",),
    dialect=kimi_schema,
    quirks=thinking,
    refine=_refine,
)
