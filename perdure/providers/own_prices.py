"""Prices that the settings say, which count before any list's and before a provider's own word.

A price is per million tokens: an integer is nano-dollars, text is US dollars (``"0.15"``). The sum is rounded once, to
the nano-dollar, so that a token of 10 nano-dollars is never lost.
"""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal, InvalidOperation
from typing import Annotated, Any

from pydantic import BeforeValidator, Field

from perdure.contracts.record import FileRecord
from perdure.contracts.usage import NANO, Cost, Usage
from perdure.providers.patterns import fitting

MILLION = 1_000_000


def read_amount(value: Any) -> Any:
    """US dollars as text, in nano-dollars. Raises ValueError for text that is no amount down to the nano-dollar."""
    if isinstance(value, bool | float):
        raise ValueError('a price is an integer (nano-dollars) or text (US dollars, such as "0.15")')
    if not isinstance(value, str):
        return value
    try:
        nano = Decimal(value.strip().removeprefix("$")) * NANO
    except InvalidOperation:
        raise ValueError(f"{value!r} is no amount of US dollars, such as 0.15") from None
    if not nano.is_finite() or nano != nano.to_integral_value():
        raise ValueError(f"{value!r} is finer than a nano-dollar")
    return int(nano)


Amount = Annotated[int, BeforeValidator(read_amount), Field(ge=0)]


class Price(FileRecord):
    """What a million tokens cost, in nano-dollars. ``cached`` and ``cache_write`` are by default the price of input."""

    input: Amount
    output: Amount
    cached: Amount | None = None
    cache_write: Amount | None = None


def own_cost(model: str, usage: Usage, prices: Mapping[str, Price]) -> Cost | None:
    """The cost by the settings; None where they say nothing of ``model``. An exact name comes before patterns."""
    pattern = next(fitting(model, prices), None)
    if pattern is None:
        return None
    price = prices[pattern]
    plain = max(usage.input_tokens - usage.cached_tokens - usage.cache_write_tokens, 0)
    total = (
        plain * price.input
        + usage.cached_tokens * (price.input if price.cached is None else price.cached)
        + usage.cache_write_tokens * (price.input if price.cache_write is None else price.cache_write)
        + usage.output_tokens * price.output
    )
    return Cost(nano_dollars=(total + MILLION // 2) // MILLION)
