"""Judge: one verdict for every call of a reply. The strictest rule wins, and each verdict names the rule that gave it.

In order: unknown tool, scope, arguments, then the strictest of safety rules and policy (or, without one, effect); then
what a human approved, the mode, and whether anybody can be asked at all. ``docs/authority.md`` has the whole table.
"""

from __future__ import annotations

from perdure.authority.arguments import arguments_verdict
from perdure.authority.paths import MachineFacts
from perdure.authority.policy import Finding, policy_finding, policy_word
from perdure.authority.reach import safety_verdict
from perdure.authority.scope import meant, scope_verdict, unknown_verdict
from perdure.contracts.activities import Judgement, JudgeRequest, ProposedCall
from perdure.contracts.approvals import CallVerdict, Response, Verdict
from perdure.contracts.digests import digest_of
from perdure.contracts.errors import bounded
from perdure.contracts.tools import ToolSpec


def judge(request: JudgeRequest, facts: MachineFacts) -> Judgement:
    """The verdicts on all calls of the request, in order. Never raises: a call that cannot be judged asks."""
    return Judgement(verdicts=tuple(_judged(call, request, facts) for call in request.calls))


def _judged(call: ProposedCall, request: JudgeRequest, facts: MachineFacts) -> CallVerdict:
    part = call.part
    tool = meant(part.tool, request.tools, request.scope)
    name = tool.name if tool else part.tool
    digest = digest_of({"tool": name, "arguments": part.arguments})
    try:
        finding = _finding(call, tool, request, facts)
    except Exception as error:  # noqa: BLE001 - whatever fails (a foreign schema, a rule), nobody has cleared the call
        why = f"The call could not be judged ({type(error).__name__}: {error})."
        finding = Finding(Verdict(decision="ask", rule="error", reason=bounded(why)), firm=True)
    return CallVerdict(
        call_id=part.call_id,
        verdict=_heard(finding, call.response, digest, request),
        digest=digest,
        tool=name if name != part.tool else "",
        round=call.round,
    )


def _finding(call: ProposedCall, tool: ToolSpec | None, request: JudgeRequest, facts: MachineFacts) -> Finding:
    if tool is None:
        return Finding(unknown_verdict(call.part.tool, request.tools, request.scope))
    unfit = scope_verdict(tool, request.tools, request.scope) or arguments_verdict(call.part, tool)
    if unfit:
        return Finding(unfit)
    if tool.handler == "human":
        return _question(tool, request)
    safety = safety_verdict(tool, call.part.arguments or {}, facts)
    findings = [Finding(safety, firm=True)] if safety else []
    return max([*findings, policy_finding(tool, request.policy)], key=lambda finding: finding.strictness)


def _question(tool: ToolSpec, request: JudgeRequest) -> Finding:
    if policy_word(request.policy, tool.name) == "deny":
        return policy_finding(tool, request.policy)
    if request.humans == "none":
        return Finding(_no_human("The tool asks a person."))
    return Finding(Verdict(decision="allow", rule="question", reason="Asking a person has no effect of its own."))


def _heard(finding: Finding, response: Response | None, digest: str, request: JudgeRequest) -> Verdict:
    """The verdict once people and the mode are heard: neither can lift a denial."""
    verdict = finding.verdict.model_copy(update={"firm": finding.firm})
    if verdict.decision == "deny":
        return verdict
    if response is not None and response.decision == "approve" and response.digest == digest:
        by = f" by {response.actor}" if response.actor else ""
        return Verdict(decision="allow", rule="approved", reason=f"Approved{by}: {verdict.reason}")
    if verdict.decision == "allow":
        return verdict
    if request.mode == "auto" and not finding.firm:
        return Verdict(decision="allow", rule="mode", reason=f"The mode is auto: {verdict.reason}")
    return _no_human(verdict.reason) if request.humans == "none" else verdict


def _no_human(reason: str) -> Verdict:
    why = f"Nobody can be asked in this run, so the call is denied. {reason}"
    return Verdict(decision="deny", rule="no_human", reason=bounded(why))
