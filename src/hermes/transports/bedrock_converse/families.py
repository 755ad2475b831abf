"""What each family of models takes: its limits, its tools, and how it is asked to think."""

import re
from collections.abc import Mapping
from typing import Any, Literal

import msgspec

from hermes.protocols import Effort, Provider, Request
from hermes.transports.base import output_limit, temperature_of
from hermes.transports.base.schema import strict_schema

Thinking = Literal["none", "budget", "adaptive", "levels", "flat_effort", "nested_effort"]


class Family(msgspec.Struct, frozen=True):
    """What the models of one make take. The wire does not say, and refuses what they do not know."""

    max_tokens: int | None = None
    thinking: Thinking = "none"
    knows_xhigh: bool = True
    tools: bool = True
    tool_status: bool = False
    caches: bool = False
    caches_tools: bool = False
    samples: bool = True
    """Whether it can be given a temperature."""
    schema: bool = True
    """Whether its answers can be held to a schema."""


def _newer(
    max_tokens: int,
    thinking: Thinking,
    *,
    knows_xhigh: bool = True,
    samples: bool = True,
    schema: bool = True,
) -> Family:
    return Family(
        max_tokens,
        thinking,
        knows_xhigh,
        tool_status=True,
        caches=True,
        caches_tools=True,
        samples=samples,
        schema=schema,
    )


_FAMILIES: tuple[tuple[re.Pattern[str], Family], ...] = tuple(
    (re.compile(pattern), family)
    for pattern, family in (
        (r"claude-(v2|instant)", Family(4_096, tools=False, schema=False)),
        (r"claude-3-(haiku|sonnet|opus)", Family(4_096, tool_status=True, schema=False)),
        (r"claude-3-5", Family(8_192, tool_status=True, schema=False)),
        (r"claude-3-7|claude-sonnet-4-\d{8}", _newer(64_000, "budget", schema=False)),
        (r"claude-[a-z]+-4-5", _newer(64_000, "budget")),
        (r"claude-opus-4-(1-)?\d{8}", _newer(32_000, "budget", schema=False)),
        (r"claude-sonnet-4-6", _newer(64_000, "adaptive", knows_xhigh=False)),
        (r"claude-[a-z]+-4-6", _newer(128_000, "adaptive", knows_xhigh=False)),
        (r"claude-", _newer(128_000, "adaptive", samples=False)),
        (r"nova-2", Family(None, "levels", tool_status=True, caches=True, schema=False)),
        (r"nova-", Family(None, tool_status=True, caches=True, schema=False)),
        (r"gpt-oss|kimi-k2", Family(None, "flat_effort")),
        (r"gpt-\d", Family(None, "nested_effort", samples=False)),
        (r"r1-v|titan-text", Family(None, tools=False, schema=False)),
        (r"llama|command-r|jamba", Family(None, schema=False)),
    )
)
UNKNOWN_FAMILY = Family()
_BUDGETS: dict[Effort, int] = {"minimal": 1_024, "low": 4_000, "medium": 8_000, "high": 16_000}
_LARGEST_BUDGET = 32_000
_SMALLEST_BUDGET = 1_024
_LEVELS = ("none", "low", "medium", "high", "xhigh", "max")


def family_of(model: str) -> Family:
    return next((family for pattern, family in _FAMILIES if pattern.search(model)), UNKNOWN_FAMILY)


def takes_schema(provider: Provider, family: Family) -> bool:
    """Whether an answer is held to its schema by the wire; where not, the schema is said in words."""
    return family.schema and provider.output == "json_schema"


def inference(request: Request, provider: Provider, family: Family) -> dict[str, Any]:
    """The output limit, how to think, and the form of the answer."""
    limit = output_limit(request, provider, family.max_tokens)
    output: dict[str, Any] = {}
    extra = _thinking(request, family, limit, output)
    config = _config(limit, _temperature(request, provider, family, extra))
    if family.thinking == "levels" and _level(request.effort or "none", "high") == "high":
        config = {}  # this family refuses all of it when it thinks its hardest
    if request.output_schema is not None and takes_schema(provider, family):
        schema = {
            "name": "answer",
            "schema": msgspec.json.encode(strict_schema(request.output_schema)).decode(),
        }
        output["textFormat"] = {"type": "json_schema", "structure": {"jsonSchema": schema}}
    fields: dict[str, Any] = {}
    if config:
        fields["inferenceConfig"] = config
    if extra:
        fields["additionalModelRequestFields"] = extra
    if output:
        fields["outputConfig"] = output
    return fields


def _config(limit: int | None, temperature: float | None) -> dict[str, Any]:
    config = {"maxTokens": limit, "temperature": temperature}
    return {name: value for name, value in config.items() if value is not None}


def _temperature(
    request: Request, provider: Provider, family: Family, extra: Mapping[str, Any]
) -> float | None:
    """The temperature within what the wire takes, where the family takes one while it thinks so."""
    temperature = temperature_of(request, provider)
    if temperature is None or not family.samples or "thinking" in extra:
        return None
    return min(temperature, 1)


def _thinking(request: Request, family: Family, limit: int | None, output: dict[str, Any]) -> dict[str, Any]:
    effort, forced = request.effort, request.tool_choice == "required"
    if effort is None or (effort == "none" and family.thinking != "nested_effort"):
        return {}
    match family.thinking:
        case "adaptive":
            highest = "high" if forced else "max"
            wanted = effort if family.knows_xhigh or effort != "xhigh" else "max"
            output["effort"] = _level(wanted, highest)
            # A tool that must be called leaves no room to think first: the service refuses both.
            return {} if forced else {"thinking": {"type": "adaptive", "display": "summarized"}}
        case "budget" if limit is not None and limit > _SMALLEST_BUDGET and not forced:
            budget = min(_BUDGETS.get(effort, _LARGEST_BUDGET), limit - 1_024)
            return {"thinking": {"type": "enabled", "budget_tokens": max(budget, _SMALLEST_BUDGET)}}
        case "levels":
            return {"reasoningConfig": {"type": "enabled", "maxReasoningEffort": _level(effort, "high")}}
        case "flat_effort":
            return {"reasoning_effort": _level(effort, "high")}
        case "nested_effort":
            return {"reasoning": {"effort": _level(effort, "max")}}
    return {}


def _level(effort: Effort, highest: str) -> str:
    wanted = "low" if effort == "minimal" else effort
    return _LEVELS[min(_LEVELS.index(wanted), _LEVELS.index(highest))]
