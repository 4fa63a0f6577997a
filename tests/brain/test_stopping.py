from __future__ import annotations

from collections.abc import Callable

import pytest

from perdure.brain.ending import ended
from perdure.contracts.requests import Approve, Interrupt, Send
from tests.brain.agents import OVERLOADED, a_call, an_agent
from tests.brain.runs import Led, a_conversation, asked, kinds


def a_run_that_is_asking_the_model() -> Led:
    run = Led(a_conversation())
    run.resolved(an_agent(concurrency=1))
    return run


def a_run_whose_calls_are_judged() -> Led:
    run = a_run_that_is_asking_the_model()
    run.replied(a_call("look"), a_call("write"))
    return run


def a_run_that_waits_for_approval() -> Led:
    run = a_run_whose_calls_are_judged()
    run.judged(t1s1c1="ask", t1s1c2="ask")
    return run


def a_run_that_waits_for_an_answer() -> Led:
    run = a_run_that_is_asking_the_model()
    run.replied(a_call("ask_human", question="Which?"))
    run.judged(t1s1c1="allow")
    return run


def a_run_whose_call_is_judged_again() -> Led:
    run = a_run_that_waits_for_approval()
    run.told(Approve(call_id="t1s1c1"))
    return run


def a_run_with_one_call_running_and_one_that_may() -> Led:
    run = a_run_whose_calls_are_judged()
    run.judged(t1s1c1="allow", t1s1c2="allow")
    return run


WITHOUT_WORK = [
    a_run_whose_calls_are_judged,
    a_run_that_waits_for_approval,
    a_run_that_waits_for_an_answer,
    a_run_whose_call_is_judged_again,
]


@pytest.mark.parametrize("begun", WITHOUT_WORK)
def test_a_cancel_ends_a_run_without_work_in_hand_at_once_and_settles_every_call(begun: Callable[[], Led]) -> None:
    run = begun()
    calls = [call.call_id for call in run.turn.batch]
    run.canceled()

    assert run.state.status == "canceled"
    assert {run.result(call_id)[0] for call_id in calls} == {"interrupted"}


@pytest.mark.parametrize("begun", WITHOUT_WORK)
def test_an_interrupt_of_a_run_without_work_in_hand_brings_it_to_rest_at_once(begun: Callable[[], Led]) -> None:
    run = begun()
    calls = [call.call_id for call in run.turn.batch]
    run.told(Interrupt())

    assert run.state.status == "idle"
    assert run.state.last_turn is not None
    assert run.state.last_turn.end == "interrupted"
    assert {run.result(call_id)[0] for call_id in calls} == {"interrupted"}
    assert (run.state.requests, run.state.questions) == ((), ())


def test_an_interrupted_model_call_is_stopped_and_its_partial_text_is_kept_and_marked() -> None:
    run = a_run_that_is_asking_the_model()
    assert kinds(run.told(Interrupt())) == ["stop_work"]

    run.replied("The capital of", a_call("look"), finish="interrupted")

    message = run.state.messages[1]
    assert message.role == "assistant"
    assert (message.text, message.finish) == ("The capital of", "interrupted")
    assert run.result("t1s1c1")[0] == "interrupted"
    assert run.state.status == "idle"


def test_an_answer_that_was_complete_when_the_interrupt_came_is_kept() -> None:
    run = a_run_that_is_asking_the_model()
    run.told(Interrupt())
    run.replied("All of it.")

    assert run.state.last_turn is not None
    assert (run.state.last_turn.end, run.state.last_turn.output) == ("interrupted", "All of it.")


def test_a_stop_waits_for_the_result_of_what_runs_and_starts_nothing_more() -> None:
    run = a_run_with_one_call_running_and_one_that_may()
    instructions = run.told(Interrupt())

    assert kinds(instructions) == ["stop_work", "settle_calls"]
    assert run.result("t1s1c2")[0] == "interrupted"
    assert "call_tools" not in kinds(run.ended("t1s1c1", "half of it", "interrupted"))
    assert run.state.status == "idle"
    assert run.transcript == ["u1", "t1s1", "t1s1c1r", "t1s1c2r"]


def test_a_cancel_while_a_call_runs_ends_the_run_with_its_result() -> None:
    run = a_run_with_one_call_running_and_one_that_may()
    run.canceled()
    assert not ended(run.state)
    run.ended("t1s1c1", "half of it", "interrupted")

    assert run.state.status == "canceled"
    assert run.state.last_turn is not None
    assert run.state.last_turn.end == "canceled"


def test_a_cancel_while_the_model_is_asked_ends_the_run_with_what_had_come() -> None:
    run = a_run_that_is_asking_the_model()
    run.canceled()
    run.replied("The capital", finish="interrupted")

    assert run.state.status == "canceled"
    assert run.transcript == ["u1", "t1s1"]


def test_a_cancel_wins_over_an_interrupt_that_is_under_way() -> None:
    run = a_run_that_is_asking_the_model()
    run.told(Interrupt())
    run.canceled()
    run.replied("The", finish="interrupted")

    assert run.state.status == "canceled"


def test_an_interrupt_does_not_soften_a_cancel() -> None:
    run = a_run_that_is_asking_the_model()
    run.canceled()
    run.told(Interrupt())
    run.replied("The", finish="interrupted")

    assert run.state.status == "canceled"


def test_a_cancel_of_a_resting_run_and_of_one_without_agent_ends_it() -> None:
    resting = a_run_that_is_asking_the_model()
    resting.replied("Hello.")
    resting.canceled()
    unresolved = Led()
    unresolved.canceled()

    assert (resting.state.status, unresolved.state.status) == ("canceled", "canceled")


def test_none_of_several_waiting_calls_runs_after_a_stop() -> None:
    run = a_run_that_waits_for_approval()
    run.told(Interrupt())

    refused = run.refused(Approve(call_id="t1s1c1"))

    assert "settled already" in refused
    assert run.judged(t1s1c1="allow", t1s1c2="allow") == ()


def test_an_interrupted_run_takes_the_message_that_waited() -> None:
    run = a_run_that_is_asking_the_model()
    run.told(Send(message="do this instead"))
    run.told(Interrupt())

    [call] = asked(run.replied("The", finish="interrupted"))

    assert call.message_id == "t2s1"
    assert run.transcript == ["u1", "t1s1", "u2"]


def test_an_interrupt_with_a_stale_turn_is_harmless() -> None:
    run = a_run_that_is_asking_the_model()

    assert run.refused(Interrupt(turn=7)) == "Turn 7 is not running: turn 1 is."


def test_an_interrupt_of_a_resting_run_is_harmless() -> None:
    run = a_run_that_is_asking_the_model()
    run.replied("Hello.")

    assert "nothing to interrupt" in run.refused(Interrupt())


def test_a_model_call_that_fails_while_it_is_stopped_ends_the_turn_interrupted() -> None:
    run = a_run_that_is_asking_the_model()
    run.told(Interrupt())
    run.model_failed(OVERLOADED)

    assert run.state.last_turn is not None
    assert run.state.last_turn.end == "interrupted"
