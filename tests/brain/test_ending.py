from __future__ import annotations

from typing import get_args

import pytest

from perdure.brain.ending import ended, status_after
from perdure.contracts.instructions import TurnEnd
from perdure.contracts.state import RunStatus
from tests.brain.runs import Led


@pytest.mark.parametrize("end", get_args(TurnEnd))
def test_every_end_of_the_turn_ends_a_one_turn_run(end: TurnEnd) -> None:
    state = Led().state.model_copy(update={"status": status_after(end)})

    assert ended(state)


def test_a_turn_without_a_usable_answer_fails_the_run_and_one_that_somebody_stopped_does_not() -> None:
    statuses: dict[TurnEnd, RunStatus] = {end: status_after(end) for end in get_args(TurnEnd)}

    failed = {"failed", "refused", "invalid_calls", "repeated_calls"}
    assert {end for end, status in statuses.items() if status == "failed"} == failed
    assert {end for end, status in statuses.items() if status == "canceled"} == {"canceled"}
