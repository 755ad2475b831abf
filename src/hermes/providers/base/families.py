"""What holds for a family of models on every route to it over the chat wire."""

import re
from collections.abc import Mapping
from typing import Any

from hermes.protocols import Endpoint, Provider
from hermes.providers.base.routes import changed, tail
from hermes.providers.base.schemas import gemini_schema, kimi_schema

_FAMILIES: tuple[tuple[str, Mapping[str, Any]], ...] = (
    (r"kimi", {"temperature": "omit"}),
    (r"kimi|moonshot", {"dialect": kimi_schema}),
    (r"gpt-(4o|4\.1|[5-9])|o[134](-|$)", {"max_tokens_key": "max_completion_tokens"}),
    (r"gpt-[5-9]|o[134](-|$)", {"temperature": "omit"}),
    (r".*gemini", {"dialect": gemini_schema}),
    (r".*(gemini|gemma)", {"echoes": ("extra_content",)}),
)
"""Patterns on the beginning of a model's own name, each with what is so of the models that fit."""
_UNSAID = Provider(name="", title="", api_mode="chat_completions")


def for_family(endpoint: Endpoint) -> Endpoint:
    """The endpoint with what its model's family adds; what the provider says for itself wins."""
    if endpoint.provider.api_mode != "chat_completions":
        return endpoint
    name = tail(endpoint.model)
    for pattern, facts in _FAMILIES:
        if re.match(pattern, name):
            added = {key: value for key, value in facts.items() if _is_unsaid(endpoint.provider, key)}
            endpoint = changed(endpoint, **added, **_more_echoes(endpoint.provider, facts))
    return endpoint


def _is_unsaid(provider: Provider, key: str) -> bool:
    return key != "echoes" and bool(getattr(provider, key) == getattr(_UNSAID, key))


def _more_echoes(provider: Provider, facts: Mapping[str, Any]) -> dict[str, Any]:
    """Echoes add up: a route may want something back that has nothing to do with the model."""
    return {"echoes": tuple(dict.fromkeys((*provider.echoes, *facts.get("echoes", ()))))}
