from __future__ import annotations

from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from perdure.authority.approval import approval_of, joined, may_approve
from perdure.contracts.activities import ProposedCall
from perdure.contracts.agent import ApprovalRule
from tests.authority.calls import approved, calls

PEOPLE = ("ada", "bob", "cy", "sam", "")

rules = st.builds(
    ApprovalRule,
    approvers=st.lists(st.sampled_from(PEOPLE[:4]), unique=True, max_size=4).map(tuple),
    not_starter=st.booleans(),
    needed=st.integers(1, 3),
)


def test_an_empty_rule_lets_anybody_approve() -> None:
    assert all(may_approve(actor, ApprovalRule(), "sam") for actor in PEOPLE)


def test_only_approvers_may_approve_and_not_the_starter_where_it_says_so() -> None:
    rule = ApprovalRule(approvers=("ada", "sam"), not_starter=True)
    assert [actor for actor in PEOPLE if may_approve(actor, rule, "sam")] == ["ada"]


def test_somebody_without_a_name_may_be_the_starter() -> None:
    assert not may_approve("", ApprovalRule(not_starter=True), "")


@given(st.lists(rules, max_size=3))
def test_the_joined_rule_admits_whom_all_admit_and_needs_what_one_needs(several: list[ApprovalRule]) -> None:
    joint = joined(several, "sam")
    named = any(rule.approvers for rule in several)
    admitted = {actor for actor in PEOPLE if actor and all(may_approve(actor, rule, "sam") for rule in several)}
    needed = max((rule.needed for rule in several), default=1)
    if joint is None:
        assert named
        assert len(admitted) < needed
    else:
        assert joint.needed == needed
        assert {actor for actor in PEOPLE if actor and may_approve(actor, joint, "sam")} == admitted
        assert not named or len(admitted) >= needed


@pytest.mark.parametrize(("decision", "digest"), list(product(("deny", "answer", "approve"), ("d", "other", ""))))
def test_only_an_approval_of_these_arguments_is_one(decision: str, digest: str) -> None:
    said = approved(digest).model_copy(update={"decision": decision})
    found = approval_of(ProposedCall(part=calls("write_note"), response=said), "d")
    assert (found is not None) == ((decision, digest) == ("approve", "d"))


def test_where_nothing_was_said_nothing_is_approved() -> None:
    assert approval_of(ProposedCall(part=calls("write_note")), "d") is None
