from __future__ import annotations

from hypothesis import given

from perdure.contracts.usage import Cost, Usage
from tests.contracts.records import records


@given(one=records(Usage), other=records(Usage))
def test_usages_add_up_in_every_field(one: Usage, other: Usage) -> None:
    together = one + other

    assert together.model_dump() == {name: getattr(one, name) + getattr(other, name) for name in Usage.model_fields}
    assert together.total_tokens == one.total_tokens + other.total_tokens


@given(one=records(Cost), other=records(Cost))
def test_costs_add_up_and_an_unknown_price_stays_said(one: Cost, other: Cost) -> None:
    assert one + other == Cost(
        nano_dollars=one.nano_dollars + other.nano_dollars, unpriced=one.unpriced + other.unpriced
    )
