from __future__ import annotations

from perdure.brain.inputs import judge_request
from perdure.brain.loop import Loop
from perdure.brain.resume import resume
from perdure.contracts.instructions import AuthorizeCalls, CallTools, ResolveAgent, StopWork
from perdure.contracts.requests import Approve, Interrupt, Send
from perdure.contracts.state import State
from tests.brain.agents import a_call, verdict
from tests.brain.runs import Led, a_conversation, asked


def handed_over(run: Led) -> State:
    """The state as the next execution reads it."""
    return State.model_validate_json(run.state.model_dump_json())


def test_a_run_that_waits_for_people_or_rests_opens_nothing() -> None:
    waiting = Led()
    waiting.resolved()
    waiting.replied(a_call("write"))
    waiting.judged(t1s1c1="ask")
    resting = Led(a_conversation())
    resting.resolved()
    resting.replied("Hello.")

    assert resume(handed_over(waiting)) == ()
    assert resume(handed_over(resting)) == ()


def test_a_run_without_an_agent_resolves_it() -> None:
    assert resume(handed_over(Led())) == (ResolveAgent(),)


def test_the_same_message_is_asked_for_again_on_the_same_transcript() -> None:
    run = Led()
    [first] = asked(run.resolved())
    run.told(Send(message="and this"))

    assert resume(handed_over(run)) == (first,)


def test_what_was_judged_is_judged_and_what_ran_runs() -> None:
    run = Led()
    run.resolved()
    run.replied(a_call("look"), a_call("look"))
    run.judged(t1s1c1="allow")

    assert resume(handed_over(run)) == (
        AuthorizeCalls(call_ids=("t1s1c2",)),
        CallTools(call_ids=("t1s1c1",)),
    )


def test_what_was_told_to_stop_is_stopped_in_the_new_execution() -> None:
    run = Led()
    run.resolved()
    run.told(Interrupt())

    assert resume(handed_over(run))[-1] == StopWork(model_call="t1s1")


def test_a_verdict_of_the_new_execution_is_the_one_that_the_call_awaits() -> None:
    run = Led()
    run.resolved()
    run.replied(a_call("write"))
    run.judged(t1s1c1="ask")
    run.told(Approve(call_id="t1s1c1"))
    run.loop = Loop(handed_over(run), run.now)
    [judging] = resume(run.state)
    assert isinstance(judging, AuthorizeCalls)

    [proposed] = judge_request(run.state, judging.call_ids, run.now).calls
    run.ruled(verdict(proposed.part, "allow", round=proposed.round))

    assert run.turn.batch[0].status == "running"


def test_a_handed_over_run_goes_on_to_the_same_end() -> None:
    run, other = Led(), Led()
    for led in (run, other):
        led.resolved()
        led.replied(a_call("write"))
        led.judged(t1s1c1="ask")
    other.loop = Loop(handed_over(other), other.now)
    for led in (run, other):
        led.told(Approve(call_id="t1s1c1", actor="ada"))
        led.judged(t1s1c1="allow")
        led.ended("t1s1c1")
        led.replied("Done.")

    assert run.state.status == "completed"
    assert run.state == other.state
