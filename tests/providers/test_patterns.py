from __future__ import annotations

import pytest

from perdure.providers.patterns import fits, fitting


@pytest.mark.parametrize(
    ("text", "pattern", "expected"),
    [
        ("corp:a.b", "corp:a.*", True),
        ("corp:axb", "corp:a?b", False),
        ("corp:axb", "corp:[ax]*", False),
        ("Corp:A", "corp:*", True),
        ("corp:a\nb", "corp:*b", True),
        ("other-corp:a", "corp:*", False),
    ],
)
def test_a_star_stands_for_any_text_and_nothing_else_is_special(text: str, pattern: str, expected: bool) -> None:
    assert fits(text, pattern) is expected


def test_an_exact_name_comes_before_patterns_which_keep_their_order() -> None:
    patterns = ("corp:*", "*", "corp:big", "corp:small")
    assert list(fitting("corp:big", patterns)) == ["corp:big", "corp:*", "*"]
    assert list(fitting("corp:*", patterns)) == ["corp:*", "*"]
