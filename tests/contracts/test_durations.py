from __future__ import annotations

from datetime import timedelta

import pytest
from pydantic import TypeAdapter, ValidationError

from perdure.contracts.durations import Duration

DURATIONS = TypeAdapter(Duration)


@pytest.mark.parametrize(
    ("text", "duration"),
    [
        ("250ms", timedelta(milliseconds=250)),
        (" 1.5 m ", timedelta(seconds=90)),
        ("2h", timedelta(hours=2)),
        ("30d", timedelta(days=30)),
        ("PT1H", timedelta(hours=1)),
    ],
)
def test_a_duration_is_a_number_with_its_unit(text: str, duration: timedelta) -> None:
    assert DURATIONS.validate_python(text) == duration


@pytest.mark.parametrize(
    "text", ["soon", "0s", "-1h", "5 parsecs", "", True, "9999999999d", "36501d", "999999999d", f"{'9' * 400}d"]
)
def test_what_is_no_duration_above_zero_is_refused(text: object) -> None:
    with pytest.raises(ValidationError):
        DURATIONS.validate_python(text)
