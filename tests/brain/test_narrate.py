from __future__ import annotations

from perdure.contracts.requests import Approve, Close, Send
from tests.brain.agents import OVERLOADED, a_call
from tests.brain.runs import Led, a_conversation


def test_a_run_is_told_from_its_first_message_to_its_close() -> None:
    run = Led()
    run.resolved()
    run.replied(a_call("write"))
    run.judged(t1s1c1="ask")
    run.told(Approve(call_id="t1s1c1", actor="ada"))
    run.judged(t1s1c1="allow")
    run.ended("t1s1c1")
    run.replied("Done.")

    assert [event.kind for event in run.events] == [
        "message_received",
        "run_began",
        "turn_began",
        "model_called",
        "model_answered",
        "calls_reviewed",
        "request_opened",
        "status_changed",
        "order_received",
        "status_changed",
        "calls_reviewed",
        "call_started",
        "call_ended",
        "model_called",
        "model_answered",
        "turn_ended",
        "status_changed",
        "run_closed",
    ]
    assert all(event.run_id == "run" and event.at == run.now for event in run.events)


def test_a_refused_order_is_told_with_the_reason() -> None:
    run = Led()
    run.resolved()
    run.told(Approve(call_id="t9s9c9"))

    last = run.events[-1]
    assert last.kind == "order_received"
    assert last.refused == "There is no call t9s9c9 in this run."


def test_an_order_that_was_taken_is_told_without_a_reason() -> None:
    run = Led(a_conversation())
    run.resolved()
    run.told(Close())

    last = run.events[-1]
    assert last.kind == "order_received"
    assert last.refused == ""


def test_a_message_is_told_when_it_comes_and_not_again_when_it_is_delivered() -> None:
    run = Led(a_conversation())
    run.resolved()
    run.told(Send(message="and this"))
    run.replied("Hello.")
    run.told(Send(message="to a resting run", client_key="k"))
    run.replied("Again.")
    run.told(Send(message="to a resting run"))

    told = [event.message.message_id for event in run.events if event.kind == "message_received"]
    assert told == ["u1", "u2", "u3", "u4"]


def test_a_late_result_is_not_told_a_second_time() -> None:
    run = Led()
    run.resolved()
    run.replied(a_call("look"), a_call("look"))
    run.judged(t1s1c1="allow", t1s1c2="allow")
    run.ended("t1s1c1")
    run.ended("t1s1c1")

    assert [event.result.call_id for event in run.events if event.kind == "call_ended"] == ["t1s1c1"]


def test_a_failed_run_closes_with_the_cause() -> None:
    run = Led()
    run.resolved()
    run.model_failed(OVERLOADED)

    last = run.events[-1]
    assert last.kind == "run_closed"
    assert (last.status, last.failure) == ("failed", OVERLOADED)
    assert "model_gave_up" in [event.kind for event in run.events]


def test_nothing_is_told_after_a_run_closed() -> None:
    run = Led()
    run.resolved()
    run.replied("Done.")

    run.told(Send(message="too late"))

    assert [event.kind for event in run.events].count("run_closed") == 1
    assert run.events[-1].kind == "run_closed"


def test_the_end_of_an_edited_call_is_told_with_what_it_ran_with() -> None:
    run = Led()
    run.resolved()
    run.replied(a_call("write", path="a.md"))
    run.judged(t1s1c1="ask")
    run.told(Approve(call_id="t1s1c1", arguments={"path": "b.md"}))
    run.judged(t1s1c1="allow")
    run.ended("t1s1c1")

    [end] = [event for event in run.events if event.kind == "call_ended"]
    assert end.result == run.message("t1s1c1")
    assert end.result.ran_with == {"path": "b.md"}
