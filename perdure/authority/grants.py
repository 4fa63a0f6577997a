"""Grants: whether a remembered approval covers a call. It turns an ask of policy or effect into allow, no firm one."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime

from perdure.authority.approval import may_approve
from perdure.authority.matching import Subject
from perdure.authority.policy import deciding
from perdure.contracts.agent import ApprovalRule, ToolPolicy
from perdure.contracts.approvals import Grant


def covering(
    grants: Iterable[Grant], subject: Subject, approval: ApprovalRule, *, starter: str, at: datetime | None
) -> Grant | None:
    """The first grant that covers the call at that time, or None. Without a time only grants that never expire do.

    Who gave the grant must be one who may approve the call. A call that needs several people is covered by none: one
    person's memory is not the eyes of two.
    """
    return next(
        (
            grant
            for grant in grants
            if _holds(grant, at)
            and approval.needed == 1
            and may_approve(grant.actor, approval, starter)
            and _covers(grant, subject)
        ),
        None,
    )


def _holds(grant: Grant, at: datetime | None) -> bool:
    return grant.expires_at is None or (at is not None and at < grant.expires_at)


def _covers(grant: Grant, subject: Subject) -> bool:
    if grant.tool != subject.tool.name:
        return False
    if grant.exact and not set(subject.arguments) <= {test.argument for test in grant.when}:
        return False
    rule = ToolPolicy(tool=grant.tool, word="allow", when=grant.when)
    decided = list(deciding(subject, (rule,)))
    return bool(decided) and None not in decided
