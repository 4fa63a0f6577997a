from __future__ import annotations

import tomllib

import pytest
from pydantic import ValidationError

from perdure.contracts.usage import Cost, Usage
from perdure.providers.catalogue import ProviderSettings
from perdure.providers.own_prices import Price, own_cost
from tests.providers.protocols import PROTOCOLS, Spoken
from tests.providers.serving import asking, assembled, chunk, counted, events, pieces_of, replying, serving

CHEAP = Price(input="0.15", output="0.60", cached="0.01")
ONE = Usage(requests=1, input_tokens=1, cached_tokens=1)


def test_a_cached_token_of_ten_nano_dollars_is_not_rounded_away() -> None:
    assert own_cost("corp:m", ONE, {"corp:m": CHEAP}) == Cost(nano_dollars=10)
    thousand = Usage(input_tokens=1000, cached_tokens=1000)
    assert own_cost("corp:m", thousand, {"corp:m": CHEAP}) == Cost(nano_dollars=10_000)


@pytest.mark.parametrize("three", [3, 3.0, "3", "3.00", "$3", " 3 "])
def test_a_price_is_dollars_per_million_tokens_however_it_is_written(three: int | float | str) -> None:
    price = Price.model_validate({"input": three, "output": 0})
    assert own_cost("a:b", Usage(input_tokens=1_000_000), {"a:b": price}) == Cost(nano_dollars=3_000_000_000)


@pytest.mark.parametrize(("written", "nano"), [("0.1", 100_000_000), ("0.15", 150_000_000), ("1e-9", 1)])
def test_a_number_in_a_settings_file_is_exact(written: str, nano: int) -> None:
    prices = tomllib.loads(f"input = {written}\noutput = '{written}'")
    price = Price.model_validate(prices)
    assert (price.input, price.output) == (nano, nano)


def test_each_kind_of_token_has_its_price_and_input_stands_in_for_what_has_none() -> None:
    price = Price(input="3", output="15", cached="0.3", cache_write="3.75")
    usage = Usage(input_tokens=1000, cached_tokens=400, cache_write_tokens=100, output_tokens=10, reasoning_tokens=5)
    assert own_cost("a:b", usage, {"a:b": price}) == Cost(nano_dollars=500 * 3000 + 400 * 300 + 100 * 3750 + 10 * 15000)
    plain = {"a:b": Price(input="3", output="15")}
    assert own_cost("a:b", usage, plain) == Cost(nano_dollars=1000 * 3000 + 10 * 15000)


def test_the_sum_is_rounded_once() -> None:
    prices = {"a:b": Price(input="0.0004", output="0.0004")}
    assert own_cost("a:b", Usage(input_tokens=1), prices) == Cost(nano_dollars=0)
    assert own_cost("a:b", Usage(input_tokens=1, output_tokens=1), prices) == Cost(nano_dollars=1)


def test_an_exact_name_comes_before_patterns_and_other_models_have_no_own_price() -> None:
    prices = {"corp:*": Price(input=0, output=0), "corp:m": CHEAP}
    assert own_cost("corp:m", ONE, prices) == Cost(nano_dollars=10)
    assert own_cost("corp:free", ONE, prices) == Cost()
    assert own_cost("openai:gpt-5", ONE, prices) is None


@pytest.mark.parametrize(
    "amount",
    [
        "a lot",
        "",
        "NaN",
        "1e-10",
        "-1",
        -1,
        -0.5,
        1e-10,
        float("inf"),
        150_000_000,
        "9e999999",
        "1e-999999",
        True,
        None,
        [],
    ],
)
def test_an_amount_that_is_none_is_refused(amount: object) -> None:
    with pytest.raises(ValidationError):
        Price.model_validate({"input": amount, "output": 0})


@pytest.mark.parametrize("spoken", PROTOCOLS.values(), ids=PROTOCOLS)
async def test_an_answer_costs_what_the_settings_say(spoken: Spoken) -> None:
    settings = ProviderSettings(prices={spoken.model: Price(input="1", output="2", cached="0.01")})
    message = await spoken.answer(replying(spoken.reply), settings=settings)
    assert message.text == "Hi"
    usage = message.usage
    assert usage.cached_tokens == 3
    assert message.cost == Cost(nano_dollars=(usage.input_tokens - 3) * 1000 + 3 * 10 + usage.output_tokens * 2000)


async def test_an_answer_whose_price_nobody_knows_says_so() -> None:
    reply = replying(events(chunk(content="Hi"), chunk("stop"), counted()))
    provider = serving(reply, name="corp")
    message = assembled(await pieces_of(provider, asking(model="corp:m")), "corp:m")
    assert message.cost == Cost(unpriced=1)
