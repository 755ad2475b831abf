"""llama.cpp's own server."""

from hermes.protocols import Provider
from hermes.providers.base.schemas import without_patterns

PROVIDER = Provider(
    name="llamacpp",
    title="llama.cpp",
    api_mode="chat_completions",
    aliases=("llama.cpp", "llama-cpp"),
    rank=62,
    base_url="http://127.0.0.1:8080/v1",
    base_url_env=("LLAMACPP_BASE_URL",),
    key_env=("LLAMACPP_API_KEY",),
    key_required=False,
    max_tokens=65_536,
    dialect=without_patterns,
)
