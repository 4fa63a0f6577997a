from __future__ import annotations

import pytest

from perdure.contracts.decode import DEEPEST, decode
from perdure.contracts.state import RunOutput


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ('{"a": [1, 2.5, null, true, "x"]}', {"a": [1, 2.5, None, True, "x"]}),
        ('[{"a": 1}, {"a": 2}]', [{"a": 1}, {"a": 2}]),
        ('"\\ud83d\\ude00"', "😀"),
        ("1e300", 1e300),
    ],
)
def test_json_is_read_as_what_it_says(text: str, value: object) -> None:
    assert decode(text) == value


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "Expecting value"),
        ("{'a': 1}", "property name enclosed in double quotes"),
        ('{"a": NaN}', "NaN is no JSON"),
        ("[-Infinity]", "-Infinity is no JSON"),
        ("1e999", "the number 1e999 is too large"),
        ('{"b": {"a": 1, "a": 2}}', "the key 'a' is there twice"),
        ('{"a": "\\ud800"}', "a string holds half of a surrogate pair"),
        ('{"\\udc00": 1}', "a string holds half of a surrogate pair"),
        ("9" * 5_000, "a number of 5000 digits is too long"),
        ("[" * 102 + "]" * 102, "nested deeper than 100 levels"),
        ("[" * 200_000, "nested deeper than 100 levels"),
    ],
)
def test_what_cannot_be_kept_as_json_says_why(text: str, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        decode(text)


def test_the_deepest_value_that_is_read_can_be_recorded() -> None:
    data = decode('{"a":' * DEEPEST + "1" + "}" * DEEPEST)
    output = RunOutput(run_id="r", status="completed", data=data)
    assert RunOutput.model_validate_json(output.model_dump_json()).data == data
