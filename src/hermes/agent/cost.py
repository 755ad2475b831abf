"""What a model call costs, by the price list that `genai-prices` ships. Nothing is fetched."""

from hermes import discover
from hermes.messages import Usage


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
