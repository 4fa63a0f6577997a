from __future__ import annotations

from datetime import timedelta

from perdure.contracts.agent import ApprovalRule
from perdure.contracts.approvals import Response
from perdure.contracts.digests import digest_of
from perdure.contracts.requests import Answer, Approve, Deny, Remember
from tests.brain.agents import START, a_call, digest
from tests.brain.runs import Led, a_run_that_asks, asked, kinds, statuses

TWO = ApprovalRule(needed=2)
ADA_OR_BOB = ApprovalRule(approvers=("ada", "bob"))


# Responses


def test_a_response_records_who_what_why_when_and_the_verdict_that_was_seen() -> None:
    run = a_run_that_asks(ApprovalRule())
    seen = run.turn.batch[0].verdict
    run.now += timedelta(minutes=3)
    run.told(Approve(call_id="t1s1c1", actor="ada", reason="looks right"))

    assert run.turn.batch[0].response == Response(
        call_id="t1s1c1",
        decision="approve",
        text="looks right",
        actor="ada",
        digest=digest(run.part("t1s1c1")),
        seen=seen,
        at=START + timedelta(minutes=3),
    )


def test_some_of_a_batch_are_approved_by_their_ids_and_the_others_wait() -> None:
    run = a_run_that_asks(*[ApprovalRule()] * 3)
    run.told(Approve(call_ids=("t1s1c1", "t1s1c3")))

    assert statuses(run) == ["judging", "waiting", "judging"]


def test_all_of_a_batch_are_approved_at_once() -> None:
    run = a_run_that_asks(*[ApprovalRule()] * 3)
    run.told(Approve(request_id="t1s1a1"))

    assert statuses(run) == ["judging"] * 3


def test_of_several_ids_one_that_does_not_wait_refuses_the_whole_response() -> None:
    run = a_run_that_asks(*[ApprovalRule()] * 2)
    run.told(Deny(call_id="t1s1c2"))

    assert run.refused(Approve(call_ids=("t1s1c1", "t1s1c2"))) == "Call t1s1c2 is settled already."
    assert run.refused(Deny(call_ids=("t1s1c1", "t9s9c9"))) == "There is no call t9s9c9 in this run."


# Edited arguments


def test_edited_arguments_are_judged_before_the_call_runs_and_the_transcript_shows_what_ran() -> None:
    run = a_run_that_asks(ApprovalRule())
    assert kinds(run.told(Approve(call_id="t1s1c1", arguments={"path": "b.md"}, actor="ada"))) == [
        "authorize_calls",
        "ask_humans",
    ]

    [call] = run.turn.batch
    assert (call.part.arguments, call.part.arguments_text) == ({"path": "b.md"}, '{"path": "b.md"}')
    assert call.response is not None
    assert call.response.digest == call.digest == digest_of({"tool": "write", "arguments": {"path": "b.md"}})

    assert kinds(run.judged(t1s1c1="allow")) == ["call_tools"]
    run.ended("t1s1c1", "written")

    result = run.message("t1s1c1")
    assert result.ran_with == {"path": "b.md"}
    assert result.text == '[A human changed the arguments before this ran: {"path": "b.md"}]\nwritten'
    assert run.part("t1s1c1").arguments == {"path": "a.md"}, "the transcript keeps what the model asked for"


def test_edited_arguments_that_authority_denies_never_run_and_the_model_is_told_of_them() -> None:
    run = a_run_that_asks(ApprovalRule())
    run.told(Approve(call_id="t1s1c1", arguments={"path": "/etc/passwd"}))
    instructions = run.judged(t1s1c1="deny")

    assert "call_tools" not in kinds(instructions)
    result = run.message("t1s1c1")
    assert (result.status, result.ran_with) == ("denied", None)
    assert "/etc/passwd" in result.text


def test_edited_arguments_that_ask_for_more_ask_again_with_them_shown() -> None:
    run = a_run_that_asks(ApprovalRule())
    run.told(Approve(call_id="t1s1c1", arguments={"path": "b.md"}))
    run.ruled(run.ruling("t1s1c1", "ask", firm=True))

    [shown] = run.state.requests[0].calls
    assert (run.state.requests[0].version, shown.arguments, shown.verdict.firm) == (2, {"path": "b.md"}, True)


def test_an_allow_of_the_arguments_before_an_edit_starts_nothing() -> None:
    run = a_run_that_asks(ApprovalRule(), TWO)
    before_edit = run.ruling("t1s1c2", "allow")
    run.told(Approve(call_id="t1s1c1", remember=Remember(when=())))
    in_hand = before_edit.model_copy(update={"round": run.turn.batch[1].round})
    run.told(Approve(call_id="t1s1c2", arguments={"path": "z.md"}, actor="ada"))

    run.ruled(in_hand)

    assert statuses(run)[1] == "waiting"


def test_a_call_that_was_edited_and_stopped_while_it_ran_shows_what_it_ran_with() -> None:
    run = a_run_that_asks(ApprovalRule())
    run.told(Approve(call_id="t1s1c1", arguments={"path": "b.md"}))
    run.judged(t1s1c1="allow")
    run.canceled()
    run.ended("t1s1c1", "half of it", "interrupted")

    assert run.message("t1s1c1").ran_with == {"path": "b.md"}


def test_arguments_that_an_approver_spoiled_are_no_wrong_call_of_the_model() -> None:
    run = a_run_that_asks(ApprovalRule())
    run.told(Approve(call_id="t1s1c1", arguments={"wrong": 1}))
    deny = run.ruling("t1s1c1", "deny")
    run.ruled(deny.model_copy(update={"verdict": deny.verdict.model_copy(update={"rule": "arguments"})}))

    assert run.result("t1s1c1")[0] == "invalid"
    assert run.turn.feedback_rounds == 0


def test_the_arguments_as_they_are_are_no_edit() -> None:
    run = a_run_that_asks(ApprovalRule())
    run.told(Approve(call_id="t1s1c1", arguments={"path": "a.md"}))
    run.judged(t1s1c1="allow")
    run.ended("t1s1c1", "written")

    assert (run.message("t1s1c1").ran_with, run.message("t1s1c1").text) == (None, "written")


def test_arguments_are_changed_for_one_call_at_a_time() -> None:
    run = a_run_that_asks(ApprovalRule(), ApprovalRule())

    refused = run.refused(Approve(all=True, arguments={"path": "b.md"}))
    assert refused == "Arguments can be changed for one call at a time: name one of t1s1c1, t1s1c2."


# Who may approve


def test_nobody_but_the_approvers_approves() -> None:
    run = a_run_that_asks(ADA_OR_BOB)

    assert run.refused(Approve(call_id="t1s1c1")) == "Say who approves t1s1c1: its approvers are checked."
    assert run.refused(Approve(call_id="t1s1c1", actor="eve")) == "eve may not approve t1s1c1. Its approvers: ada, bob."
    run.told(Approve(call_id="t1s1c1", actor="bob"))
    assert statuses(run) == ["judging"]


def test_whoever_started_the_run_may_not_approve_where_the_rule_says_so() -> None:
    run = a_run_that_asks(ApprovalRule(not_starter=True), user="ada")

    assert run.refused(Approve(call_id="t1s1c1", actor="ada")) == "ada started this run and may not approve t1s1c1."
    run.told(Approve(call_id="t1s1c1", actor="bob"))
    assert statuses(run) == ["judging"]


def test_one_call_that_the_approver_may_not_approve_refuses_the_whole_response() -> None:
    run = a_run_that_asks(ApprovalRule(), ADA_OR_BOB)

    assert "eve may not approve t1s1c2" in run.refused(Approve(all=True, actor="eve"))
    assert statuses(run) == ["waiting", "waiting"]


def test_two_people_must_approve_where_two_are_needed() -> None:
    run = a_run_that_asks(TWO)

    assert run.told(Approve(call_id="t1s1c1", actor="ada")) == ()
    assert statuses(run) == ["waiting"]
    assert run.refused(Approve(call_id="t1s1c1", actor="ada")) == "ada has approved t1s1c1 already; somebody else must."
    assert kinds(run.told(Approve(call_id="t1s1c1", actor="bob"))) == ["authorize_calls", "ask_humans"]
    assert [approval.actor for approval in run.turn.batch[0].approvals] == ["ada", "bob"]


def test_the_first_of_two_approvals_is_told_as_taken() -> None:
    run = a_run_that_asks(TWO)
    run.told(Approve(call_id="t1s1c1", actor="ada"))

    last = run.events[-1]
    assert last.kind == "order_received"
    assert last.refused == ""


def test_one_denial_is_enough_where_two_must_approve() -> None:
    run = a_run_that_asks(TWO)
    run.told(Approve(call_id="t1s1c1", actor="ada"))
    run.told(Deny(call_id="t1s1c1", actor="bob", reason="no"))

    assert run.result("t1s1c1") == ("denied", "Denied by bob: no")


def test_an_edit_voids_the_approvals_of_other_arguments() -> None:
    run = a_run_that_asks(TWO)
    run.told(Approve(call_id="t1s1c1", actor="ada"))
    run.told(Approve(call_id="t1s1c1", actor="bob", arguments={"path": "b.md"}))

    assert statuses(run) == ["waiting"]
    [shown] = run.state.requests[0].calls
    assert (shown.arguments, shown.digest) == ({"path": "b.md"}, run.turn.batch[0].digest)
    assert "other arguments" in run.refused(Approve(call_id="t1s1c1", actor="ada", digest=digest(run.part("t1s1c1"))))
    run.told(Approve(call_id="t1s1c1", actor="ada"))
    assert statuses(run) == ["judging"]


def test_a_call_that_asks_again_needs_all_its_approvals_again() -> None:
    run = a_run_that_asks(TWO)
    run.told(Approve(call_id="t1s1c1", actor="ada"))
    run.told(Approve(call_id="t1s1c1", actor="bob"))
    run.asked_by(TWO, "t1s1c1")
    run.told(Approve(call_id="t1s1c1", actor="ada"))

    assert statuses(run) == ["waiting"]


def test_of_two_approvers_who_race_the_second_is_told() -> None:
    run = a_run_that_asks(ADA_OR_BOB)
    run.told(Approve(call_id="t1s1c1", actor="ada"))

    assert (
        run.refused(Approve(call_id="t1s1c1", actor="bob")) == "Call t1s1c1 does not wait for a human: it is judging."
    )
    assert run.refused(Deny(call_id="t1s1c1", actor="bob")) == "Call t1s1c1 does not wait for a human: it is judging."


# Questions


def a_run_that_offers(*options: str, multiple: bool = False) -> Led:
    run = Led()
    run.resolved()
    run.replied(a_call("ask_human", question="Which?", options=list(options), multiple=multiple))
    run.judged(t1s1c1="allow")
    return run


def test_several_options_are_answered_with_several() -> None:
    run = a_run_that_offers("red", "green", "blue", multiple=True)
    assert run.state.questions[0].multiple

    assert len(asked(run.told(Answer(answer=("red", "blue"), actor="ada")))) == 1
    assert run.result("t1s1c1") == ("ok", "red, blue")


def test_one_of_several_options_may_be_answered_as_text() -> None:
    run = a_run_that_offers("red", "green", multiple=True)
    run.told(Answer(answer="green"))

    assert run.result("t1s1c1") == ("ok", "green")


def test_an_answer_is_checked_against_the_options() -> None:
    several = a_run_that_offers("red", "green", multiple=True)
    one = a_run_that_offers("red", "green")

    assert several.refused(Answer(answer=("red", "black"))) == "The answer must be some of: red, green."
    assert several.refused(Answer(answer=())) == "The answer must be some of: red, green."
    assert one.refused(Answer(answer=("red", "green"))) == "The question takes one answer."
    assert one.refused(Answer(answer="black")) == "The answer must be one of: red, green."


def test_a_question_without_options_takes_any_text() -> None:
    run = a_run_that_offers()
    run.told(Answer(answer="whatever you like"))

    assert run.result("t1s1c1") == ("ok", "whatever you like")
