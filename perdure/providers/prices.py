"""What a model call costs: the price list of ``genai-prices``, in integer nano-dollars.

Trap: the list is dollars per million tokens in decimals, so a cached token may cost 10 nano-dollars. Rounding to cents,
or through a float, would lose it; the sum is rounded once, to the nano-dollar.
"""

from __future__ import annotations

from decimal import Decimal

import genai_prices

from perdure.contracts.usage import NANO, Cost, Usage

FREE_PROVIDERS = frozenset({"demo", "scripted", "ollama", "lmstudio", "llamacpp", "vllm"})
"""Providers that run on the user's own machines, or play: nobody sends a bill."""

_PRICE_LIST_IDS = {
    "openai-responses": "openai",
    "gemini": "google",
    "xai": "x-ai",
    "moonshot": "moonshotai",
}
"""Our provider names where the price list uses another."""

UNPRICED = Cost(unpriced=1)


def cost_of(model: str, usage: Usage | None) -> Cost:
    """The cost of one model call of ``model`` (``provider:model``).

    ``unpriced`` is 1 when the price is unknown, or when the provider never said what was used (``usage`` None).
    """
    provider, _, name = model.partition(":")
    if provider in FREE_PROVIDERS:
        return Cost()
    if usage is None:
        return UNPRICED
    try:
        price = genai_prices.calc_price(_counted(usage), name, provider_id=_PRICE_LIST_IDS.get(provider, provider))
    except (LookupError, ValueError):
        return UNPRICED
    return Cost(nano_dollars=nano_dollars(price.total_price))


def nano_dollars(dollars: Decimal) -> int:
    """``dollars`` as integer nano-dollars, rounded once."""
    return int((dollars * NANO).to_integral_value())


def _counted(usage: Usage) -> genai_prices.Usage:
    return genai_prices.Usage(
        input_tokens=usage.input_tokens,
        cache_read_tokens=usage.cached_tokens or None,
        cache_write_tokens=usage.cache_write_tokens or None,
        output_tokens=usage.output_tokens,
    )
