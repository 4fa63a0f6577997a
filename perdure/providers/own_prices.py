"""Prices that the settings say, which count before any list's and before a provider's own word.

A price is US dollars per million tokens, as providers print it: ``0.15``, or ``"0.15"``. A number is taken as it is
written, never as the binary fraction beside it, and the sum is rounded once, to the nano-dollar, so that a token of 10
nano-dollars is never lost.
"""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from typing import Annotated, Any

from pydantic import BeforeValidator, Field

from perdure.contracts.record import FileRecord
from perdure.contracts.usage import NANO, Cost, Usage
from perdure.providers.patterns import fitting

MILLION = 1_000_000


def read_amount(value: Any) -> Any:
    """US dollars, a number or text, in nano-dollars. Raises ValueError for what is no price down to the nano-dollar."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        raise ValueError("a price is US dollars per million tokens, such as 0.15")
    try:
        dollars = Decimal(str(value).strip().removeprefix("$"))
        finite = dollars.is_finite()
        nano = dollars * NANO if finite else dollars
    except ArithmeticError:
        finite = False
    if not finite:
        raise ValueError(f"{value!r} is no amount of US dollars, such as 0.15")
    if dollars > MILLION:
        raise ValueError(f"{value!r} is more than a dollar for each token: a price is US dollars per million tokens")
    if nano != nano.to_integral_value():
        raise ValueError(f"{value!r} is finer than a nano-dollar")
    return int(nano)


Amount = Annotated[int, BeforeValidator(read_amount), Field(ge=0)]


class Price(FileRecord):
    """What a million tokens cost: given in US dollars, held in nano-dollars.

    ``cached`` and ``cache_write`` are by default the price of input.
    """

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
