"""Approval: who may approve a call, and whether what was said lifts what holds now.

The check at execution wins: an approval lifts no more than what its approver was shown.
"""

from __future__ import annotations

from collections.abc import Iterable

from perdure.authority.policy import ANYBODY, Finding
from perdure.contracts.activities import ProposedCall
from perdure.contracts.agent import ApprovalRule
from perdure.contracts.approvals import Response, Verdict
from perdure.contracts.failures import bounded


def may_approve(actor: str, rule: ApprovalRule, starter: str) -> bool:
    """Whether the rule lets this person approve in a run that ``starter`` started."""
    if rule.approvers and actor not in rule.approvers:
        return False
    return not (rule.not_starter and actor in ("", starter))


def joined(rules: Iterable[ApprovalRule], starter: str) -> ApprovalRule | None:
    """The rule that is as strict as all of ``rules``: only whom all admit, as many as the one that needs most.

    None when they admit fewer people than they need.
    """
    joint = ApprovalRule()
    for rule in rules:
        shared = tuple(name for name in joint.approvers or rule.approvers if may_approve(name, rule, ""))
        if (joint.approvers or rule.approvers) and not shared:
            return None
        joint = ApprovalRule(
            approvers=shared,
            not_starter=joint.not_starter or rule.not_starter,
            needed=max(joint.needed, rule.needed),
        )
    admitted = {name for name in joint.approvers if may_approve(name, joint, starter)}
    return None if joint.approvers and len(admitted) < joint.needed else joint


def approval_of(call: ProposedCall, digest: str) -> Response | None:
    """What was said of the call, when that approves these very arguments; else None."""
    said = call.response
    return said if said is not None and said.decision == "approve" and said.digest == digest else None


def shortfall(said: Response, call: ProposedCall, finding: Finding, starter: str) -> str:
    """Why the approval does not lift what holds now, as a sentence; empty when it does."""
    if _is_stricter(finding.verdict, said.seen):
        return f"Approved{_by(said)}, but what asks now is stricter than what was shown."
    admitted = {name for name in (said.actor, *call.approvers) if may_approve(name, finding.approval, starter)}
    if len(admitted) >= finding.approval.needed:
        return ""
    several = finding.approval.needed > 1
    return f"Approved{_by(said)}, " + (f"but {finding.approval.needed} who may must." if several else "who may not.")


def approved(said: Response, verdict: Verdict) -> Verdict:
    """The verdict on a call that a person approved."""
    return Verdict(decision="allow", rule="approved", reason=bounded(f"Approved{_by(said)}: {verdict.reason}"))


def defaulted(said: Response, finding: Finding) -> Verdict:
    """The verdict on a call that nobody decided in time, where the default is to approve.

    Time alone lifts nothing that always asks, and nothing that only certain people may approve.
    """
    verdict = finding.verdict
    if verdict.firm or finding.approval != ANYBODY:
        why = f"{said.text} By default it would run then, but only people may approve this. {verdict.reason}"
        return Verdict(decision="deny", rule="deadline", reason=bounded(why))
    why = f"{said.text} By default it runs then: {verdict.reason}"
    return Verdict(decision="allow", rule="approved", reason=bounded(why))


def _is_stricter(now: Verdict, seen: Verdict | None) -> bool:
    """Whether a person who was shown ``seen`` has not said anything of ``now``.

    Whoever approved an ask that nothing else lifts has also approved what a policy always asks, but no other danger
    than the one that was named.
    """
    if not now.firm:
        return False
    return seen is None or not seen.firm or now.rule not in (seen.rule, "policy")


def _by(said: Response) -> str:
    return f" by {said.actor}" if said.actor else ""
