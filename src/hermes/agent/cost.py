"""What a model call costs, by the price list that `genai-prices` ships. Nothing is fetched."""

from hermes import discover
from hermes.messages import Usage

_COUNTED = 1000
"""Tokens to take a price from: so few that no price for long prompts applies."""


def in_dollars(provider: str, model: str, usage: Usage) -> float | None:
    """The cost of one call in US dollars; None when the list is not installed or does not know the price."""
    try:
        prices = discover.module("genai_prices")
    except ModuleNotFoundError:
        return None
    try:
        counted = prices.Usage(
            input_tokens=usage.prompt_tokens,
            output_tokens=usage.completion_tokens,
            cache_read_tokens=usage.cached_tokens,
            cache_write_tokens=usage.cache_write_tokens,
        )
        return float(prices.calc_price(counted, model, provider_id=provider).total_price)
    except (LookupError, ValueError):  # no such provider or model; counts that contradict each other
        return None


def facts(provider: str, model: str) -> tuple[int | None, float | None, float | None]:
    """A model's context window, and US dollars for a million tokens in and out; None for what is unknown."""
    try:
        prices = discover.module("genai_prices")
        counted = prices.Usage(input_tokens=_COUNTED, output_tokens=_COUNTED)
        found = prices.calc_price(counted, model, provider_id=provider)
    except (ModuleNotFoundError, LookupError, ValueError):
        return None, None, None
    scale = 1_000_000 / _COUNTED
    asked, told = (round(float(price) * scale, 4) for price in (found.input_price, found.output_price))
    return found.model.context_window, asked, told
