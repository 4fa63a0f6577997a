from __future__ import annotations

from typing import Any

import pytest

from perdure.authority.policy import Finding, Resolution, effect_finding, policy_findings
from perdure.contracts.agent import PolicyWord, ToolPolicy
from perdure.contracts.approvals import Verdict
from perdure.contracts.tools import ToolSpec
from tests.authority.calls import RUN, SAVE, WRITE, subject, where

MINE = ToolSpec(name="mine", effect="read")


def said(*rules: ToolPolicy, tool: ToolSpec = WRITE, **arguments: Any) -> str:
    """What the policy says of the call: the decision, with an exclamation mark when it is firm."""
    findings = policy_findings(subject(tool, **arguments), rules, {})
    strictest = max(findings, key=lambda finding: finding.strictness, default=None)
    return "nothing" if strictest is None else strictest.verdict.decision + "!" * strictest.verdict.firm


def note(word: PolicyWord, **tests: Any) -> ToolPolicy:
    return ToolPolicy(tool="write_note", word=word, when=where(**tests))


def run(word: PolicyWord, *test: Any) -> ToolPolicy:
    return ToolPolicy(tool="run", word=word, when=where(command=(test[0], test[1])) if test else ())


def test_the_policy_of_another_tool_says_nothing() -> None:
    assert said(ToolPolicy(tool="other", word="deny"), tool=MINE) == "nothing"


def test_findings_are_ordered_by_strictness() -> None:
    def finding(decision: str, *, firm: bool = False) -> Finding:
        return Finding(Verdict.model_validate({"decision": decision, "rule": "policy", "firm": firm}))

    rising = [finding("allow"), finding("ask"), finding("ask", firm=True), finding("deny")]
    assert [one.strictness for one in rising] == [0, 1, 2, 3]


def test_every_reason_names_the_tool() -> None:
    for effect in (None, "read", "write", "execute", "network"):
        finding = effect_finding(ToolSpec.model_validate({"name": "mine", "effect": effect}))
        assert finding.verdict.reason.startswith('"mine" ')


def test_the_first_rule_that_fits_counts() -> None:
    rules = (note("deny", text="a"), note("allow", text=("prefix", "a")), note("always_ask"))
    assert [said(*rules, text=text) for text in ("a", "ab", "b")] == ["deny", "allow", "ask!"]
    assert said(*reversed(rules), text="a") == "ask!"


def test_a_tool_that_has_rules_of_which_none_fits_asks() -> None:
    assert said(note("allow", text="a"), note("deny", text="b"), text="c") == "ask"
    assert said(note("allow", text="a")) == "ask"


def test_patterns_and_names_are_read_in_one_order() -> None:
    broad, narrow = ToolPolicy(tool="write_*", word="deny"), note("allow")
    assert said(narrow, broad) == "allow"
    assert said(broad, narrow) == "deny"


def test_a_reason_says_which_rule_it_was() -> None:
    (finding,) = policy_findings(subject(WRITE, text="ab", to="x"), (note("ask", text=("prefix", "a"), to="x"),), {})
    assert finding.verdict.reason == ("The policy asks before \"write_note\" where text begins with 'a' and to is 'x'.")


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("git status", "allow"),
        ("git  status -s", "allow"),
        ("cd sub && git status", "allow"),
        ("git push", "ask!"),
        ("git status; git push", "ask!"),
        ("git push; git status", "ask!"),
        ("env git push", "ask!"),
        ("git status; npm test", "ask"),
        ("git status > log.txt", "ask"),
        ("npm publish", "deny"),
        ("git push && npm publish", "deny"),
        ("/usr/bin/npm publish", "deny"),
        ("sh -c 'npm publish'", "deny"),
        ("ls", "ask"),
        ("unparsable (", "ask"),
    ],
)
def test_the_strictest_command_of_a_line_counts(command: str, expected: str) -> None:
    rules = (
        run("allow", "prefix", "git status"),
        run("always_ask", "prefix", "git push"),
        run("deny", "prefix", "npm pub"),
    )
    assert said(*rules, tool=RUN, command=command) == expected


def test_a_rule_for_the_rest_decides_on_all_that_no_other_rule_names() -> None:
    rules = (run("allow", "prefix", "git status"), run("deny"))
    for command in ("ls", "git status; ls", "git status > log.txt", "cd sub && git status", "unparsable ("):
        assert said(*rules, tool=RUN, command=command) == "deny"
    assert said(*rules, tool=RUN, command="git status") == "allow"
    assert said(run("deny", "prefix", "git push"), run("allow"), tool=RUN, command="ls > x; make") == "allow"


def test_what_is_written_may_restrict_but_never_loosens() -> None:
    assert (
        said(run("deny", "wildcard", "*secret.txt*"), run("allow"), tool=RUN, command="echo x > secret.txt") == "deny"
    )
    assert said(run("allow", "wildcard", "*ok*"), tool=RUN, command="make; echo ok") == "ask"
    assert said(run("allow", "prefix", "cd sub && ls"), tool=RUN, command="cd sub && ls") == "ask"


def test_the_strictest_place_of_a_call_counts() -> None:
    rules = (
        ToolPolicy(tool="save", word="allow", when=where(path=("prefix", "drafts/"))),
        ToolPolicy(tool="save", word="deny", when=where(path=("prefix", "secrets/"))),
    )
    assert said(*rules, tool=SAVE, path="drafts/a") == "allow"
    assert said(*rules, tool=SAVE, path="drafts/../secrets/a") == "deny"
    assert said(*rules, tool=SAVE, path=["drafts/a", "secrets/a"]) == "deny"
    assert said(*rules, tool=SAVE, path=["drafts/a", "else/a"]) == "ask"


def resolved(said: dict[str, Resolution]) -> Verdict:
    rule = ToolPolicy(tool="write_note", resolver="house:rules")
    (finding,) = policy_findings(subject(WRITE, text="a"), (rule,), said)
    return finding.verdict


@pytest.mark.parametrize(
    ("word", "decision", "firm"),
    [("allow", "allow", False), ("ask", "ask", False), ("always_ask", "ask", True), ("deny", "deny", False)],
)
def test_a_resolver_says_the_word(word: PolicyWord, decision: str, firm: bool) -> None:
    verdict = resolved({"house:rules": Resolution(word=word)})
    assert (verdict.decision, verdict.rule, verdict.firm) == (decision, "policy", firm)
    assert "resolver house:rules" in verdict.reason


def test_a_resolver_that_says_nothing_asks_and_only_a_person_lifts_that() -> None:
    for nothing in ({}, {"house:rules": Resolution(problem="KeyError: 'x'")}, {"other": Resolution(word="allow")}):
        verdict = resolved(nothing)
        assert (verdict.decision, verdict.rule, verdict.firm) == ("ask", "error", True)
    assert (
        "could not judge \"write_note\": KeyError: 'x'."
        in resolved({"house:rules": Resolution(problem="KeyError: 'x'")}).reason
    )
