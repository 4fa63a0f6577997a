from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from perdure.contracts.events import Position


@given(execution_id=st.text(), number=st.integers(min_value=0))
def test_a_position_is_read_as_it_was_written(execution_id: str, number: int) -> None:
    position = Position(execution_id=execution_id, number=number)

    assert Position.parse(str(position)) == position


@pytest.mark.parametrize("text", ["", "abc", "abc:", "abc:x"])
def test_what_is_no_position_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="invalid literal"):
        Position.parse(text)
