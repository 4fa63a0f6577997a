from __future__ import annotations

import pytest

from perdure.brain.ending import ended
from perdure.contracts.failures import FailureKind
from perdure.contracts.messages import ImagePart
from perdure.contracts.outcomes import AgentRejected, AgentResolved, CallsSettled, ModelFailure, ModelReply
from perdure.contracts.requests import Approve, Close, Interrupt, RunRequest, Send
from perdure.contracts.usage import Bill, Cost, Usage
from tests.brain.agents import OVERLOADED, a_call, an_agent, reply
from tests.brain.runs import Led, a_conversation, asked, kinds

# Turns and their ends


def test_a_reply_without_calls_completes_the_run() -> None:
    run = Led()
    run.resolved()
    run.replied("The answer.")

    assert run.state.status == "completed"
    assert run.state.last_turn is not None
    assert (run.state.last_turn.end, run.state.last_turn.output) == ("completed", "The answer.")


def test_the_output_is_the_last_assistant_text_only() -> None:
    run = Led()
    run.resolved()
    run.replied("I look first.", a_call("look"))
    run.judged(t1s1c1="allow")
    run.ended("t1s1c1", "a file")
    run.replied("It is a file.")

    assert run.state.last_turn is not None
    assert run.state.last_turn.output == "It is a file."


def test_results_reach_the_model_in_call_order_whatever_order_they_ended_in() -> None:
    run = Led()
    run.resolved()
    run.replied(a_call("look"), a_call("look"), a_call("look"))
    run.judged(t1s1c1="allow", t1s1c2="allow", t1s1c3="allow")

    assert asked(run.ended("t1s1c3")) == []
    assert asked(run.ended("t1s1c2")) == []
    assert run.transcript == ["u1", "t1s1"]
    [call] = asked(run.ended("t1s1c1"))

    assert call.message_id == "t1s2"
    assert run.transcript == ["u1", "t1s1", "t1s1c1r", "t1s1c2r", "t1s1c3r"]


def test_text_and_calls_of_one_message_are_both_kept_in_order() -> None:
    run = Led()
    run.resolved()
    run.replied("First", a_call("look"), "then", a_call("look"))

    message = run.state.messages[-1]
    assert message.role == "assistant"
    assert [part.kind for part in message.parts] == ["text", "call", "text", "call"]
    assert [call.call_id for call in message.calls] == ["t1s1c1", "t1s1c2"]


def test_the_forced_last_step_ends_the_turn_with_its_text() -> None:
    run = Led(a_conversation())
    run.resolved(an_agent(steps=1))
    run.replied("As far as I came.")

    assert run.state.last_turn is not None
    assert (run.state.last_turn.end, run.state.last_turn.output) == ("step_limit", "As far as I came.")


def test_calls_of_the_forced_last_step_are_settled_and_never_judged() -> None:
    run = Led()
    run.resolved(an_agent(steps=1))
    instructions = run.replied("As far as I came.", a_call("write"))

    assert "authorize_calls" not in kinds(instructions)
    assert run.result("t1s1c1")[0] == "denied"
    assert run.state.last_turn is not None
    assert (run.state.last_turn.end, run.state.last_turn.output) == ("step_limit", "As far as I came.")


def test_after_a_step_limit_a_further_message_starts_a_new_turn() -> None:
    run = Led(a_conversation())
    run.resolved(an_agent(steps=1))
    run.replied("As far as I came.")

    [call] = asked(run.told(Send(message="Go on.")))

    assert (call.message_id, call.turn, call.step) == ("t2s1", 2, 1)


@pytest.mark.parametrize(("kind", "end"), [("overloaded", "failed"), ("refused", "refused")])
def test_a_model_that_fails_for_good_fails_a_one_turn_run_with_the_cause(kind: FailureKind, end: str) -> None:
    failure = OVERLOADED.model_copy(update={"kind": kind})
    run = Led()
    run.resolved()
    run.model_failed(failure)

    assert run.state.status == "failed"
    assert run.state.failure == failure
    assert run.state.last_turn is not None
    assert run.state.last_turn.end == end


def test_a_conversation_survives_a_turn_that_failed() -> None:
    run = Led(a_conversation())
    run.resolved()
    run.model_failed(OVERLOADED)
    assert run.state.status == "idle"

    run.told(Send(message="Once more."))
    run.replied("Now it works.")

    assert run.state.last_turn is not None
    assert run.state.last_turn.end == "completed"


def test_a_refusing_model_ends_the_turn_refused() -> None:
    run = Led()
    run.resolved()
    run.replied("I will not.", finish="refused")

    assert (run.state.status, run.state.last_turn and run.state.last_turn.end) == ("failed", "refused")


def test_an_agent_that_cannot_be_resolved_fails_the_run_with_the_cause() -> None:
    run = Led()
    run.feed(AgentRejected(at=run.now, failure=OVERLOADED))

    assert (run.state.status, run.state.failure) == ("failed", OVERLOADED)


def test_an_agent_that_is_rejected_after_it_was_resolved_changes_nothing() -> None:
    run = Led()
    run.resolved()
    before = run.state

    run.feed(AgentRejected(at=run.now, failure=OVERLOADED))

    assert run.state == before


def test_a_run_keeps_the_rules_that_came_with_its_agent() -> None:
    run = Led()
    run.feed(AgentResolved(at=run.now, agent=an_agent(), rules_version=7))
    run.feed(AgentResolved(at=run.now, agent=an_agent(), rules_version=8))

    assert run.state.rules_version == 7


def test_usage_and_cost_add_up_over_the_turn_and_the_run() -> None:
    run = Led(a_conversation())
    run.resolved()
    spent = {"usage": Usage(requests=1, input_tokens=10), "cost": Cost(nano_dollars=7)}
    for turn in (1, 2):
        run.feed(ModelReply(at=run.now, message=reply(f"t{turn}s1", "Yes.").model_copy(update=spent)))
        run.told(Send(message="And?"))

    assert run.state.usage == Usage(requests=2, input_tokens=20)
    assert run.state.cost == Cost(nano_dollars=14)
    assert run.state.last_turn is not None
    assert run.state.last_turn.cost == Cost(nano_dollars=7)


def test_a_turn_and_its_run_sum_up_what_a_failed_model_call_took() -> None:
    run = Led()
    run.resolved()
    bill = Bill(usage=Usage(requests=3, input_tokens=300, incomplete=3), cost=Cost(nano_dollars=7, unpriced=1))

    run.feed(ModelFailure(at=run.now, message_id="t1s1", failure=OVERLOADED, bill=bill))

    assert run.state.last_turn is not None
    assert (run.state.last_turn.usage, run.state.last_turn.cost) == (bill.usage, bill.cost)
    assert (run.state.usage, run.state.cost) == (bill.usage, bill.cost)


# What comes again, or late


def test_a_reply_that_is_recorded_is_not_asked_for_again() -> None:
    run = Led()
    run.resolved()
    run.replied(a_call("look"))
    before = run.state

    instructions = run.feed(ModelReply(at=run.now, message=reply("t1s1", "Something else.")))

    assert instructions == ()
    assert run.state == before


def test_a_failure_of_a_model_call_that_has_answered_changes_nothing() -> None:
    run = Led()
    run.resolved()
    run.replied(a_call("look"))
    run.judged(t1s1c1="allow")
    run.ended("t1s1c1")
    before = run.state

    run.feed(ModelFailure(at=run.now, message_id="t1s1", failure=OVERLOADED))

    assert run.state == before


def test_a_second_result_of_a_call_changes_nothing() -> None:
    run = Led()
    run.resolved()
    run.replied(a_call("look"), a_call("look"))
    run.judged(t1s1c1="allow", t1s1c2="allow")
    run.ended("t1s1c1", "first")
    run.ended("t1s1c1", "second")
    run.ended("t1s1c2")
    run.ended("t1s1c1", "third")

    assert run.result("t1s1c1") == ("ok", "first")
    assert run.transcript.count("t1s1c1r") == 1


def test_a_verdict_on_a_call_that_was_settled_meanwhile_starts_nothing() -> None:
    run = Led(a_conversation())
    run.resolved()
    run.replied(a_call("write"))
    run.told(Interrupt())

    assert run.judged(t1s1c1="allow") == ()
    assert run.result("t1s1c1")[0] == "interrupted"


def test_an_ended_run_changes_no_more() -> None:
    run = Led()
    run.resolved()
    run.replied("Done.")
    before = run.state

    run.resolved()
    run.told(Send(message="too late"))
    run.canceled()
    run.feed(CallsSettled(at=run.now, results=()))

    assert run.state == before


# Messages


def test_messages_during_a_step_reach_the_model_in_order_after_the_results() -> None:
    run = Led()
    run.resolved()
    run.replied(a_call("look"))
    run.judged(t1s1c1="allow")
    run.told(Send(message="one"))
    run.told(Send(message="two"))
    assert run.transcript == ["u1", "t1s1"]

    [call] = asked(run.ended("t1s1c1"))

    assert run.transcript == ["u1", "t1s1", "t1s1c1r", "u2", "u3"]
    assert call.revision == 5


def test_a_message_in_the_last_instant_is_answered() -> None:
    run = Led()
    run.resolved()
    run.told(Send(message="one more thing"))

    [call] = asked(run.replied("Done."))

    assert call.message_id == "t2s1"
    assert run.transcript == ["u1", "t1s1", "u2"]
    assert not ended(run.state)


def test_only_so_many_steps_in_a_row_may_call_wrongly() -> None:
    run = Led(a_conversation())
    run.resolved(an_agent(feedback_rounds=1))
    run.replied(a_call("nope"))
    run.judged_unknown("t1s1c1")
    run.replied(a_call("look"))
    run.judged(t1s2c1="allow")
    run.ended("t1s2c1")
    run.replied(a_call("nope"))
    run.judged_unknown("t1s3c1")
    run.replied(a_call("nope"))
    assert run.turn.step == 4
    run.judged_unknown("t1s4c1")

    assert run.state.status == "idle"
    assert run.state.last_turn is not None
    assert (run.state.last_turn.end, run.state.last_turn.steps) == ("invalid_calls", 4)


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


def test_the_same_message_twice_is_recorded_once() -> None:
    run = Led(a_conversation())
    run.resolved()
    run.told(Send(message="again", client_key="k1"))
    refused = run.refused(Send(message="again", client_key="k1"))
    run.replied("Done.")
    run.replied("Done.")
    late = run.refused(Send(message="again", client_key="k1"))

    assert "received already" in refused
    assert "received already" in late
    assert run.transcript == ["u1", "t1s1", "u2", "t2s1"]


def test_messages_with_different_keys_are_different_messages() -> None:
    run = Led(a_conversation())
    run.resolved()
    run.told(Send(message="again", client_key="k1"))
    run.told(Send(message="again", client_key="k2"))
    run.told(Send(message="again"))

    assert [message.message_id for message in run.state.inbox] == ["u2", "u3", "u4"]


def test_a_message_before_the_agent_is_resolved_is_delivered_with_the_first() -> None:
    run = Led()
    run.told(Send(message="and this"))
    run.resolved()

    assert run.transcript == ["u1", "u2"]


def test_attachments_stand_behind_the_text_of_their_message() -> None:
    image = ImagePart(data=b"\x89PNG")
    run = Led(RunRequest(message="What is this?", attachments=(image,), user="ada"))
    run.resolved()

    first = run.state.messages[0]
    assert first.role == "user"
    assert (first.parts[1], first.sender) == (image, "ada")


def test_free_text_while_a_request_is_open_waits_and_is_never_taken_for_the_response() -> None:
    run = Led()
    run.resolved()
    run.replied(a_call("write"))
    run.judged(t1s1c1="ask")

    assert run.told(Send(message="yes, approve it")) == ()
    assert run.state.status == "waiting_approval"

    run.told(Approve(call_id="t1s1c1"))
    run.judged(t1s1c1="allow")
    run.ended("t1s1c1")
    assert run.transcript == ["u1", "t1s1", "t1s1c1r", "u2"]


# Closing, resting, the clock


def test_a_conversation_rests_after_a_turn() -> None:
    run = Led(a_conversation())
    run.resolved()
    run.replied("Hello.")

    assert run.state.status == "idle"
    assert run.state.idle_since == run.now


def test_closing_a_resting_run_completes_it() -> None:
    run = Led(a_conversation())
    run.resolved()
    run.replied("Hello.")
    run.told(Close())

    assert run.state.status == "completed"


def test_closing_lets_the_turn_and_what_was_sent_before_end_first() -> None:
    run = Led(a_conversation())
    run.resolved()
    run.told(Send(message="one more"))
    run.told(Close())
    assert "closing" in run.refused(Send(message="and another"))

    run.replied("Hello.")
    assert not ended(run.state)
    run.replied("That too.")

    assert run.state.status == "completed"
    assert run.transcript == ["u1", "t1s1", "u2", "t2s1"]


def test_a_closed_conversation_completes_even_when_its_last_turn_failed() -> None:
    run = Led(a_conversation())
    run.resolved()
    run.told(Close())
    run.model_failed(OVERLOADED)

    assert run.state.status == "completed"
    assert run.state.failure is None


def test_an_idle_conversation_ends_when_its_time_is_over() -> None:
    run = Led(a_conversation())
    run.resolved()
    run.replied("Hello.")
    idle_timeout = run.state.request.idle_timeout

    run.clock(run.now + idle_timeout / 2)
    assert not ended(run.state)
    run.clock(run.now + idle_timeout / 2)

    assert run.state.status == "completed"


def test_a_message_starts_the_idle_time_anew() -> None:
    run = Led(a_conversation())
    run.resolved()
    run.replied("Hello.")
    run.clock(run.now + run.state.request.idle_timeout / 2)
    run.told(Send(message="Still there?"))
    run.replied("Yes.")

    run.clock(run.now + run.state.request.idle_timeout / 2)

    assert run.state.status == "idle"


def test_the_clock_does_nothing_while_a_turn_runs() -> None:
    run = Led(a_conversation())
    run.resolved()
    before = run.state
    run.clock(run.now + 2 * run.state.request.idle_timeout)

    assert run.state == before
