"""Judging where several have a say: two policies, approvers, approvals, deadlines and grants."""

from __future__ import annotations

from itertools import product
from typing import get_args

from perdure.contracts.agent import ApprovalRule, PolicyWord, ToolPolicy
from perdure.contracts.approvals import Verdict
from tests.authority.calls import (
    REQUEST,
    RUN,
    SAVE,
    approval_of,
    approved,
    calls,
    decided,
    granted,
    verdict_on,
    where,
    with_policy,
)


def test_the_stricter_of_the_agents_and_the_houses_policy_counts() -> None:
    words: tuple[PolicyWord, ...] = ("allow", "ask", "always_ask", "deny")
    for agent, house in product(words, words):
        request = REQUEST.model_copy(
            update={
                "policy": (ToolPolicy(tool="write_note", word=agent),),
                "house_policy": (ToolPolicy(tool="write_*", word=house),),
            }
        )
        stricter = max(agent, house, key=words.index)
        alone = verdict_on(calls("write_note"), with_policy(stricter)).verdict
        verdict = verdict_on(calls("write_note"), request).verdict
        assert (verdict.decision, verdict.firm) == (alone.decision, alone.firm), (agent, house)


def test_a_house_policy_that_does_not_speak_of_the_tool_changes_nothing() -> None:
    house = {"house_policy": (ToolPolicy(tool="other", word="deny"),)}
    assert decided(verdict_on(calls("read_note"), REQUEST.model_copy(update=house))) == ("allow", "effect")
    assert decided(verdict_on(calls("write_note"), with_policy("allow", **house))) == ("allow", "policy")


def test_the_house_alone_may_allow_and_is_named() -> None:
    verdict = verdict_on(
        calls("write_note"), REQUEST.model_copy(update={"house_policy": (ToolPolicy(tool="*", word="allow"),)})
    )
    assert decided(verdict) == ("allow", "policy")
    assert verdict.verdict.reason == 'The house policy allows "write_note".'


def test_who_may_approve_comes_with_an_ask_and_with_nothing_else() -> None:
    rule = ApprovalRule(approvers=("ada", "bob"), needed=2)
    for word in get_args(PolicyWord):
        request = REQUEST.model_copy(update={"policy": (ToolPolicy(tool="write_note", word=word, approval=rule),)})
        verdict = verdict_on(calls("write_note"), request)
        assert verdict.approval == (rule if verdict.verdict.decision == "ask" else ApprovalRule())


def test_who_approves_must_satisfy_every_rule_that_asks() -> None:
    request = REQUEST.model_copy(
        update={
            "tools": (SAVE,),
            "policy": (ToolPolicy(tool="save", approval=ApprovalRule(approvers=("ada", "bob", "cy"), needed=2)),),
            "house_policy": (
                ToolPolicy(
                    tool="save",
                    word="always_ask",
                    approval=ApprovalRule(approvers=("cy", "bob", "dora"), not_starter=True),
                ),
            ),
        }
    )
    verdict = verdict_on(calls("save", path="~/.ssh/id_rsa"), request)
    assert verdict.verdict.rule == "safety:credentials"
    assert verdict.approval == ApprovalRule(approvers=("bob", "cy"), not_starter=True, needed=2)


def test_who_approves_a_line_of_commands_must_satisfy_the_rules_of_all() -> None:
    policy = tuple(
        ToolPolicy(tool="run", when=where(command=("prefix", command)), approval=ApprovalRule(approvers=people))
        for command, people in (("git push", ("ada", "bob")), ("npm publish", ("bob", "cy")))
    )
    request = REQUEST.model_copy(update={"tools": (RUN,), "policy": policy})
    assert verdict_on(calls("run", command="git push; npm publish"), request).approval.approvers == ("bob",)
    assert verdict_on(calls("run", command="npm publish"), request).approval.approvers == ("bob", "cy")


def test_a_call_that_nobody_may_approve_is_denied_and_waits_for_nobody() -> None:
    request = REQUEST.model_copy(
        update={
            "user": "ada",
            "policy": (
                ToolPolicy(
                    tool="write_note", approval=ApprovalRule(approvers=("ada", "bob"), not_starter=True, needed=2)
                ),
            ),
        }
    )
    verdict = verdict_on(calls("write_note"), request)
    assert decided(verdict) == ("deny", "policy")
    assert "fewer people than they need" in verdict.verdict.reason


def test_the_round_comes_back_with_the_verdict() -> None:
    assert verdict_on(calls("read_note")).round == 1


def test_a_safety_rule_asks_whatever_policy_grant_and_mode_say() -> None:
    request = REQUEST.model_copy(
        update={
            "tools": (RUN,),
            "mode": "auto",
            "policy": (ToolPolicy(tool="run", word="allow"),),
            "house_policy": (ToolPolicy(tool="*", word="allow"),),
            "grants": (granted("run"),),
        }
    )
    verdict = verdict_on(calls("run", command="rm -rf /"), request)
    assert verdict.verdict.decision == "ask"
    assert verdict.verdict.firm
    assert verdict.verdict.rule.startswith("safety:")
    alone = verdict_on(calls("run", command="rm -rf /"), request.model_copy(update={"humans": "none"}))
    assert decided(alone) == ("deny", "no_human")


def test_edited_arguments_that_more_people_must_approve_ask_again() -> None:
    policy = (
        ToolPolicy(tool="write_note", when=where(text="small")),
        ToolPolicy(tool="write_note", approval=ApprovalRule(needed=2)),
    )
    request = REQUEST.model_copy(update={"policy": policy})
    shown = verdict_on(calls("write_note", text="small"), request).verdict
    edited = calls("write_note", text="large")
    digest = verdict_on(edited, request).digest
    response = approved(digest, "ada", seen=shown)
    once = verdict_on(edited, request, response=response, approvers=("ada",))
    assert decided(once) == ("ask", "policy")
    assert once.approval.needed == 2
    assert once.verdict.reason.startswith("Approved by ada, but 2 who may must.")
    assert decided(verdict_on(edited, request, response=response, approvers=("bob", "ada"))) == ("allow", "approved")


def test_only_those_count_who_may_approve_what_asks_now() -> None:
    policy = (ToolPolicy(tool="write_note", approval=ApprovalRule(approvers=("ada", "cy"))),)
    request = REQUEST.model_copy(update={"policy": policy})
    part = calls("write_note")
    response = approval_of(verdict_on(part, request), "bob")
    alone = verdict_on(part, request, response=response, approvers=("bob",))
    assert decided(alone) == ("ask", "policy")
    assert alone.verdict.reason.startswith("Approved by bob, who may not. ")
    assert decided(verdict_on(part, request, response=response, approvers=("ada", "bob"))) == ("allow", "approved")


def test_an_approver_has_not_approved_a_danger_that_was_not_shown() -> None:
    request = REQUEST.model_copy(update={"tools": (SAVE,)})
    call = calls("save", path="~/.bashrc")
    now = verdict_on(call, request)
    assert now.verdict.firm
    for seen in (None, Verdict(decision="ask", rule="effect"), Verdict(decision="ask", rule="safety:other", firm=True)):
        verdict = verdict_on(call, request, response=approved(now.digest, "ada", seen=seen))
        assert decided(verdict) == ("ask", now.verdict.rule)
        assert verdict.verdict.reason.startswith("Approved by ada, but what asks now is stricter than what was shown.")
    assert decided(verdict_on(call, request, response=approval_of(now, "ada"))) == ("allow", "approved")


def test_whoever_approved_a_danger_has_approved_what_the_policy_always_asks() -> None:
    request = with_policy("always_ask")
    asked = verdict_on(calls("write_note"), request)
    seen = Verdict(decision="ask", rule="safety:credentials", firm=True)
    assert decided(verdict_on(calls("write_note"), request, response=approved(asked.digest, seen=seen))) == (
        "allow",
        "approved",
    )


def test_at_the_deadline_what_only_a_person_may_approve_is_denied_with_the_reason() -> None:
    for rule in (
        ToolPolicy(tool="write_note", word="always_ask"),
        ToolPolicy(tool="write_note", word="ask", approval=ApprovalRule(not_starter=True)),
    ):
        request = REQUEST.model_copy(update={"policy": (rule,)})
        asked = verdict_on(calls("write_note"), request)
        late = approved(asked.digest, seen=asked.verdict, by_deadline=True)
        verdict = verdict_on(calls("write_note"), request, response=late)
        assert decided(verdict) == ("deny", "deadline")
        assert verdict.verdict.reason.startswith("Nobody responded before the deadline. ")
        assert "asks before" in verdict.verdict.reason


def test_a_grant_is_named_with_who_gave_it() -> None:
    verdict = verdict_on(calls("write_note"), REQUEST.model_copy(update={"grants": (granted(),)}))
    assert decided(verdict) == ("allow", "grant")
    assert verdict.verdict.reason == 'Covered by the grant g1 by ada: "write_note" changes data.'
