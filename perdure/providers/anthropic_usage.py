"""What an answer of Anthropic's protocol consumed, over all the requests and models that it took.

Trap: counts inside a stream are cumulative, and servers correct them. Some say the whole prompt at the start and its
share of the cache at the end; adding the two up would count it twice. The last word on each count is the count.
"""

from __future__ import annotations

from collections.abc import Mapping

from perdure.contracts.usage import Cost, Usage
from perdure.providers.lenient import Json, a_count, a_list, a_text, an_object
from perdure.providers.own_prices import Price, own_cost
from perdure.providers.prices import cost_of
from perdure.providers.stream import UsagePiece


class Tally:
    """Adds up one answer: several requests when it was paused, and other models that the provider asked on its own."""

    def __init__(self, model: str, prices: Mapping[str, Price] | None = None) -> None:
        """``model`` is ``provider:model``; ``prices`` are the settings' own."""
        self._model = model
        self._prices = prices or {}
        self._settled: list[tuple[str, Usage]] = []
        self._said: Json = {}

    def begin(self) -> None:
        """Another request begins; what was said of the one before stands."""
        self._settled, self._said = self._shares(), {}

    def take(self, said: Json) -> UsagePiece:
        """Take in a ``usage`` object of the current reply. All that the answer took so far."""
        self._said.update({key: value for key, value in said.items() if value is not None})
        shares = self._shares()
        total = sum((usage for _, usage in shares), Usage())
        own = any(own_cost(model, usage, self._prices) for model, usage in shares)
        return UsagePiece(total, self._cost(shares) if own or len(shares) > 1 else None)

    def _shares(self) -> list[tuple[str, Usage]]:
        if not self._said:
            return self._settled
        # The totals hold the asked model's own passes; summaries of the context and advice of other models come on top.
        others = [
            pass_
            for entry in a_list(self._said.get("iterations"))
            if (pass_ := an_object(entry)) and pass_.get("type") != "message"
        ]
        provider = self._model.partition(":")[0]
        return [
            *self._settled,
            (self._model, usage_of(self._said).model_copy(update={"requests": 1})),
            *(
                (f"{provider}:{named}" if (named := a_text(pass_.get("model"))) else self._model, usage_of(pass_))
                for pass_ in others
            ),
        ]

    def _cost(self, shares: list[tuple[str, Usage]]) -> Cost:
        costs = (own_cost(model, usage, self._prices) or cost_of(model, usage) for model, usage in shares)
        total = sum(costs, Cost())
        return total.model_copy(update={"unpriced": min(total.unpriced, 1)})


def usage_of(said: Json) -> Usage:
    """A ``usage`` object in our terms: ``input_tokens`` there leaves out what was read from the cache or written."""
    read, written = a_count(said.get("cache_read_input_tokens")), a_count(said.get("cache_creation_input_tokens"))
    output = a_count(said.get("output_tokens"))
    reasoning = a_count(an_object(said.get("output_tokens_details")).get("thinking_tokens"))
    return Usage(
        input_tokens=a_count(said.get("input_tokens")) + read + written,
        cached_tokens=read,
        cache_write_tokens=written,
        output_tokens=output,
        reasoning_tokens=min(reasoning, output),
    )
