from __future__ import annotations

from datetime import timedelta

import pytest

from perdure.brain.inputs import judge_request
from perdure.contracts.agent import ApprovalRule, ArgumentRule
from perdure.contracts.requests import Approve, Deny, Remember, Revoke
from tests.brain.agents import START, a_call
from tests.brain.runs import Led, a_conversation, a_run_that_asks, kinds, statuses

TWO = ApprovalRule(needed=2)
ADA_OR_BOB = ApprovalRule(approvers=("ada", "bob"))


def test_a_remembered_approval_is_a_grant_for_the_very_same_arguments() -> None:
    run = a_run_that_asks(ApprovalRule())
    run.told(
        Approve(
            call_id="t1s1c1",
            actor="ada",
            reason="fine",
            remember=Remember(expires_in=timedelta(hours=1), children=True),
        )
    )

    [grant] = run.state.grants
    assert (grant.grant_id, grant.tool, grant.level, grant.subject) == ("g1", "write", "run", "run")
    assert grant.when == (ArgumentRule(argument="path", value="a.md"),)
    assert grant.exact
    assert (grant.actor, grant.reason, grant.children) == ("ada", "fine", True)
    assert (grant.granted_at, grant.expires_at) == (START, START + timedelta(hours=1))
    assert [event.grant for event in run.events if event.kind == "grant_made"] == [grant]


def test_a_grant_of_an_edited_call_is_for_the_edited_arguments() -> None:
    run = a_run_that_asks(ApprovalRule())
    run.told(Approve(call_id="t1s1c1", arguments={"path": "b.md"}, remember=Remember()))

    assert run.state.grants[0].when == (ArgumentRule(argument="path", value="b.md"),)
    assert run.state.grants[0].exact


def test_a_grant_for_the_same_arguments_of_a_call_without_any_is_not_one_for_all() -> None:
    run = Led()
    run.resolved()
    run.replied(a_call("write"))
    run.judged(t1s1c1="ask")
    run.told(Approve(call_id="t1s1c1", remember=Remember()))

    [grant] = run.state.grants
    assert (grant.when, grant.exact) == ((), True)


def test_a_grant_by_rules_is_bound_to_no_single_call() -> None:
    rules = (ArgumentRule(argument="path", match="prefix", value="docs/"),)
    run = a_run_that_asks(ApprovalRule())
    run.told(Approve(call_id="t1s1c1", remember=Remember(when=rules)))

    assert (run.state.grants[0].when, run.state.grants[0].exact) == (rules, False)


def test_one_approval_of_several_like_calls_makes_one_grant() -> None:
    run = a_run_that_asks(ApprovalRule(), ApprovalRule())
    run.told(Approve(all=True, remember=Remember(when=())))

    assert [grant.grant_id for grant in run.state.grants] == ["g1"]


def test_further_calls_are_judged_with_the_grants_of_the_run() -> None:
    run = a_run_that_asks(ApprovalRule(), user="ada")
    run.told(Approve(call_id="t1s1c1", remember=Remember()))
    run.judged(t1s1c1="allow")
    run.ended("t1s1c1")
    run.replied(a_call("write", path="a.md"))

    request = judge_request(run.state, ("t1s2c1",), run.now)
    assert request.grants == run.state.grants
    assert (request.at, request.agent, request.user) == (run.now, "assistant", "ada")


def test_a_waiting_call_is_judged_again_when_a_grant_is_made_and_is_decided_by_it() -> None:
    run = a_run_that_asks(ApprovalRule(), ApprovalRule())
    instructions = run.told(Approve(call_id="t1s1c1", remember=Remember(when=())))

    assert [i.call_ids for i in instructions if i.kind == "authorize_calls"] == [("t1s1c1", "t1s1c2")]
    assert statuses(run) == ["judging", "waiting"], "until it is judged it can be approved or denied"

    run.judged(t1s1c1="allow", t1s1c2="allow")

    assert statuses(run) == ["running", "running"]
    assert run.state.requests == ()
    assert run.notices == [("opened", "t1s1a1"), ("closed", "t1s1a1")]
    assert run.turn.batch[1].response is None, "nobody approved it: the verdict says which grant did"


def test_a_waiting_call_that_the_grant_does_not_cover_waits_on_in_its_request() -> None:
    run = a_run_that_asks(ApprovalRule(), ApprovalRule())
    run.told(Approve(call_id="t1s1c1", remember=Remember()))
    run.judged(t1s1c1="allow", t1s1c2="ask")

    assert statuses(run) == ["running", "waiting"]
    assert [request.request_id for request in run.state.requests] == ["t1s1a1"]


def test_a_person_who_decides_before_the_grant_was_weighed_wins() -> None:
    run = a_run_that_asks(ApprovalRule(), ApprovalRule())
    run.told(Approve(call_id="t1s1c1", remember=Remember(when=())))
    by_grant = run.ruling("t1s1c2", "allow")
    run.told(Deny(call_id="t1s1c2", reason="not this one"))

    run.ruled(by_grant)

    assert run.result("t1s1c2") == ("denied", "Denied: not this one")


def test_a_verdict_by_the_grant_that_comes_after_an_approval_decides_nothing() -> None:
    run = a_run_that_asks(ApprovalRule(), ApprovalRule())
    run.told(Approve(call_id="t1s1c1", remember=Remember(when=())))
    by_grant = run.ruling("t1s1c2", "allow")
    run.told(Approve(call_id="t1s1c2"))

    run.ruled(by_grant)
    assert statuses(run)[1] == "judging"
    run.judged(t1s1c2="allow")
    assert statuses(run)[1] == "running"


def test_questions_are_not_judged_again_when_a_grant_is_made() -> None:
    run = Led()
    run.resolved()
    run.replied(a_call("write"), a_call("ask_human", question="Which?"))
    run.judged(t1s1c1="ask", t1s1c2="allow")
    instructions = run.told(Approve(call_id="t1s1c1", remember=Remember(when=())))

    assert [i.call_ids for i in instructions if i.kind == "authorize_calls"] == [("t1s1c1",)]


def test_a_revoked_grant_is_gone_and_its_id_is_not_used_again() -> None:
    run = a_run_that_asks(ApprovalRule(), ApprovalRule())
    run.told(Approve(call_id="t1s1c1", remember=Remember()))
    run.told(Revoke(grant_id="g1", actor="ada"))
    assert judge_request(run.state, ("t1s1c2",), run.now).grants == ()
    assert run.refused(Revoke(grant_id="g1")) == "There is no grant g1 in this run."

    run.told(Approve(call_id="t1s1c2", remember=Remember()))
    assert [grant.grant_id for grant in run.state.grants] == ["g2"]


def test_a_grant_for_the_agent_or_the_user_is_kept_for_other_runs_under_an_id_of_its_own() -> None:
    run = a_run_that_asks(ApprovalRule(), ApprovalRule(), user="ada")
    first = run.told(Approve(call_id="t1s1c1", remember=Remember(level="agent")))
    second = run.told(Approve(call_id="t1s1c2", remember=Remember(level="user")))

    kept = [i.grant for i in (*first, *second) if i.kind == "remember_grant"]
    assert [(grant.grant_id, grant.level, grant.subject) for grant in kept] == [
        ("run/g1-20260101000000000", "agent", "assistant"),
        ("run/g2-20260101000000000", "user", "ada"),
    ]
    assert run.state.grants == tuple(kept)


def test_a_grant_for_the_run_is_kept_nowhere_else() -> None:
    run = a_run_that_asks(ApprovalRule())

    assert "remember_grant" not in kinds(run.told(Approve(call_id="t1s1c1", remember=Remember())))


def test_grants_hold_in_the_next_turn() -> None:
    run = Led(a_conversation())
    run.resolved()
    run.replied(a_call("write"))
    run.judged(t1s1c1="ask")
    run.told(Approve(call_id="t1s1c1", remember=Remember()))
    run.judged(t1s1c1="allow")
    run.ended("t1s1c1")
    run.replied("Done.")

    assert len(run.state.grants) == 1


def test_what_always_asks_cannot_be_remembered() -> None:
    run = a_run_that_asks(ApprovalRule())
    run.told(Deny(call_id="t1s1c1"))
    run.replied(a_call("write"))
    run.ruled(run.ruling("t1s2c1", "ask", firm=True))

    refused = run.refused(Approve(call_id="t1s2c1", remember=Remember()))
    assert refused == "An approval of t1s2c1 cannot be remembered: this always asks."


@pytest.mark.parametrize("rule", [TWO, ADA_OR_BOB, ApprovalRule(not_starter=True)])
def test_one_person_does_not_remember_for_the_others_who_must_approve(rule: ApprovalRule) -> None:
    run = a_run_that_asks(rule, user="cy")
    if rule.needed > 1:
        run.told(Approve(call_id="t1s1c1", actor="ada"))
        refused = run.refused(Approve(call_id="t1s1c1", actor="bob", remember=Remember()))
        assert refused == "An approval of t1s1c1 cannot be remembered: 2 people must approve each call."
    else:
        run.told(Approve(call_id="t1s1c1", actor="bob", remember=Remember()))
        assert len(run.state.grants) == 1


def test_a_run_without_a_user_remembers_nothing_for_its_user() -> None:
    run = a_run_that_asks(ApprovalRule())

    assert "no user" in run.refused(Approve(call_id="t1s1c1", remember=Remember(level="user")))
