from __future__ import annotations

from datetime import timedelta

from pydantic import JsonValue

from perdure.authority.grants import covering
from perdure.contracts.agent import ApprovalRule
from perdure.contracts.approvals import Grant
from perdure.contracts.tools import ToolSpec
from tests.authority.calls import NOON, RUN, WRITE, granted, subject, where

ANYBODY = ApprovalRule()


def covers(grant: Grant, /, tool: ToolSpec = WRITE, rule: ApprovalRule = ANYBODY, **arguments: JsonValue) -> bool:
    return covering((grant,), subject(tool, **arguments), rule, starter="sam", at=NOON) is not None


def test_a_grant_covers_calls_of_its_tool_whose_arguments_match() -> None:
    grant = granted(when=where(text=("prefix", "a")))
    assert covers(grant, text="ab", to="x")
    assert not covers(grant, text="b")
    assert not covers(grant, to="x")
    assert not covers(granted("other"), text="a")


def test_a_grant_without_conditions_covers_every_call_of_its_tool() -> None:
    assert covers(granted(), text="anything")


def test_a_grant_of_the_very_same_arguments_covers_no_further_ones() -> None:
    grant = granted(when=where(text="a"), exact=True)
    assert covers(grant, text="a")
    assert not covers(grant, text="a", force=True)
    assert covers(granted(exact=True))
    assert not covers(granted(exact=True), text="a")


def test_a_grant_ends_at_its_expiry() -> None:
    assert covers(granted(expires_at=NOON + timedelta(seconds=1)))
    assert not covers(granted(expires_at=NOON))
    assert not covers(granted(expires_at=NOON - timedelta(days=1)))


def test_without_a_time_only_grants_that_never_expire_hold() -> None:
    later = granted(expires_at=NOON + timedelta(days=1))
    for grant, holds in ((later, False), (granted(), True)):
        found = covering((grant,), subject(WRITE), ApprovalRule(), starter="", at=None)
        assert (found is not None) is holds


def test_the_first_grant_that_covers_the_call_is_named() -> None:
    other, first, second = granted("other"), granted(grant_id="g2"), granted(grant_id="g3")
    assert covering((other, first, second), subject(WRITE), ApprovalRule(), starter="", at=NOON) == first


def test_whoever_gave_it_must_be_one_who_may_approve_the_call() -> None:
    assert covers(granted(actor="ada"), rule=ApprovalRule(approvers=("ada",)))
    assert not covers(granted(actor="bob"), rule=ApprovalRule(approvers=("ada",)))
    assert not covers(granted(actor="sam"), rule=ApprovalRule(not_starter=True))
    assert not covers(granted(actor=""), rule=ApprovalRule(not_starter=True))


def test_the_eyes_of_two_are_remembered_by_nobody() -> None:
    assert not covers(granted(), rule=ApprovalRule(needed=2))


def test_a_grant_for_a_command_covers_nothing_that_rides_along() -> None:
    grant = granted("run", when=where(command=("prefix", "git push")))
    assert covers(grant, RUN, command="git push -f")
    assert covers(grant, RUN, command="cd sub && git push")
    for command in ("git push; rm x", "git push > x", "ls", ""):
        assert not covers(grant, RUN, command=command)


def test_a_grant_for_the_very_same_command_covers_it_whatever_it_is() -> None:
    assert covers(granted("run", when=where(command="make; rm x > y"), exact=True), RUN, command="make; rm x > y")
