from __future__ import annotations

from perdure.authority.policy import Finding, policy_finding, policy_word
from perdure.contracts.agent import ToolPolicy
from perdure.contracts.approvals import Verdict
from perdure.contracts.tools import ToolSpec


def test_the_policy_of_another_tool_says_nothing() -> None:
    assert policy_word((ToolPolicy(tool="other", word="deny"),), "mine") is None


def test_the_policy_replaces_the_effect() -> None:
    tool = ToolSpec(name="mine", effect="read")
    assert policy_finding(tool, (ToolPolicy(tool="mine", word="deny"),)).verdict.decision == "deny"
    assert policy_finding(tool, ()).verdict.decision == "allow"


def test_findings_are_ordered_by_strictness() -> None:
    def finding(decision: str, *, firm: bool = False) -> Finding:
        return Finding(Verdict.model_validate({"decision": decision, "rule": "policy"}), firm=firm)

    rising = [finding("allow"), finding("ask"), finding("ask", firm=True), finding("deny")]
    assert [one.strictness for one in rising] == [0, 1, 2, 3]


def test_every_reason_names_the_tool() -> None:
    for effect in (None, "read", "write", "execute", "network"):
        finding = policy_finding(ToolSpec.model_validate({"name": "mine", "effect": effect}), ())
        assert finding.verdict.reason.startswith('"mine" ')
