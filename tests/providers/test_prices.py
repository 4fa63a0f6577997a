from __future__ import annotations

from decimal import Decimal

import pytest

from perdure.contracts.usage import NANO, Cost, Usage
from perdure.providers.catalogue import CATALOGUE
from perdure.providers.prices import cost_of, nano_dollars

THOUSAND = Usage(requests=1, input_tokens=1000, output_tokens=100)


def test_a_known_price_is_integer_nano_dollars() -> None:
    assert cost_of("openai:gpt-4o-mini", THOUSAND) == Cost(nano_dollars=1000 * 150 + 100 * 600)


def test_cached_tokens_cost_less_and_are_not_rounded_away() -> None:
    one = Usage(requests=1, input_tokens=1, cached_tokens=1)
    assert cost_of("openai:gpt-4o-mini", one) == Cost(nano_dollars=75)
    assert nano_dollars(Decimal("0.00000001")) == 10


def test_reasoning_is_counted_once_within_the_output() -> None:
    reasoned = THOUSAND.model_copy(update={"reasoning_tokens": 80})
    assert cost_of("openai:gpt-5", reasoned) == cost_of("openai:gpt-5", THOUSAND)


@pytest.mark.parametrize("model", ["openai:no-such-model", "nobody:gpt-4o", "gpt-4o", ":", ""])
def test_an_unknown_price_is_said_and_not_zero(model: str) -> None:
    assert cost_of(model, THOUSAND) == Cost(unpriced=1)


def test_usage_that_was_never_said_has_no_price() -> None:
    assert cost_of("openai:gpt-4o-mini", None) == Cost(unpriced=1)


@pytest.mark.parametrize(
    "model", ["demo:demo", "scripted:/tmp/x.json", "ollama:llama3.2", "llamacpp:x", "vllm:x", "lmstudio:x"]
)
def test_what_runs_on_ones_own_machine_is_free(model: str) -> None:
    assert cost_of(model, THOUSAND) == cost_of(model, None) == Cost()


@pytest.mark.parametrize(
    "name",
    [
        name
        for name, endpoint in CATALOGUE.items()
        if endpoint.default_model and name not in ("huggingface", "openrouter")
    ],
)
def test_the_default_model_of_a_provider_has_a_known_price(name: str) -> None:
    cost = cost_of(f"{name}:{CATALOGUE[name].default_model}", THOUSAND)
    assert 0 < cost.nano_dollars < NANO
    assert cost.unpriced == 0
