"""GitHub Models, with a personal access token that may read models."""

from hermes.protocols import Provider

PROVIDER = Provider(
    name="github-models",
    title="GitHub Models",
    api_mode="chat_completions",
    aliases=("github-model", "github"),
    rank=0,
    base_url="https://models.github.ai/inference",
    base_url_env=("GITHUB_MODELS_BASE_URL",),
    key_env=("GITHUB_MODELS_TOKEN", "GITHUB_TOKEN"),
    default_model="openai/gpt-4.1",
    models=("openai/gpt-4.1", "openai/gpt-4o"),
    models_path="",
)
