from __future__ import annotations

import pytest

from perdure.brain.receipt import receipt_for
from perdure.contracts.agent import ApprovalRule
from perdure.contracts.requests import (
    Answer,
    Approve,
    Close,
    Deny,
    Edit,
    Interrupt,
    Order,
    Remember,
    Revoke,
    Send,
    Withdraw,
)
from tests.brain.agents import a_call
from tests.brain.runs import Led


def a_run_that_waits() -> Led:
    run = Led()
    run.resolved()
    run.replied(a_call("write"), a_call("write"), a_call("ask_human", question="Which?"))
    run.judged(t1s1c1="ask", t1s1c2="ask", t1s1c3="allow")
    return run


@pytest.mark.parametrize(
    ("order", "ids"),
    [
        (Send(message="hi"), ("u3",)),
        (Send(message="again", client_key="k"), ("u2",)),
        (Edit(message_id="u2", message="x"), ("u2",)),
        (Withdraw(message_id="u2"), ("u2",)),
        (Approve(all=True), ("t1s1c1", "t1s1c2")),
        (Approve(call_ids=("t1s1c2",)), ("t1s1c2",)),
        (Deny(call_id="t1s1c1"), ("t1s1c1",)),
        (Answer(answer="x"), ("t1s1c3",)),
        (Revoke(grant_id="g1"), ("g1",)),
        (Interrupt(), ()),
        (Close(), ()),
    ],
    ids=lambda each: each.kind if hasattr(each, "kind") else "",
)
def test_the_receipt_names_what_the_order_touches(order: Order, ids: tuple[str, ...]) -> None:
    run = a_run_that_waits()
    run.told(Send(message="once", client_key="k"))

    receipt = receipt_for(run.state, order)

    assert (receipt.accepted, receipt.ids) == (True, ids)


def test_a_message_while_people_are_asked_says_that_it_is_no_response() -> None:
    run = a_run_that_waits()
    with_question = receipt_for(run.state, Send(message="yes"))
    run.told(Answer(answer="x"))
    with_request = receipt_for(run.state, Send(message="yes"))
    run.told(Deny(all=True))
    with_neither = receipt_for(run.state, Send(message="yes"))

    assert "A question is open (t1s1c3)" in with_question.reason
    assert "An approval is awaited (t1s1c1, t1s1c2)" in with_request.reason
    assert with_neither.reason == ""


def test_an_approval_that_needs_another_one_says_so() -> None:
    run = Led()
    run.resolved()
    run.replied(a_call("write"), a_call("write"))
    run.ruled(run.ruling("t1s1c1", "ask", approval=ApprovalRule(needed=2)), run.ruling("t1s1c2", "ask"))

    first = receipt_for(run.state, Approve(all=True, actor="ada"))
    run.told(Approve(call_id="t1s1c1", actor="ada"))
    edited = receipt_for(run.state, Approve(call_id="t1s1c1", actor="bob", arguments={"path": "b"}))
    last = receipt_for(run.state, Approve(call_id="t1s1c1", actor="bob"))

    assert first.reason == "Further approvals are needed for t1s1c1."
    assert edited.reason == "Further approvals are needed for t1s1c1."
    assert last.reason == ""


def test_a_repeated_message_that_was_withdrawn_touches_nothing() -> None:
    run = a_run_that_waits()
    run.told(Send(message="once", client_key="k"))
    run.told(Withdraw(message_id="u2"))

    assert receipt_for(run.state, Send(message="once", client_key="k")).ids == ()


def test_a_grant_is_remembered_and_revoked_by_its_id() -> None:
    run = a_run_that_waits()
    run.told(Approve(call_id="t1s1c1", remember=Remember()))

    assert receipt_for(run.state, Revoke(grant_id="g1")).ids == ("g1",)


def test_a_withdrawal_that_stops_a_turn_says_which_other_messages_it_leaves_unanswered() -> None:
    run = Led()
    run.told(Send(message="And this."))
    run.resolved()
    run.told(Send(message="Not yet read."))

    stops = receipt_for(run.state, Withdraw(message_id="u1"))
    waits = receipt_for(run.state, Withdraw(message_id="u3"))

    assert stops.reason == (
        "The turn stops. What the model has read of u1 stays in the transcript. "
        "It leaves u2 unanswered too: send again what still counts."
    )
    assert waits.reason == ""
