from __future__ import annotations

import pytest

from perdure.brain.refuse import refusal, targets
from perdure.contracts.requests import Answer, Approve, Close, Deny, Interrupt, Order, Send
from tests.brain.agents import a_call
from tests.brain.runs import Led, a_conversation


def a_run_that_waits() -> Led:
    """One call waits for approval, one for an answer, one runs, one is settled."""
    run = Led(a_conversation())
    run.resolved()
    run.replied(a_call("write"), a_call("ask_human", question="Which?", options=["a", "b"]), *[a_call("look")] * 2)
    run.judged(t1s1c1="ask", t1s1c2="allow", t1s1c3="allow", t1s1c4="allow")
    run.ended("t1s1c4")
    return run


@pytest.mark.parametrize(
    ("order", "why"),
    [
        (Approve(call_id="t9s9c9"), "There is no call t9s9c9 in this run."),
        (Approve(call_id="t1s1c4"), "Call t1s1c4 is settled already."),
        (Approve(call_id="t1s1c3"), "Call t1s1c3 does not wait for a human: it is running."),
        (Approve(call_id="t1s1c2"), "Call t1s1c2 waits for an answer."),
        (Deny(call_id="t1s1c2"), "Call t1s1c2 waits for an answer."),
        (Approve(request_id="t1s1a9"), "Request t1s1a9 is unknown or closed."),
        (Approve(call_id="t1s1c1", request_id="t1s1a9"), "Call t1s1c1 does not wait in request t1s1a9."),
        (
            Approve(call_id="t1s1c1", digest="another"),
            "The response was made for other arguments than the recorded ones.",
        ),
        (Answer(answer="a", call_id="t1s1c1"), "Call t1s1c1 waits for an approval."),
        (Answer(answer="a", call_id="t1s1c4"), "Call t1s1c4 is settled already."),
        (Answer(answer="a", call_id="t9s9c9"), "There is no call t9s9c9 in this run."),
        (Answer(answer="c"), "The answer must be one of: a, b."),
    ],
)
def test_a_response_that_fits_nothing_is_refused_with_the_reason_and_changes_nothing(order: Order, why: str) -> None:
    run = a_run_that_waits()

    assert refusal(run.state, order).startswith(why)
    assert run.refused(order).startswith(why)


@pytest.mark.parametrize(
    ("order", "touched"),
    [
        (Approve(all=True), ["t1s1c1"]),
        (Approve(call_id="t1s1c1"), ["t1s1c1"]),
        (Deny(request_id="t1s1a1"), ["t1s1c1"]),
        (Approve(call_id="t1s1c1", request_id="t1s1a1"), ["t1s1c1"]),
        (Answer(answer="a"), ["t1s1c2"]),
        (Answer(answer="b", call_id="t1s1c2"), ["t1s1c2"]),
    ],
)
def test_a_response_that_fits_means_the_calls_that_wait_for_it(order: Order, touched: list[str]) -> None:
    state = a_run_that_waits().state

    assert refusal(state, order) == ""
    assert isinstance(order, Approve | Deny | Answer)
    assert [call.call_id for call in targets(state, order)] == touched


@pytest.mark.parametrize("order", [Approve(), Approve(reason="looks bad, do not"), Approve(all=False), Deny()])
def test_a_response_that_names_no_call_decides_nothing_however_few_wait(order: Order) -> None:
    run = a_run_that_waits()

    refused = run.refused(order)

    assert refused == "The response names no call. Waiting for approval: t1s1c1. Give its call_id, or say all."
    assert [call.call_id for call in run.state.requests[0].calls] == ["t1s1c1"]


def test_a_response_with_the_digest_of_the_recorded_arguments_is_taken() -> None:
    run = a_run_that_waits()
    digest = run.state.requests[0].calls[0].digest

    assert refusal(run.state, Approve(call_id="t1s1c1", digest=digest)) == ""


def test_a_second_response_to_the_same_call_is_refused() -> None:
    run = a_run_that_waits()
    run.told(Approve(call_id="t1s1c1"))

    assert "does not wait for a human" in run.refused(Deny(call_id="t1s1c1"))


def test_of_several_questions_an_answer_must_name_one() -> None:
    run = Led()
    run.resolved()
    run.replied(a_call("ask_human", question="Which?"), a_call("ask_human", question="When?"))
    run.judged(t1s1c1="allow", t1s1c2="allow")

    assert run.refused(Answer(answer="now")) == "2 questions are open: name one of t1s1c1, t1s1c2."


@pytest.mark.parametrize(
    "order",
    [Send(message="hi"), Approve(), Deny(), Answer(answer="x"), Interrupt(), Close()],
    ids=lambda each: each.kind,
)
def test_an_ended_run_refuses_every_order(order: Order) -> None:
    run = Led()
    run.resolved()
    run.replied("Done.")

    assert refusal(run.state, order) == "The run has ended (completed)."


@pytest.mark.parametrize(
    ("order", "why"),
    [
        (Approve(), "Nothing waits for approval."),
        (Deny(), "Nothing waits for approval."),
        (Answer(answer="x"), "No question is open."),
        (Interrupt(), "No turn is running: there is nothing to interrupt."),
        (Interrupt(turn=1), "No turn is running: there is nothing to interrupt."),
    ],
)
def test_a_resting_run_refuses_what_needs_a_turn(order: Order, why: str) -> None:
    run = Led(a_conversation())
    run.resolved()
    run.replied("Hello.")

    assert run.refused(order) == why


def test_a_call_of_an_earlier_turn_is_known_as_settled() -> None:
    run = a_run_that_waits()
    run.told(Interrupt())
    run.ended("t1s1c3", status="interrupted")

    assert run.refused(Approve(call_id="t1s1c1")) == "Call t1s1c1 is settled already."


def a_run_that_may_call(tool: str) -> Led:
    run = Led(a_conversation())
    run.resolved()
    run.replied(a_call(tool, amount=5))
    run.judged(t1s1c1="ask")
    return run


def test_changed_arguments_that_the_tool_does_not_take_are_refused_and_the_call_still_waits() -> None:
    run = a_run_that_may_call("pay")
    order = Approve(call_id="t1s1c1", arguments={"amount": "x"})

    why = refusal(run.state, order)

    assert why.startswith("t1s1c1 still waits: the changed arguments do not fit its schema:")
    assert '$.amount: is "x"' in why
    assert run.refused(order) == why
    assert [call.status for call in targets(run.state, Approve(all=True))] == ["waiting"]
    assert refusal(run.state, Approve(call_id="t1s1c1", arguments={"amount": 6})) == ""


def test_a_schema_that_cannot_be_used_stops_no_order() -> None:
    order = Approve(call_id="t1s1c1", arguments={"amount": "x"})

    assert refusal(a_run_that_may_call("odd").state, order) == ""
