from __future__ import annotations

from typing import get_args

import pytest

from perdure.brain.clock import wake_at
from perdure.brain.ending import ended, status_after
from perdure.contracts.instructions import TurnEnd
from perdure.contracts.state import RunStatus
from tests.brain.runs import Led, a_conversation


@pytest.mark.parametrize("end", get_args(TurnEnd))
def test_every_end_of_the_turn_ends_a_one_turn_run(end: TurnEnd) -> None:
    state = Led().state.model_copy(update={"status": status_after(end)})

    assert ended(state)


def test_a_turn_without_a_usable_answer_fails_the_run_and_one_that_somebody_stopped_does_not() -> None:
    statuses: dict[TurnEnd, RunStatus] = {end: status_after(end) for end in get_args(TurnEnd)}

    assert {end for end, status in statuses.items() if status == "failed"} == {"failed", "refused", "invalid_calls"}
    assert {end for end, status in statuses.items() if status == "canceled"} == {"canceled"}


def test_only_a_resting_run_is_woken_by_the_clock() -> None:
    run = Led(a_conversation())
    at_start = wake_at(run.state)
    run.resolved()
    in_turn = wake_at(run.state)
    run.replied("Hello.")

    assert (at_start, in_turn) == (None, None)
    assert wake_at(run.state) == run.now + run.state.request.idle_timeout
