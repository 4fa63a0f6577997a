"""What model calls consumed: tokens, and money as integer nano-dollars."""

from __future__ import annotations

from perdure.contracts.record import Record

NANO = 1_000_000_000


class Usage(Record):
    """Tokens of one model call or a sum of several.

    ``input_tokens`` includes ``cached_tokens`` and ``cache_write_tokens``; ``output_tokens`` includes
    ``reasoning_tokens``. ``requests`` counts requests to a provider, failed attempts included. ``incomplete`` counts
    the answers of which nobody said the whole usage, because they broke off or never came: the tokens, and their cost,
    are at least what is counted.
    """

    requests: int = 0
    input_tokens: int = 0
    cached_tokens: int = 0
    cache_write_tokens: int = 0
    output_tokens: int = 0
    reasoning_tokens: int = 0
    incomplete: int = 0

    @property
    def total_tokens(self) -> int:
        return self.input_tokens + self.output_tokens

    def __add__(self, other: Usage) -> Usage:
        return Usage(
            requests=self.requests + other.requests,
            input_tokens=self.input_tokens + other.input_tokens,
            cached_tokens=self.cached_tokens + other.cached_tokens,
            cache_write_tokens=self.cache_write_tokens + other.cache_write_tokens,
            output_tokens=self.output_tokens + other.output_tokens,
            reasoning_tokens=self.reasoning_tokens + other.reasoning_tokens,
            incomplete=self.incomplete + other.incomplete,
        )


class Cost(Record):
    """Money spent, in nano-dollars (10^-9 USD), never rounded before it is printed.

    ``unpriced`` counts the model calls whose price is unknown: an unknown price is said, it is not zero.
    """

    nano_dollars: int = 0
    unpriced: int = 0

    def __add__(self, other: Cost) -> Cost:
        return Cost(nano_dollars=self.nano_dollars + other.nano_dollars, unpriced=self.unpriced + other.unpriced)


class Bill(Record):
    """What all attempts of a model call took."""

    usage: Usage = Usage()
    cost: Cost = Cost()
