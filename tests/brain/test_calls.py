from __future__ import annotations

from perdure.context.render import render
from perdure.contracts.approvals import CallVerdict, Verdict
from perdure.contracts.messages import Opaque
from perdure.contracts.requests import Answer, Approve, Deny
from tests.brain.agents import a_call, an_agent, digest
from tests.brain.runs import Led, asked, kinds, statuses


def waiting(run: Led) -> list[str]:
    return [call.call_id for call in run.turn.batch if call.status == "waiting"]


def test_safe_calls_run_denied_ones_settle_and_the_question_is_open_at_once() -> None:
    run = Led()
    run.resolved()
    run.replied(a_call("look"), a_call("write"), a_call("write"))

    instructions = run.judged(t1s1c1="allow", t1s1c2="ask", t1s1c3="deny")

    assert kinds(instructions) == ["call_tools", "settle_calls", "ask_humans"]
    assert statuses(run) == ["running", "waiting", "settled"]
    assert run.state.status == "waiting_approval"


def test_an_approved_call_starts_before_its_slow_sibling_ends_and_the_model_is_asked_once_after_all() -> None:
    run = Led()
    run.resolved()
    run.replied(a_call("look"), a_call("write"))
    run.judged(t1s1c1="allow", t1s1c2="ask")
    run.told(Approve(call_id="t1s1c2"))

    assert kinds(run.judged(t1s1c2="allow")) == ["call_tools"]
    assert statuses(run) == ["running", "running"]
    assert asked(run.ended("t1s1c2")) == []
    assert len(asked(run.ended("t1s1c1"))) == 1


def test_approving_one_call_leaves_its_sibling_waiting() -> None:
    run = Led()
    run.resolved()
    run.replied(a_call("write"), a_call("write"))
    run.judged(t1s1c1="ask", t1s1c2="ask")

    run.told(Approve(call_id="t1s1c2"))
    run.judged(t1s1c2="allow")

    assert statuses(run) == ["waiting", "running"]


def test_a_denied_call_is_answered_with_the_reason_and_who_gave_it() -> None:
    run = Led()
    run.resolved()
    run.replied(a_call("write"))
    run.judged(t1s1c1="ask")

    instructions = run.told(Deny(call_id="t1s1c1", reason="not on Fridays", actor="ada"))

    assert "call_tools" not in kinds(instructions)
    assert run.result("t1s1c1") == ("denied", "Denied by ada: not on Fridays")


def test_a_call_that_authority_denies_is_answered_with_its_reason() -> None:
    run = Led()
    run.resolved()
    run.replied(a_call("nope"))
    run.judged_unknown("t1s1c1")

    assert run.result("t1s1c1") == ("invalid", "There is no tool nope.")


def test_a_call_that_is_rejected_goes_back_with_what_its_provider_signed() -> None:
    signature = Opaque(origin="gemini", data={"thoughtSignature": "c2ln"})
    run = Led()
    run.resolved()
    run.replied(a_call("nope").model_copy(update={"opaque": signature}))
    run.judged_unknown("t1s1c1")

    shown = render(an_agent(), run.state.messages).messages
    assert [(call.tool, call.opaque) for message in shown if message.role == "assistant" for call in message.calls] == [
        ("nope", signature)
    ]


def test_an_approved_call_is_judged_again_before_it_starts() -> None:
    run = Led()
    run.resolved()
    run.replied(a_call("write"))
    run.judged(t1s1c1="ask")

    assert kinds(run.told(Approve(call_id="t1s1c1"))) == ["authorize_calls", "ask_humans"]
    assert kinds(run.judged(t1s1c1="allow")) == ["call_tools"]


def test_a_stricter_verdict_than_the_approver_saw_asks_again() -> None:
    run = Led()
    run.resolved()
    run.replied(a_call("write"))
    run.judged(t1s1c1="ask")
    run.told(Approve(call_id="t1s1c1"))

    assert kinds(run.judged(t1s1c1="ask")) == ["ask_humans"]

    [request] = run.state.requests
    assert (request.request_id, request.version) == ("t1s1a2", 2)
    assert run.turn.batch[0].response is None


def test_a_denial_at_execution_wins_over_an_approval() -> None:
    run = Led()
    run.resolved()
    run.replied(a_call("write"))
    run.judged(t1s1c1="ask")
    run.told(Approve(call_id="t1s1c1"))
    instructions = run.judged(t1s1c1="deny")

    assert "call_tools" not in kinds(instructions)
    assert run.result("t1s1c1")[0] == "denied"


def test_a_second_verdict_on_a_call_that_runs_or_waits_changes_nothing() -> None:
    run = Led()
    run.resolved()
    run.replied(a_call("look"), a_call("write"))
    run.judged(t1s1c1="allow", t1s1c2="ask")
    before = run.state

    assert run.judged(t1s1c1="allow", t1s1c2="ask") == ()
    assert run.state == before


def test_a_verdict_of_an_earlier_judging_decides_nothing() -> None:
    run = Led()
    run.resolved()
    run.replied(a_call("write"))
    first = run.ruling("t1s1c1", "allow")
    run.judged(t1s1c1="ask")
    run.told(Approve(call_id="t1s1c1"))
    before = run.state

    assert run.ruled(first) == ()
    assert run.state == before
    run.judged(t1s1c1="allow")
    assert statuses(run) == ["running"]


def test_two_requests_about_one_batch_have_ids_of_their_own() -> None:
    run = Led()
    run.resolved()
    run.replied(a_call("write"), a_call("write"))
    run.judged(t1s1c1="ask")
    run.judged(t1s1c2="ask")

    assert [request.request_id for request in run.state.requests] == ["t1s1a1", "t1s1a2"]
    run.told(Approve(request_id="t1s1a2"))
    assert waiting(run) == ["t1s1c1"]


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

    assert waiting(run) == ["t1s1c1"]


def test_a_call_that_could_not_be_judged_shows_what_would_run_and_is_judged_once_it_is_approved() -> None:
    run = Led()
    run.resolved()
    run.replied(a_call("write", path="a.md"))
    unjudged = Verdict(decision="ask", rule="error", reason="The authority is away.", firm=True)
    run.ruled(CallVerdict(call_id="t1s1c1", verdict=unjudged))
    assert run.state.requests[0].calls[0].digest == digest(run.part("t1s1c1"))

    run.told(Approve(call_id="t1s1c1", arguments={"path": "b.md"}))
    run.ruled(CallVerdict(call_id="t1s1c1", verdict=unjudged))
    run.told(Approve(call_id="t1s1c1"))
    run.judged(t1s1c1="allow")

    assert statuses(run) == ["running"]


def test_the_request_shows_exactly_what_would_run() -> None:
    run = Led()
    run.resolved()
    run.replied(a_call("write", path="a.md"))
    run.judged(t1s1c1="ask")

    [shown] = run.state.requests[0].calls
    assert (shown.tool, shown.arguments, shown.digest) == ("write", {"path": "a.md"}, run.turn.batch[0].digest)


def test_the_answer_of_a_person_is_the_result_of_the_call_that_asked() -> None:
    run = Led()
    run.resolved()
    run.replied(a_call("ask_human", question="Which colour?", options=["blue", "red"]))
    assert kinds(run.judged(t1s1c1="allow")) == ["ask_humans"]
    assert run.state.status == "waiting_answer"
    assert (run.state.questions[0].text, run.state.questions[0].options) == ("Which colour?", ("blue", "red"))

    [call] = asked(run.told(Answer(answer="blue")))

    assert run.result("t1s1c1") == ("ok", "blue")
    assert call.message_id == "t1s2"


def test_a_question_that_nobody_may_be_asked_settles_at_once() -> None:
    run = Led()
    run.resolved()
    run.replied(a_call("ask_human", question="Which colour?"))
    run.judged(t1s1c1="deny")

    assert run.state.questions == ()
    assert run.result("t1s1c1")[0] == "denied"


def test_a_slow_call_does_not_delay_the_question_about_its_sibling() -> None:
    run = Led()
    run.resolved()
    run.replied(a_call("look"), a_call("ask_human", question="Which colour?"))
    run.judged(t1s1c1="allow", t1s1c2="allow")

    assert run.state.status == "waiting_answer"
    assert statuses(run) == ["running", "waiting"]


def test_no_more_calls_run_at_once_than_allowed_and_the_next_starts_when_one_ends() -> None:
    run = Led()
    run.resolved(an_agent(concurrency=2))
    run.replied(*[a_call("look")] * 4)
    run.judged(t1s1c1="allow", t1s1c2="allow", t1s1c3="allow", t1s1c4="allow")
    assert statuses(run) == ["running", "running", "authorized", "authorized"]

    run.ended("t1s1c2")

    assert statuses(run) == ["running", "settled", "running", "authorized"]


def test_a_model_that_always_says_the_same_provider_id_collides_nowhere() -> None:
    run = Led()
    run.resolved()
    run.replied(a_call("look"), a_call("look"))
    run.judged(t1s1c1="allow", t1s1c2="allow")
    run.ended("t1s1c1", "first")
    run.ended("t1s1c2", "second")
    run.replied(a_call("look"), a_call("look"))
    run.judged(t1s2c1="allow", t1s2c2="allow")
    run.ended("t1s2c1", "third")
    run.ended("t1s2c2", "fourth")

    calls = [call for message in run.state.messages if message.role == "assistant" for call in message.calls]
    assert {call.provider_call_id for call in calls} == {"call_0"}
    assert len({call.call_id for call in calls}) == 4
    assert [run.result(call)[1] for call in ("t1s1c1", "t1s1c2", "t1s2c1", "t1s2c2")] == [
        "first",
        "second",
        "third",
        "fourth",
    ]
