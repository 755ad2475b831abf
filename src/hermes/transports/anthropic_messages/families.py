"""What a model's name says of it: its token limit, and how it is told to think."""

import re
from collections.abc import Mapping
from typing import Any, Literal

import msgspec

from hermes.protocols import Effort, Provider, Request
from hermes.transports.base import temperature_of


class Family(msgspec.Struct, frozen=True):
    """What the models of one kind take. `off` is the word that stops thinking which is on by default,
    and `samples` says that they can be given a temperature."""

    max_tokens: int
    thinking: Literal["adaptive", "budget", "none"] = "adaptive"
    off: Literal["", "disabled", "between_tools", "impossible"] = ""
    forced_tools: bool = True
    schema: bool = True
    xhigh: bool = True
    samples: bool = True


def _newer(
    off: Literal["", "disabled", "between_tools", "impossible"], *, forced_tools: bool = True
) -> Family:
    return Family(128_000, off=off, forced_tools=forced_tools, samples=False)


_FAMILIES = tuple(
    (re.compile(pattern), family)
    for pattern, family in (
        (r"(fable|mythos)-5-[1-9]|opus-5-5", _newer("impossible", forced_tools=False)),
        (r"fable|mythos", _newer("impossible")),
        (r"sonnet-5-5", _newer("between_tools", forced_tools=False)),
        (r"haiku-5-5", _newer("disabled", forced_tools=False)),
        (r"(opus|sonnet|haiku)-5", _newer("disabled")),
        (r"opus-4-[78]", _newer("")),
        (r"opus-4-6", Family(128_000, xhigh=False)),
        (r"sonnet-4-6", Family(64_000, xhigh=False)),
        (r"(opus|sonnet|haiku)-4-5", Family(64_000, "budget")),
        (r"opus-4|4-opus", Family(32_000, "budget", schema=False)),
        (r"sonnet-4|4-sonnet", Family(64_000, "budget", schema=False)),
        (r"claude-3-7", Family(128_000, "budget", schema=False)),
        (r"claude-3-5", Family(8_192, "none", schema=False)),
        (r"claude-(3|2|instant)", Family(4_096, "none", schema=False)),
        (r"claude-", _newer("")),
        (r"kimi-", Family(128_000, schema=False)),
        (r"minimax-", Family(131_072, "budget", schema=False)),
        (r"qwen3", Family(65_536, "budget", schema=False)),
        (r"", Family(128_000, "budget", schema=False)),
    )
)
_BUDGETS: dict[Effort, int] = {
    "minimal": 2_000, "low": 4_000, "medium": 8_000, "high": 16_000, "xhigh": 32_000, "max": 32_000,
}  # fmt: skip
_LEAST_BUDGET = 1_024


def model_id(model: str) -> str:
    """The model's name on this wire: without a routing prefix, and with hyphens where people put dots."""
    bare = model.rpartition("/")[2] if "/claude-" in model else model
    return bare.replace(".", "-") if bare.startswith("claude-") else bare


def family_of(model: str) -> Family:
    name = model.lower()
    return next(family for pattern, family in _FAMILIES if pattern.search(name))


def thinking_for(request: Request, family: Family, kwargs: Mapping[str, Any]) -> dict[str, Any]:
    """How the wanted effort is said to this family. A forced call and thinking exclude each other."""
    is_forced = kwargs.get("tool_choice", {}).get("type") in ("any", "tool")
    effort = request.effort
    if family.thinking == "none" or (effort is None and not is_forced):
        return {}
    if family.thinking == "budget":
        return {} if is_forced or not effort or effort == "none" else _budget(effort, kwargs["max_tokens"])
    if not is_forced and effort not in (None, "none"):
        thinking = {"type": "adaptive", "display": "summarized"}
        return {"thinking": thinking, "output_config": {"effort": _said_effort(effort, family)}}
    off = {"thinking": {"type": family.off}} if family.off not in ("", "impossible") else {}
    if effort is None or (effort == "none" and family.off != "impossible"):
        return off
    said = _said_effort(effort, family)
    return {**off, "output_config": {"effort": said if said in ("low", "medium") else "high"}}


def sampling(request: Request, provider: Provider, family: Family, thinking: str) -> dict[str, Any]:
    """The temperature, as far as the family takes one; with this kind of thinking it can only be 1."""
    temperature = temperature_of(request, provider)
    if thinking == "enabled":
        return {} if provider.temperature == "omit" else {"temperature": 1}
    if temperature is None or thinking == "adaptive" or not family.samples:
        return {}
    return {"temperature": min(temperature, 1)}


def _said_effort(effort: Effort | None, family: Family) -> str:
    match effort:
        case "none" | "minimal":
            return "low"
        case "xhigh" if not family.xhigh:
            return "max"
    return effort or "medium"


def _budget(effort: Effort, max_tokens: int) -> dict[str, Any]:
    budget = max(_LEAST_BUDGET, min(_BUDGETS[effort], max_tokens - _LEAST_BUDGET))
    if budget >= max_tokens:
        return {}
    return {"thinking": {"type": "enabled", "budget_tokens": budget}}
