from __future__ import annotations

from perdure.contracts.requests import Answer, Approve, Deny, Interrupt
from tests.brain.agents import a_call
from tests.brain.runs import Led, a_conversation


def a_run_that_waits() -> Led:
    """Two calls wait for approval in one request, one for an answer."""
    run = Led(a_conversation())
    run.resolved()
    run.replied(a_call("write"), a_call("write"), a_call("ask_human", question="Which?"))
    run.judged(t1s1c1="ask", t1s1c2="ask", t1s1c3="allow")
    return run


OPENED = [("opened", "t1s1a1"), ("opened", "t1s1c3")]


def test_people_are_told_once_of_what_opened() -> None:
    run = a_run_that_waits()

    assert run.notices == OPENED


def test_a_request_closes_with_its_last_call() -> None:
    run = a_run_that_waits()
    run.told(Approve(call_id="t1s1c1"))
    assert run.notices == OPENED
    run.told(Deny(call_id="t1s1c2"))

    assert run.notices == [*OPENED, ("closed", "t1s1a1")]


def test_a_question_closes_with_its_answer() -> None:
    run = a_run_that_waits()
    run.told(Answer(answer="this"))

    assert run.notices == [*OPENED, ("closed", "t1s1c3")]


def test_a_call_that_asks_again_opens_a_request_of_its_own() -> None:
    run = a_run_that_waits()
    run.told(Approve(call_id="t1s1c1"))
    run.judged(t1s1c1="ask")

    assert run.notices == [*OPENED, ("opened", "t1s1a2")]


def test_a_stop_closes_everything() -> None:
    run = a_run_that_waits()
    run.told(Interrupt())

    assert run.notices == [*OPENED, ("closed", "t1s1a1"), ("closed", "t1s1c3")]


def test_a_cancel_closes_everything_while_a_call_runs() -> None:
    run = Led()
    run.resolved()
    run.replied(a_call("look"), a_call("write"))
    run.judged(t1s1c1="allow", t1s1c2="ask")
    run.canceled()

    assert run.notices == [("opened", "t1s1a1"), ("closed", "t1s1a1")]
