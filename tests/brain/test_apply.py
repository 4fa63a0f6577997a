from __future__ import annotations

from perdure.contracts.outcomes import AgentRejected
from perdure.contracts.requests import Approve, Send
from tests.brain.agents import OVERLOADED, a_call, an_agent
from tests.brain.runs import Led, a_conversation, asked


def test_an_agent_that_is_rejected_after_it_was_resolved_changes_nothing() -> None:
    run = Led()
    run.resolved()
    before = run.state

    run.feed(AgentRejected(at=run.now, failure=OVERLOADED))

    assert run.state == before


def test_a_message_that_comes_in_the_last_feedback_round_is_answered() -> None:
    run = Led(a_conversation())
    run.resolved(an_agent(feedback_rounds=0))
    run.replied(a_call("nope"))
    run.told(Send(message="and then?"))

    instructions = run.judged_unknown("t1s1c1")

    assert run.state.last_turn is not None
    assert run.state.last_turn.end == "invalid_calls"
    assert run.state.last_turn.steps == 1
    assert [call.message_id for call in asked(instructions)] == ["t2s1"]
    assert run.transcript == ["u1", "t1s1", "t1s1c1r", "u2"]


def test_an_open_request_shows_only_the_calls_that_still_wait() -> None:
    run = Led()
    run.resolved()
    run.replied(a_call("write"), a_call("write"))
    run.judged(t1s1c1="ask", t1s1c2="ask")
    run.told(Approve(call_id="t1s1c1"))

    assert [call.call_id for request in run.state.requests for call in request.calls] == ["t1s1c2"]


def test_a_call_that_is_asked_again_is_not_approved_by_a_response_to_the_first_request() -> None:
    run = Led()
    run.resolved()
    run.replied(a_call("write"), a_call("write"))
    run.judged(t1s1c1="ask", t1s1c2="ask")
    run.told(Approve(call_id="t1s1c1"))
    run.judged(t1s1c1="ask")

    run.told(Approve(request_id="t1s1a1"))

    assert [call.call_id for call in run.turn.batch if call.status == "waiting"] == ["t1s1c1"]
