from __future__ import annotations

import pytest
from pydantic import JsonValue

from perdure.providers.lenient import a_count, a_list, a_text, a_word, an_object, loads, some_bytes

ODD: tuple[JsonValue, ...] = (None, True, 3, 2.5, "x", [1], {"a": 1})


@pytest.mark.parametrize("value", ODD)
def test_a_value_of_another_form_is_read_as_empty(value: JsonValue) -> None:
    assert an_object(value) == (value if isinstance(value, dict) else {})
    assert a_list(value) == (value if isinstance(value, list) else [])
    assert a_text(value) == (value if isinstance(value, str) else "")


@pytest.mark.parametrize(
    ("value", "count"),
    [(3, 3), (2.9, 2), (0, 0), (-1, 0), (True, 0), ("3", 0), (None, 0), (1e300, 0), (float("nan"), 0)],
)
def test_a_count_is_a_number_of_at_least_zero(value: JsonValue, count: int) -> None:
    assert a_count(value) == count


@pytest.mark.parametrize(
    ("value", "held"), [("YWJj", b"abc"), ("YWJ", b""), ("Y W", b""), ("é", b""), (3, b""), (None, b"")]
)
def test_bytes_come_in_base64_and_nothing_else_is_taken_for_them(value: JsonValue, held: bytes) -> None:
    assert some_bytes(value) == held


@pytest.mark.parametrize(("value", "word"), [("x", "x"), (429, "429"), (True, ""), (None, ""), (1.5, "")])
def test_an_error_code_comes_as_a_word_or_a_number(value: JsonValue, word: str) -> None:
    assert a_word(value) == word


@pytest.mark.parametrize("text", ["", "{", "[" * 100_000, b"\xff"])
def test_what_is_no_json_is_a_value_error(text: str | bytes) -> None:
    with pytest.raises(ValueError):  # noqa: PT011 # every decoder words it in its own way
        loads(text)
