from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from perdure.providers.surrogates import SurrogateJoiner


def joined(*pieces: str) -> str:
    joiner = SurrogateJoiner()
    return "".join(joiner.feed(piece) for piece in pieces) + joiner.end()


def test_halves_that_come_apart_are_joined() -> None:
    assert joined("a\ud83d", "\ude00b") == "a\U0001f600b"
    assert joined("\ud83d\ude00") == "\U0001f600"


def test_a_lone_half_is_replaced_so_that_the_text_can_be_recorded() -> None:
    for pieces in (["a\ud83d"], ["\ude00a"], ["\ud83d", "a"], ["\ud83d", "", "\ud83d"]):
        assert "\ufffd" in joined(*pieces)
        joined(*pieces).encode()


@given(st.text(st.characters(exclude_categories=["Cs"])), st.integers(0, 50))
def test_text_without_halves_passes_unchanged(text: str, place: int) -> None:
    assert joined(text[:place], text[place:]) == text
