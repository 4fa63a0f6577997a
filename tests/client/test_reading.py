from __future__ import annotations

import pytest
from pydantic import BaseModel, JsonValue

from perdure.client.reading import read_as
from perdure.contracts.errors import InvalidInputError
from perdure.contracts.instructions import TurnEnd
from perdure.contracts.state import RunOutput


class Count(BaseModel):
    count: int


def ended(data: JsonValue = None, end: TurnEnd = "completed") -> RunOutput:
    return RunOutput(run_id="r", status="completed", end=end, output="text", data=data)


def test_the_data_of_a_run_is_read_as_what_it_was_asked_for() -> None:
    assert read_as(ended({"count": 3}), Count) == Count(count=3)
    assert read_as(ended([1, 2]), list[int]) == [1, 2]


def test_the_text_of_a_run_is_read_as_text() -> None:
    assert read_as(ended(), str) == "text"
    assert read_as(ended("data"), str) == "data"
    with pytest.raises(InvalidInputError, match=r"no str: its last turn ended interrupted"):
        read_as(ended(end="interrupted"), str)


@pytest.mark.parametrize(
    ("output", "said"),
    [
        (ended(), r"is text, no Count: output\(\) has it\. Start the run with output=Count\."),
        (ended({"count": "many"}), r"is no Count: count: Input should be a valid integer.*the schema that the run has"),
        (ended(end="interrupted"), r"Run r has no Count: its last turn ended interrupted\."),
    ],
)
def test_what_cannot_be_read_says_the_true_reason(output: RunOutput, said: str) -> None:
    with pytest.raises(InvalidInputError, match=said):
        read_as(output, Count)
