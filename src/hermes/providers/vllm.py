"""A vLLM server."""

from hermes.protocols import Provider

PROVIDER = Provider(
    name="vllm",
    title="vLLM",
    api_mode="chat_completions",
    rank=63,
    base_url="http://127.0.0.1:8000/v1",
    base_url_env=("VLLM_BASE_URL",),
    key_env=("VLLM_API_KEY",),
    key_required=False,
)
