"""Policy and effect: what is said of a call by rules, and what follows from what its tool declares to do.

The rules of a tool are read in order and the first that fits counts; when it has rules and none fits, it asks. What a
command line or a path comes to is judged piece by piece, and the strictest piece counts. Where no rule speaks of the
tool, its effect decides: what only reads runs, everything else asks, and so does a tool that declares nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Literal, assert_never

from perdure.authority.matching import Reading, Subject, tool_fits
from perdure.authority.scope import quoted
from perdure.contracts.agent import ApprovalRule, ArgumentRule, PolicyWord, ToolPolicy
from perdure.contracts.approvals import Verdict
from perdure.contracts.failures import bounded
from perdure.contracts.tools import Effect, ToolSpec

Layer = Literal["policy", "house policy"]
"""Whose policy it is: the agent's own, or that of the worker's settings."""

MAX_SHOWN = 80
ANYBODY = ApprovalRule()


@dataclass(frozen=True, slots=True)
class Finding:
    """A verdict before people, grants and the mode are heard, and who may approve where it asks."""

    verdict: Verdict
    approval: ApprovalRule = ANYBODY

    @property
    def strictness(self) -> int:
        """How strict the finding is; the strictest of several wins."""
        match self.verdict.decision:
            case "allow":
                return 0
            case "ask":
                return 2 if self.verdict.firm else 1
            case "deny":
                return 3
            case _:
                assert_never(self.verdict.decision)


@dataclass(frozen=True, slots=True)
class Resolution:
    """What a dynamic resolver said of a call: a policy word, or why there is none."""

    word: PolicyWord | None = None
    problem: str = ""


Resolutions = Mapping[str, Resolution]
"""What was said of one call, by the resolvers' names."""


def policy_findings(
    subject: Subject, policy: Iterable[ToolPolicy], resolutions: Resolutions, *, layer: Layer = "policy"
) -> tuple[Finding, ...]:
    """What a policy says of each thing that the call would do; nothing when no rule of it speaks of the tool."""
    rules = rules_of(subject.tool.name, policy)
    if not rules:
        return ()
    decided = tuple(deciding(subject, rules)) or (None,)
    return tuple(_rule_finding(rule, subject, resolutions, layer) for rule in dict.fromkeys(decided))


def rules_of(tool: str, policy: Iterable[ToolPolicy]) -> tuple[ToolPolicy, ...]:
    """The rules that speak of the tool, in order."""
    return tuple(rule for rule in policy if tool_fits(rule.tool, tool))


def deciding(subject: Subject, rules: Iterable[ToolPolicy]) -> Iterator[ToolPolicy | None]:
    """The rule that decides each thing that the call would do; None for what no rule fits."""
    rules = tuple(rules)
    for reading in subject.readings:
        rule = _first(subject, reading, rules)
        if rule is not None or not reading.free:
            yield rule
    rule = _first(subject, subject.written, rules)
    if rule is not None and rule.word != "allow" and any(test.argument in subject.special for test in rule.when):
        # What is written may fit a rule that no piece of it fits. That must not loosen anything, but it may restrict.
        yield rule


def effect_finding(tool: ToolSpec) -> Finding:
    """What follows from the tool's declared effect."""
    name = quoted(tool.name)
    if tool.effect == "read":
        return Finding(Verdict(decision="allow", rule="effect", reason=f"{name} only reads."))
    return Finding(Verdict(decision="ask", rule="effect", reason=f"{name} {_effect_phrase(tool.effect)}."))


def _first(subject: Subject, reading: Reading, rules: Iterable[ToolPolicy]) -> ToolPolicy | None:
    return next((rule for rule in rules if subject.fits(reading, rule.when)), None)


def _unruled(tool: ToolSpec, layer: Layer) -> Finding:
    why = f"No rule of the {layer} for {quoted(tool.name)} fits all of this call."
    return Finding(Verdict(decision="ask", rule="policy", reason=why))


def _rule_finding(rule: ToolPolicy | None, subject: Subject, resolutions: Resolutions, layer: Layer) -> Finding:
    if rule is None:
        return _unruled(subject.tool, layer)
    approval = rule.approval or ANYBODY
    name = quoted(subject.tool.name)
    if not rule.resolver:
        return Finding(_verdict(rule.word, f"The {layer}", f"{name}{_where(rule.when)}"), approval)
    said = resolutions.get(rule.resolver, Resolution(problem="it was not asked"))
    if said.word is not None:
        who = f"The {layer}'s resolver {_cut(rule.resolver)}"
        return Finding(_verdict(said.word, who, name), approval)
    why = f"The {layer}'s resolver {_cut(rule.resolver)} could not judge {name}: {said.problem}."
    return Finding(Verdict(decision="ask", rule="error", reason=bounded(why), firm=True), approval)


def _verdict(word: PolicyWord, who: str, what: str) -> Verdict:
    match word:
        case "allow":
            return Verdict(decision="allow", rule="policy", reason=f"{who} allows {what}.")
        case "ask":
            return Verdict(decision="ask", rule="policy", reason=f"{who} asks before {what}.")
        case "always_ask":
            return Verdict(decision="ask", rule="policy", reason=f"{who} always asks before {what}.", firm=True)
        case "deny":
            return Verdict(decision="deny", rule="policy", reason=f"{who} denies {what}.")
        case unknown:
            assert_never(unknown)


def _where(when: tuple[ArgumentRule, ...]) -> str:
    tests = " and ".join(f"{test.argument} {_phrase(test)}" for test in when)
    return f" where {tests}" if tests else ""


def _phrase(test: ArgumentRule) -> str:
    match test.match:
        case "exact":
            return f"is '{_cut(test.value)}'"
        case "prefix":
            return f"begins with '{_cut(test.value)}'"
        case "wildcard":
            return f"is like '{_cut(test.value)}'"
        case "regex":
            return f"matches '{_cut(test.value)}'"
        case _:
            assert_never(test.match)


def _cut(text: str) -> str:
    return text if len(text) <= MAX_SHOWN else text[: MAX_SHOWN - 1] + "…"


def _effect_phrase(effect: Effect | None) -> str:
    match effect:
        case None:
            return "does not declare what it does"
        case "read":
            return "only reads"
        case "write":
            return "changes data"
        case "execute":
            return "runs a program"
        case "network":
            return "talks to other machines"
        case _:
            assert_never(effect)
