from __future__ import annotations

import pytest

from perdure.contracts.usage import Cost, Usage
from perdure.providers.anthropic_usage import Tally, usage_of
from perdure.providers.prices import cost_of
from tests.providers.anthropic_serving import MODEL, Json


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ({}, Usage()),
        ({"input_tokens": 10, "output_tokens": 4}, Usage(input_tokens=10, output_tokens=4)),
        (
            {"input_tokens": 1, "cache_read_input_tokens": 20, "cache_creation_input_tokens": 300, "output_tokens": 4},
            Usage(input_tokens=321, cached_tokens=20, cache_write_tokens=300, output_tokens=4),
        ),
        (
            {"output_tokens": 9, "output_tokens_details": {"thinking_tokens": 5}},
            Usage(output_tokens=9, reasoning_tokens=5),
        ),
        ({"input_tokens": None, "output_tokens": "x", "output_tokens_details": []}, Usage()),
    ],
)
def test_input_includes_what_the_cache_gave_and_took(said: Json, expected: Usage) -> None:
    assert usage_of(said) == expected


@pytest.mark.parametrize(
    ("start", "delta", "expected"),
    [
        (
            {"input_tokens": 43, "output_tokens": 1},
            {"input_tokens": 61, "output_tokens": 9},
            Usage(requests=1, input_tokens=61, output_tokens=9),
        ),
        (
            {"input_tokens": 43, "cache_read_input_tokens": 7, "output_tokens": 1},
            {"output_tokens": 9, "input_tokens": None},
            Usage(requests=1, input_tokens=50, cached_tokens=7, output_tokens=9),
        ),
        (
            {"input_tokens": 8834, "output_tokens": 0},
            {"input_tokens": 18, "output_tokens": 426, "cache_read_input_tokens": 8831},
            Usage(requests=1, input_tokens=8849, cached_tokens=8831, output_tokens=426),
        ),
    ],
)
def test_the_last_word_on_each_count_is_the_count(start: Json, delta: Json, expected: Usage) -> None:
    tally = Tally(MODEL)
    tally.begin()
    tally.take(start)
    piece = tally.take(delta)
    assert (piece.usage, piece.cost) == (expected, None)


def test_every_request_of_an_answer_counts_and_is_priced_on_its_own() -> None:
    tally = Tally(MODEL)
    for _ in range(2):
        tally.begin()
        tally.take({"input_tokens": 150_000, "output_tokens": 1})
        piece = tally.take({"output_tokens": 10})
    assert piece.usage == Usage(requests=2, input_tokens=300_000, output_tokens=20)
    one = cost_of(MODEL, Usage(input_tokens=150_000, output_tokens=10))
    assert piece.cost == one + one


def test_other_models_that_the_provider_asked_count_at_their_own_price() -> None:
    tally = Tally(MODEL)
    tally.begin()
    piece = tally.take(
        {
            "input_tokens": 100,
            "output_tokens": 10,
            "iterations": [
                {"type": "message", "input_tokens": 100, "output_tokens": 10},
                {"type": "advisor_message", "model": "claude-opus-4-1", "input_tokens": 50, "output_tokens": 5},
                {"type": "compaction", "input_tokens": 7, "output_tokens": 1},
            ],
        }
    )
    assert piece.usage == Usage(requests=1, input_tokens=157, output_tokens=16)
    shares = [
        cost_of(MODEL, Usage(input_tokens=100, output_tokens=10)),
        cost_of("anthropic:claude-opus-4-1", Usage(input_tokens=50, output_tokens=5)),
        cost_of(MODEL, Usage(input_tokens=7, output_tokens=1)),
    ]
    assert piece.cost == sum(shares, Cost())


def test_an_answer_without_a_known_price_is_one_unpriced_call() -> None:
    tally = Tally("mine:unheard-of")
    for _ in range(3):
        tally.begin()
        piece = tally.take({"input_tokens": 1})
    assert piece.cost == Cost(unpriced=1)
