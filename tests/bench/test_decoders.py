from __future__ import annotations

import pytest

from tests.bench.decoders import decode, figures, protocols, words


@pytest.mark.parametrize("name", protocols(1))
async def test_what_is_measured_is_the_whole_answer(name: str) -> None:
    text = await decode(protocols(500)[name])
    assert text.rstrip(".") == "".join(words(500)).rstrip(".")


def test_a_decoder_keeps_up_with_any_model() -> None:
    # The fastest servers write some 3,000 tokens a second.
    assert all(events > 3_000 for _, events in figures(2_000, 1).values())
