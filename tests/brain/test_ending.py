from __future__ import annotations

from typing import get_args

import pytest

from perdure.brain.ending import ended, status_after
from perdure.contracts.instructions import CallModel, TurnEnd
from perdure.contracts.requests import Send
from perdure.contracts.state import RunStatus
from tests.brain.agents import a_call, an_agent
from tests.brain.runs import Led, a_conversation, asked


@pytest.mark.parametrize("end", get_args(TurnEnd))
def test_every_end_of_the_turn_ends_a_one_turn_run(end: TurnEnd) -> None:
    state = Led().state.model_copy(update={"status": status_after(end)})

    assert ended(state)


def test_a_turn_without_a_usable_answer_fails_the_run_and_one_that_somebody_stopped_does_not() -> None:
    statuses: dict[TurnEnd, RunStatus] = {end: status_after(end) for end in get_args(TurnEnd)}

    failed = {"failed", "refused", "invalid_calls", "repeated_calls", "invalid_output"}
    assert {end for end, status in statuses.items() if status == "failed"} == failed
    assert {end for end, status in statuses.items() if status == "canceled"} == {"canceled"}


# The same calls with the same results, over and over


def a_run(repeats: int = 2) -> Led:
    run = Led(a_conversation())
    run.resolved(an_agent(repeats=repeats))
    return run


def look_again(run: Led, text: str = "nothing new", tool: str = "look", path: str = "a.md") -> CallModel | None:
    """One step that calls a tool and gets a result; the model call that follows in the same turn, if there is one."""
    step, turn = run.turn.step, run.turn.number
    run.replied(a_call(tool, path=path))
    run.ruled(run.ruling(f"t{turn}s{step}c1", "allow"))
    return next((call for call in asked(run.ended(f"t{turn}s{step}c1", text)) if call.turn == turn), None)


def last_end(run: Led) -> str:
    assert run.state.last_turn is not None
    return run.state.last_turn.end


def test_a_model_that_repeats_itself_is_told_and_then_stopped() -> None:
    run = a_run(repeats=2)
    calls = [look_again(run) for _ in range(4)]

    assert [call and call.nudged for call in calls] == [False, True, True, None]
    assert run.state.status == "idle"
    assert (last_end(run), run.state.last_turn and run.state.last_turn.steps) == ("repeated_calls", 4)


def test_a_one_turn_run_that_repeats_itself_fails_visibly() -> None:
    run = Led()
    run.resolved(an_agent(repeats=2))
    for _ in range(4):
        look_again(run)

    assert run.state.status == "failed"


@pytest.mark.parametrize("change", [{"text": "something new"}, {"path": "b.md"}, {"tool": "write"}])
def test_another_call_or_another_result_is_no_repetition(change: dict[str, str]) -> None:
    run = a_run(repeats=2)
    look_again(run)
    assert look_again(run, **change)
    for _ in range(2):
        assert look_again(run) is not None

    last = look_again(run)
    assert last is not None
    assert last.nudged


def test_a_result_of_another_status_is_no_repetition() -> None:
    run = a_run(repeats=2)
    look_again(run, "it failed")
    run.replied(a_call("look", path="a.md"))
    run.judged(t1s2c1="allow")
    [call] = asked(run.ended("t1s2c1", "it failed", "error"))

    assert not call.nudged


def test_a_model_that_was_told_and_changes_its_way_goes_on() -> None:
    run = a_run(repeats=2)
    look_again(run)
    told = look_again(run)
    changed = look_again(run, path="b.md")

    assert told is not None
    assert changed is not None
    assert (told.nudged, changed.nudged) == (True, False)


def test_polling_may_repeat_without_end() -> None:
    run = a_run(repeats=2)

    assert [call and call.nudged for call in (look_again(run, tool="poll") for _ in range(12))] == [False] * 12


def test_what_is_called_beside_polling_counts() -> None:
    run = a_run(repeats=2)
    nudged = []
    for step in range(1, 5):
        run.replied(a_call("poll"), a_call("look"))
        run.ruled(*(run.ruling(f"t1s{step}c{position}", "allow") for position in (1, 2)))
        run.ended(f"t1s{step}c1", f"{step} percent")
        nudged += [call.nudged for call in asked(run.ended(f"t1s{step}c2", "nothing new"))]

    assert nudged == [False, True, True]
    assert last_end(run) == "repeated_calls"


def test_polling_in_between_interrupts_a_row() -> None:
    run = a_run(repeats=2)
    look_again(run)
    look_again(run, tool="poll")
    call = look_again(run)

    assert call is not None
    assert not call.nudged


def test_denials_count_as_results() -> None:
    run = a_run(repeats=2)
    for step in range(1, 5):
        run.replied(a_call("write"))
        run.ruled(run.ruling(f"t1s{step}c1", "deny"))

    assert last_end(run) == "repeated_calls"


def test_a_new_turn_counts_anew_and_answers_what_came_in_the_last_round() -> None:
    run = a_run(repeats=2)
    for _ in range(3):
        look_again(run)
    run.told(Send(message="Stop that."))
    assert look_again(run) is None
    assert last_end(run) == "repeated_calls"

    assert run.transcript[-1] == "u2"
    call = look_again(run)
    assert call is not None
    assert (call.message_id, call.nudged) == ("t2s2", False)
