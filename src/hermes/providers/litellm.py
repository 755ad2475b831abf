"""A LiteLLM proxy, in front of whatever it is set up with."""

from hermes.protocols import Provider

PROVIDER = Provider(
    name="litellm",
    title="LiteLLM",
    api_mode="chat_completions",
    aliases=("litellm-proxy",),
    rank=64,
    base_url="http://127.0.0.1:4000/v1",
    base_url_env=("LITELLM_BASE_URL",),
    key_env=("LITELLM_API_KEY",),
    key_required=False,
    efforts=("none", "minimal", "low", "medium", "high", "xhigh"),
)
