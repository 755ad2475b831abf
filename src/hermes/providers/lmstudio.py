"""LM Studio on one's own machine."""

from hermes.protocols import Provider

PROVIDER = Provider(
    name="lmstudio",
    title="LM Studio",
    api_mode="chat_completions",
    aliases=("lm-studio", "lm_studio"),
    rank=61,
    base_url="http://127.0.0.1:1234/v1",
    base_url_env=("LM_BASE_URL", "LMSTUDIO_BASE_URL"),
    key_env=("LM_API_KEY",),
    key_required=False,
    efforts=("none", "low", "medium", "high", "xhigh"),
)
