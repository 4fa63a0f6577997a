from __future__ import annotations

from typing import Any

import pytest
from temporalio.exceptions import ApplicationError, CancelledError, TimeoutType
from temporalio.exceptions import TimeoutError as ActivityTimeoutError

from perdure.contracts.activities import Judgement, LiveText
from perdure.contracts.approvals import CallVerdict, Verdict
from perdure.contracts.failures import Failure
from perdure.contracts.messages import AssistantMessage, CallPart
from perdure.contracts.usage import Bill, Cost, Usage
from perdure.workflows.given import Lost, checked, model_outcome, result_of, verdicts_of
from tests.brain.agents import START

ALLOWED = CallVerdict(call_id="t1s1c1", verdict=Verdict(decision="allow", rule="effect"))
AWAY = Lost(ApplicationError("the authority is away"))


def test_each_call_has_the_verdict_that_authority_gave_it() -> None:
    assert verdicts_of(("t1s1c1",), "available", Judgement(verdicts=(ALLOWED,))) == (ALLOWED,)


@pytest.mark.parametrize("given", [AWAY, Judgement(verdicts=(ALLOWED,))], ids=["no judgement", "none on this call"])
def test_what_was_not_judged_asks_and_only_a_person_lifts_that(given: Judgement | Lost) -> None:
    [unjudged] = verdicts_of(("t1s1c2",), "available", given)

    assert (unjudged.call_id, unjudged.verdict.decision, unjudged.verdict.rule) == ("t1s1c2", "ask", "error")
    assert unjudged.verdict.firm
    assert "could not judge this call" in unjudged.verdict.reason


def test_what_was_not_judged_is_denied_where_nobody_can_be_asked() -> None:
    [unjudged] = verdicts_of(("t1s1c1",), "none", AWAY)

    assert (unjudged.verdict.decision, unjudged.verdict.rule) == ("deny", "error")


@pytest.mark.parametrize(
    ("cause", "status"),
    [
        (CancelledError("stopped"), "interrupted"),
        (ApplicationError("no such tool", type="NotFoundError"), "unavailable"),
        (ApplicationError("the worker goes", type="WorkerShutdown"), "unknown"),
        (ApplicationError("division by zero", type="ZeroDivisionError"), "error"),
        (None, "error"),
    ],
)
def test_a_call_that_gave_nothing_settles_as_what_became_of_it(cause: BaseException | None, status: str) -> None:
    assert result_of(CallPart(call_id="t1s1c1", tool="look"), Lost(cause)).status == status


@pytest.mark.parametrize("value", [None, 7, {"nonsense": 1}])
def test_a_value_of_another_kind_is_lost_and_not_quoted(value: Any) -> None:
    lost = checked(value, AssistantMessage)

    assert isinstance(lost, Lost)
    assert str(lost.cause) == "The activity returned something that cannot be read as AssistantMessage."


def test_a_model_call_that_was_stopped_in_its_back_off_keeps_what_it_had_written() -> None:
    live = LiveText(message_id="t1s1", attempt=2, text="I begin", reasoning="Hm.", model="demo:other")
    stopped = Lost(CancelledError("stopped"))
    outcome = model_outcome("t1s1", "demo:demo", stopped, START, stopping=True, recalled=live)

    assert outcome.kind == "model_reply"
    assert (outcome.message.text, outcome.message.model, outcome.message.attempt) == ("I begin", "demo:other", 2)
    assert outcome.message.finish == "interrupted"


TAKEN = Bill(usage=Usage(requests=3, input_tokens=100), cost=Cost(nano_dollars=5, unpriced=1))


def late(how: TimeoutType, *details: Any) -> Lost:
    return Lost(ActivityTimeoutError("late", type=how, last_heartbeat_details=details))


@pytest.mark.parametrize(
    "lost",
    [
        Lost(ApplicationError("busy", Failure(kind="overloaded", message="busy"), TAKEN)),
        Lost(ApplicationError("busy", {"kind": "overloaded", "message": "busy"}, TAKEN.model_dump(mode="json"))),
        late(
            TimeoutType.HEARTBEAT,
            LiveText(message_id="t1s1", attempt=3, usage=TAKEN.usage, cost=TAKEN.cost).model_dump(mode="json"),
        ),
    ],
    ids=["failed", "failed, as JSON", "worker lost"],
)
def test_a_model_call_that_fails_says_what_its_attempts_took(lost: Lost) -> None:
    outcome = model_outcome("t1s1", "demo:demo", lost, START, stopping=False, recalled=None)

    assert outcome.kind == "model_failure"
    assert outcome.bill == TAKEN


@pytest.mark.parametrize("details", [(), ("busy",), ("busy", "much"), ("busy", None)])
def test_a_model_call_whose_failure_says_nothing_of_what_it_took_took_nothing_that_is_known(details: Any) -> None:
    outcome = model_outcome(
        "t1s1", "demo:demo", Lost(ApplicationError("busy", *details)), START, stopping=False, recalled=None
    )

    assert outcome.kind == "model_failure"
    assert outcome.bill == Bill()


@pytest.mark.parametrize(
    ("how", "why"),
    [(TimeoutType.HEARTBEAT, "Its worker was lost."), (TimeoutType.START_TO_CLOSE, "did not end within its deadline.")],
)
def test_a_lost_worker_is_told_from_a_deadline(how: TimeoutType, why: str) -> None:
    outcome = model_outcome("t1s1", "demo:demo", late(how), START, stopping=False, recalled=None)
    result = result_of(CallPart(call_id="t1s1c1", tool="look"), late(how))

    assert outcome.kind == "model_failure"
    assert why in outcome.failure.message
    assert result.status == "unknown"
    assert why in result.text


def test_a_message_of_another_call_is_a_failure() -> None:
    other = AssistantMessage(message_id="t9s9", parts=(), model="demo:demo")
    outcome = model_outcome("t1s1", "demo:demo", other, START, stopping=False, recalled=None)

    assert outcome.kind == "model_failure"
    assert "returned the message t9s9" in outcome.failure.message
