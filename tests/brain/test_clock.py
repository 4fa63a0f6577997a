from __future__ import annotations

from datetime import datetime, timedelta

import pytest

from perdure.brain.clock import wake_at
from perdure.contracts.agent import ApprovalRule, Waiting
from perdure.contracts.requests import Approve, Deny
from perdure.workflows.given import Lost, verdicts_of
from tests.brain.agents import START, a_call, an_agent
from tests.brain.runs import Led, a_conversation, kinds

HOUR = timedelta(hours=1)
DENY = Waiting(deadline=HOUR)
APPROVE = Waiting(deadline=HOUR, default="approve")


def a_run_that_waits(waiting: Waiting, rule: ApprovalRule | None = None) -> Led:
    run = Led()
    run.resolved(an_agent(waiting=waiting))
    run.replied(a_call("write", path="a.md"))
    run.asked_by(rule or ApprovalRule(), "t1s1c1")
    return run


def deadlines(run: Led) -> list[tuple[str, str]]:
    return [(event.call_id, event.decision) for event in run.events if event.kind == "deadline_passed"]


def test_the_clock_wakes_a_resting_run_at_its_end_and_no_run_that_waits_for_nobody() -> None:
    run = Led(a_conversation())
    at_start = wake_at(run.state)
    run.resolved()
    in_turn = wake_at(run.state)
    run.replied("Hello.")

    assert (at_start, in_turn) == (None, None)
    assert wake_at(run.state) == run.now + run.state.request.idle_timeout


def test_a_run_without_a_deadline_waits_for_ever() -> None:
    run = a_run_that_waits(Waiting())

    assert wake_at(run.state) is None
    assert run.state.requests[0].deadline is None


def test_the_request_shows_its_deadline_and_what_holds_then() -> None:
    run = a_run_that_waits(APPROVE)

    [request] = run.state.requests
    assert (request.deadline, request.default) == (START + HOUR, "approve")
    assert wake_at(run.state) == START + HOUR


def test_before_the_deadline_nothing_is_decided() -> None:
    run = a_run_that_waits(DENY)
    before = run.state

    assert run.clock(START + HOUR - timedelta(microseconds=1)) == ()
    assert run.state == before


def test_a_deadline_that_passes_denies_and_a_later_response_is_refused_as_late() -> None:
    run = a_run_that_waits(DENY)
    instructions = run.clock(START + HOUR)

    assert "call_tools" not in kinds(instructions)
    assert "authorize_calls" not in kinds(instructions)
    assert run.result("t1s1c1") == ("denied", "Denied: Nobody responded before the deadline.")
    assert deadlines(run) == [("t1s1c1", "deny")]
    assert run.refused(Approve(call_id="t1s1c1")) == (
        "Call t1s1c1 is settled already: the deadline for a response has passed."
    )
    assert wake_at(run.state) is None


def test_a_deadline_that_passes_approves_where_the_agent_says_so_and_a_later_response_is_refused_as_late() -> None:
    run = a_run_that_waits(APPROVE)

    assert kinds(run.clock(START + HOUR)) == ["authorize_calls", "ask_humans"]
    response = run.turn.batch[0].response
    assert response is not None
    assert (response.decision, response.by_deadline, response.actor) == ("approve", True, "")
    assert response.digest == run.turn.batch[0].digest
    assert deadlines(run) == [("t1s1c1", "approve")]
    assert "the deadline for a response has passed" in run.refused(Deny(call_id="t1s1c1"))

    run.judged(t1s1c1="allow")
    assert "the deadline for a response has passed" in run.refused(Deny(call_id="t1s1c1"))
    run.ended("t1s1c1")
    assert run.result("t1s1c1")[0] == "ok"


@pytest.mark.parametrize(
    "rule",
    [ApprovalRule(approvers=("ada",)), ApprovalRule(not_starter=True), ApprovalRule(needed=2)],
    ids=["named approvers", "not the starter", "two people"],
)
def test_no_deadline_approves_what_only_certain_people_may(rule: ApprovalRule) -> None:
    run = a_run_that_waits(APPROVE, rule)
    run.clock(START + HOUR)

    assert run.result("t1s1c1")[0] == "denied"
    assert deadlines(run) == [("t1s1c1", "deny")]


def test_no_deadline_approves_what_always_asks() -> None:
    run = Led()
    run.resolved(an_agent(waiting=APPROVE))
    run.replied(a_call("write"), a_call("write"))
    run.ruled(run.ruling("t1s1c1", "ask", firm=True), run.ruling("t1s1c2", "ask"))

    run.clock(START + HOUR)

    assert run.result("t1s1c1")[0] == "denied"
    assert deadlines(run) == [("t1s1c1", "deny"), ("t1s1c2", "approve")]


def test_no_deadline_approves_what_could_not_be_judged() -> None:
    run = Led()
    run.resolved(an_agent(waiting=APPROVE))
    run.replied(a_call("write"))
    run.ruled(*verdicts_of(("t1s1c1",), "available", Lost(None)))

    run.clock(START + HOUR)

    assert run.result("t1s1c1")[0] == "denied"
    assert wake_at(run.state) is None


def test_a_call_that_asks_again_after_the_deadline_approved_it_gets_a_new_deadline_and_an_end() -> None:
    run = a_run_that_waits(APPROVE)
    run.clock(START + HOUR)
    run.ruled(run.ruling("t1s1c1", "ask", firm=True))

    assert run.state.requests[0].version == 2
    assert wake_at(run.state) == START + 2 * HOUR
    run.clock(START + 2 * HOUR)
    assert run.result("t1s1c1")[0] == "denied"


def test_a_question_that_nobody_answers_in_time_tells_the_model_so() -> None:
    run = Led()
    run.resolved(an_agent(waiting=APPROVE))
    run.replied(a_call("ask_human", question="Which?"))
    run.judged(t1s1c1="allow")
    assert wake_at(run.state) == START + HOUR

    run.clock(START + HOUR)

    assert run.result("t1s1c1") == ("error", "Nobody responded before the deadline.")
    assert run.state.status == "running"


def test_each_request_has_a_deadline_of_its_own() -> None:
    run = Led()
    run.resolved(an_agent(waiting=DENY))
    run.replied(a_call("write"), a_call("write"))
    run.judged(t1s1c1="ask")
    run.now += HOUR / 2
    run.judged(t1s1c2="ask")

    run.clock(START + HOUR)

    assert [call.status for call in run.turn.batch] == ["settled", "waiting"]
    assert wake_at(run.state) == START + HOUR * 1.5


def test_people_are_reminded_once_before_the_deadline() -> None:
    run = Led()
    run.resolved(an_agent(waiting=Waiting(deadline=HOUR, remind=HOUR / 4)))
    run.replied(a_call("write"), a_call("ask_human", question="Which?"))
    run.judged(t1s1c1="ask", t1s1c2="allow")
    assert wake_at(run.state) == START + HOUR * 0.75

    assert kinds(run.clock(START + HOUR * 0.75)) == ["ask_humans"]
    assert wake_at(run.state) == START + HOUR
    assert run.clock(START + HOUR * 0.8) == ()

    assert run.notices[-2:] == [("due", "t1s1a1"), ("due", "t1s1c2")]


def test_a_reminder_that_is_due_before_its_request_opened_comes_once_and_at_once() -> None:
    run = a_run_that_waits(Waiting(deadline=HOUR, remind=2 * HOUR))
    wakes: list[datetime | None] = [wake_at(run.state)]
    run.clock(run.now)
    wakes.append(wake_at(run.state))

    assert wakes == [START - HOUR, START + HOUR]
    assert run.notices == [("opened", "t1s1a1"), ("due", "t1s1a1")]


def test_an_interrupt_takes_the_deadline_away() -> None:
    run = a_run_that_waits(APPROVE)
    run.canceled()

    assert wake_at(run.state) is None
    assert run.clock(START + HOUR) == ()
