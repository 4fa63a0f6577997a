from __future__ import annotations

import pytest

from perdure.cli.revise import arguments_in
from perdure.contracts.errors import InvalidInputError


def test_arguments_are_a_json_object() -> None:
    assert arguments_in('{"path": "a.md", "lines": [1]}') == {"path": "a.md", "lines": [1]}


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ('{"path": "a"\n"content": 1}', "Expecting ',' delimiter (line 2, column 1)"),
        ("", "line 1, column 1"),
        ("[1]", "must be a JSON object"),
        ("null", "must be a JSON object"),
        ("[" * 100_000, "no JSON"),
    ],
)
def test_what_is_no_json_object_is_refused_with_the_place_and_nothing_is_approved(text: str, why: str) -> None:
    with pytest.raises(InvalidInputError) as refused:
        arguments_in(text)

    assert why in str(refused.value)
    assert str(refused.value).endswith("Nothing was approved.")
