"""Judge: one verdict for every call of a reply. The strictest rule wins, and each verdict names the rule that gave it.

In order: unknown tool, scope, arguments, then the strictest of safety rules, the agent's and the house's policy (or,
without either, effect); then what humans approved, grants, the mode, and whether anybody can be asked at all.
``docs/authority.md`` has the whole table.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from perdure.authority.approval import approval_of, approved, defaulted, joined, shortfall
from perdure.authority.arguments import arguments_verdict
from perdure.authority.grants import covering
from perdure.authority.matching import Subject
from perdure.authority.paths import MachineFacts
from perdure.authority.policy import ANYBODY, Finding, Resolutions, effect_finding, policy_findings, rules_of
from perdure.authority.reach import safety_verdict
from perdure.authority.scope import meant, quoted, scope_verdict, unknown_verdict
from perdure.contracts.activities import Judgement, JudgeRequest, ProposedCall
from perdure.contracts.approvals import CallVerdict, Verdict
from perdure.contracts.digests import digest_of
from perdure.contracts.failures import bounded
from perdure.contracts.tools import ToolSpec

NOTHING_RESOLVED: Mapping[str, Resolutions] = {}


def judge(
    request: JudgeRequest, facts: MachineFacts, resolutions: Mapping[str, Resolutions] = NOTHING_RESOLVED
) -> Judgement:
    """The verdicts on all calls of the request, in order. Never raises: a call that cannot be judged asks.

    ``resolutions`` are by call id what dynamic resolvers said of it (`perdure.authority.resolvers.consultations` names
    those that must be asked); one that was not asked makes the call ask.
    """
    return Judgement(
        verdicts=tuple(_judged(call, request, facts, resolutions.get(call.part.call_id, {})) for call in request.calls)
    )


def _judged(call: ProposedCall, request: JudgeRequest, facts: MachineFacts, resolutions: Resolutions) -> CallVerdict:
    part = call.part
    tool = meant(part.tool, request.tools, request.scope)
    name = tool.name if tool else part.tool
    digest = digest_of({"tool": name, "arguments": part.arguments})
    try:
        finding = _finding(call, tool, request, facts, resolutions)
        verdict = _heard(finding, call, digest, tool, request, facts)
    except Exception as error:  # noqa: BLE001 - whatever fails (a foreign schema, a rule), nobody has cleared the call
        why = f"The call could not be judged ({type(error).__name__}: {error})."
        finding = Finding(Verdict(decision="ask", rule="error", reason=bounded(why), firm=True))
        verdict = _heard(finding, call, digest, None, request, facts)
    return CallVerdict(
        call_id=part.call_id,
        verdict=verdict,
        digest=digest,
        tool=name if name != part.tool else "",
        round=call.round,
        approval=finding.approval if verdict.decision == "ask" else ANYBODY,
    )


def _finding(
    call: ProposedCall,
    tool: ToolSpec | None,
    request: JudgeRequest,
    facts: MachineFacts,
    resolutions: Resolutions,
) -> Finding:
    if tool is None:
        return Finding(unknown_verdict(call.part.tool, request.tools, request.scope))
    unfit = scope_verdict(tool, request.tools, request.scope) or arguments_verdict(call.part, tool)
    if unfit:
        return Finding(unfit)
    findings = _by_policies(call, tool, request, facts, resolutions)
    if tool.handler == "human":
        return _question(findings, request)
    safety = safety_verdict(tool, call.part.arguments or {}, facts)
    said = [Finding(safety.model_copy(update={"firm": True}))] if safety else []
    return _strictest([*said, *(findings or (effect_finding(tool),))], tool, request.user)


def _by_policies(
    call: ProposedCall, tool: ToolSpec, request: JudgeRequest, facts: MachineFacts, resolutions: Resolutions
) -> tuple[Finding, ...]:
    """What both policies say; nothing where neither has a rule for the tool, and then the call is not taken apart."""
    if not rules_of(tool.name, (*request.policy, *request.house_policy)):
        return ()
    subject = Subject(tool, call.part.arguments or {}, facts)
    return (
        *policy_findings(subject, request.policy, resolutions),
        *policy_findings(subject, request.house_policy, resolutions, layer="house policy"),
    )


def _strictest(findings: list[Finding], tool: ToolSpec, starter: str) -> Finding:
    """The strictest finding. Who approves must satisfy every one that asks."""
    strictest = max(findings, key=lambda finding: finding.strictness)
    if strictest.verdict.decision != "ask":
        return Finding(strictest.verdict)
    approval = joined((finding.approval for finding in findings if finding.verdict.decision == "ask"), starter)
    if approval is None:
        why = f"Nobody may approve {quoted(tool.name)}: its rules admit fewer people than they need."
        return Finding(Verdict(decision="deny", rule="policy", reason=f"{why} {strictest.verdict.reason}"))
    return replace(strictest, approval=approval)


def _question(findings: tuple[Finding, ...], request: JudgeRequest) -> Finding:
    denied = next((finding for finding in findings if finding.verdict.decision == "deny"), None)
    if denied:
        return Finding(denied.verdict)
    if request.humans == "none":
        return Finding(_no_human("The tool asks a person."))
    return Finding(Verdict(decision="allow", rule="question", reason="Asking a person has no effect of its own."))


def _heard(
    finding: Finding,
    call: ProposedCall,
    digest: str,
    tool: ToolSpec | None,
    request: JudgeRequest,
    facts: MachineFacts,
) -> Verdict:
    """The verdict once people, grants and the mode are heard: none of them lifts a denial."""
    verdict = finding.verdict
    if verdict.decision == "deny":
        return verdict
    said = approval_of(call, digest)
    if said is not None:
        if said.by_deadline:
            return defaulted(said, finding)
        lacking = shortfall(said, call, finding, request.user)
        if not lacking:
            return approved(said, verdict)
        verdict = verdict.model_copy(update={"reason": bounded(f"{lacking} {verdict.reason}")})
    if verdict.decision == "allow":
        return finding.verdict
    if request.grants and tool is not None and not verdict.firm:
        subject = Subject(tool, call.part.arguments or {}, facts)
        grant = covering(request.grants, subject, finding.approval, starter=request.user, at=request.at)
        if grant is not None:
            by = f" by {grant.actor}" if grant.actor else ""
            why = f"Covered by the grant {grant.grant_id}{by}: {finding.verdict.reason}"
            return Verdict(decision="allow", rule="grant", reason=bounded(why))
    if request.mode == "auto" and not verdict.firm:
        return Verdict(decision="allow", rule="mode", reason=bounded(f"The mode is auto: {finding.verdict.reason}"))
    return _no_human(verdict.reason) if request.humans == "none" else verdict


def _no_human(reason: str) -> Verdict:
    why = f"Nobody can be asked in this run, so the call is denied. {reason}"
    return Verdict(decision="deny", rule="no_human", reason=bounded(why))
