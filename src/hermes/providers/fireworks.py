"""Fireworks' hosted open models."""

import re

from hermes.protocols import Effort, Endpoint, Provider
from hermes.providers.base.routes import changed, tail

_EFFORTS: tuple[tuple[re.Pattern[str], tuple[Effort, ...]], ...] = (
    (re.compile(r"deepseek-v[4-9]"), ("none", "low", "medium", "high", "xhigh")),
    (re.compile(r"glm-[5-9]"), ("none", "high", "max")),
    (re.compile(r"kimi-|gpt-oss"), ("low", "medium", "high")),
)
"""How hard each family can be asked to think; others are not asked."""


def _refine(endpoint: Endpoint) -> Endpoint:
    name = tail(endpoint.model)
    return changed(endpoint, efforts=next((known for fits, known in _EFFORTS if fits.match(name)), ()))


PROVIDER = Provider(
    name="fireworks",
    title="Fireworks AI",
    api_mode="chat_completions",
    aliases=("fireworks-ai", "fw"),
    rank=23,
    base_url="https://api.fireworks.ai/inference/v1",
    base_url_env=("FIREWORKS_BASE_URL",),
    key_env=("FIREWORKS_API_KEY",),
    default_model="accounts/fireworks/models/glm-5p3",
    models=(
        "accounts/fireworks/models/glm-5p3",
        "accounts/fireworks/models/kimi-k3",
        "accounts/fireworks/models/deepseek-v4-pro",
        "accounts/fireworks/models/gpt-oss-120b",
    ),
    refine=_refine,
)
