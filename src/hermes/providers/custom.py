"""Any server that speaks chat completions: a base URL, a model name, and a key if it wants one.

An address that ends in `/anthropic` is called over the Messages wire.
"""

from hermes.protocols import Endpoint, Provider
from hermes.providers.base.local import quiet, told_window
from hermes.providers.base.routes import over_messages, speaks_messages
from hermes.transports.base import EFFORTS


def _refine(endpoint: Endpoint) -> Endpoint:
    return over_messages(endpoint) if speaks_messages(endpoint.base_url) else told_window(endpoint)


PROVIDER = Provider(
    name="custom",
    title="Custom (OpenAI-compatible)",
    api_mode="chat_completions",
    aliases=("openai-compatible", "local"),
    rank=40,
    base_url_env=("CUSTOM_BASE_URL",),
    key_env=("CUSTOM_API_KEY",),
    key_required=False,
    # Some servers end an answer after 128 tokens when no limit is named.
    max_tokens=65_536,
    efforts=EFFORTS,
    quirks=quiet,
    refine=_refine,
)
