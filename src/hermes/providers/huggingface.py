"""Hugging Face's router to the servers of open models."""

from hermes.protocols import Provider

PROVIDER = Provider(
    name="huggingface",
    title="Hugging Face",
    api_mode="chat_completions",
    aliases=("hf", "hugging-face"),
    rank=0,
    base_url="https://router.huggingface.co/v1",
    base_url_env=("HF_BASE_URL", "HUGGINGFACE_BASE_URL"),
    key_env=("HF_TOKEN",),
    default_model="openai/gpt-oss-120b",
    models=(
        "openai/gpt-oss-120b",
        "zai-org/GLM-5.3",
        "moonshotai/Kimi-K3",
        "deepseek-ai/DeepSeek-V4-Pro-0813",
    ),
)
