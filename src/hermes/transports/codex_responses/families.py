"""What each model family can be asked about its thinking."""

import re
from typing import Any

from hermes.protocols import Effort
from hermes.transports.base import EFFORTS, nearest_effort

_LEVELS: tuple[tuple[re.Pattern[str], tuple[Effort, ...]], ...] = (
    (re.compile(r"o\d"), ("low", "medium", "high")),
    (re.compile(r"gpt-5-pro"), ("high",)),
    (re.compile(r"gpt-5(-mini|-nano)?(-\d|$)"), ("minimal", "low", "medium", "high")),
    (re.compile(r"gpt-5(\.1)?-codex(-mini)?$"), ("low", "medium", "high")),
    (re.compile(r"gpt-5\.1-codex-max"), ("low", "medium", "high", "xhigh")),
    (re.compile(r"gpt-5\.1"), ("none", "low", "medium", "high")),
    (re.compile(r"gpt-5\.\d-pro"), ("medium", "high", "xhigh")),
    (re.compile(r"gpt-5\.[2-5]"), ("none", "low", "medium", "high", "xhigh")),
    (re.compile(r"gpt-(5\.6|6-sol|6-luna)"), ("none", "low", "medium", "high", "xhigh", "max")),
    (re.compile(r"gpt-6"), ("low", "medium", "high", "xhigh", "max")),
)
"""How hard a model family can be asked to think; the first pattern that fits a name decides."""
_PLAIN = re.compile(r"^(chatgpt|gpt-3|gpt-4)|-chat-latest$|non-reasoning")
"""Models that do not think: they reject every setting about it, and asking for what they thought."""


def samples(model: str) -> bool:
    """Whether the model can be given a temperature: only one that does not think can."""
    return bool(_PLAIN.search(_bare(model)))


def thinking(model: str, effort: Effort | None) -> dict[str, Any]:
    """How hard to think, and that what was thought comes back encrypted, as far as the model knows this."""
    name = _bare(model)
    if _PLAIN.search(name):
        return {}
    levels = next((levels for pattern, levels in _LEVELS if pattern.match(name)), None)
    reasoning: dict[str, Any] = {}
    if effort is not None:
        reasoning["effort"] = nearest_effort("low" if effort == "minimal" else effort, levels or EFFORTS)
        if reasoning["effort"] == "none":
            return {"reasoning": reasoning}
    if effort is not None or levels is not None:
        reasoning["summary"] = "auto"
    include = {"include": ["reasoning.encrypted_content"]}
    return {"reasoning": reasoning, **include} if reasoning else include


def _bare(model: str) -> str:
    return model.rpartition("/")[2].lower()
