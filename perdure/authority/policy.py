"""Policy and effect: what is said of a tool by name, and what follows from what it declares to do.

Where the policy says nothing, the effect decides: what only reads runs, everything else asks, and so does a tool that
declares nothing.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import assert_never

from perdure.authority.scope import shown
from perdure.contracts.agent import PolicyWord, ToolPolicy
from perdure.contracts.approvals import Verdict
from perdure.contracts.tools import Effect, ToolSpec


@dataclass(frozen=True, slots=True)
class Finding:
    """A verdict before mode and people are heard. ``firm``: an ask that no mode and no grant lifts."""

    verdict: Verdict
    firm: bool = False

    @property
    def strictness(self) -> int:
        """How strict the finding is; the strictest of several wins."""
        match self.verdict.decision:
            case "allow":
                return 0
            case "ask":
                return 2 if self.firm else 1
            case "deny":
                return 3
            case _:
                assert_never(self.verdict.decision)


def policy_word(policy: Iterable[ToolPolicy], tool: str) -> PolicyWord | None:
    """What the policy says of the tool, None when nothing. The first entry of its name counts."""
    return next((entry.word for entry in policy if entry.tool == tool), None)


def policy_finding(tool: ToolSpec, policy: Iterable[ToolPolicy]) -> Finding:
    """What policy says of the tool, or else its effect."""
    name = shown(tool.name)
    match policy_word(policy, tool.name):
        case None:
            return _effect_finding(tool)
        case "allow":
            return Finding(Verdict(decision="allow", rule="policy", reason=f"The policy allows {name}."))
        case "ask":
            return Finding(Verdict(decision="ask", rule="policy", reason=f"The policy asks before {name}."))
        case "always_ask":
            ask = Verdict(decision="ask", rule="policy", reason=f"The policy always asks before {name}.")
            return Finding(ask, firm=True)
        case "deny":
            return Finding(Verdict(decision="deny", rule="policy", reason=f"The policy denies {name}."))
        case unknown:
            assert_never(unknown)


def _effect_finding(tool: ToolSpec) -> Finding:
    name = shown(tool.name)
    if tool.effect == "read":
        return Finding(Verdict(decision="allow", rule="effect", reason=f"{name} only reads."))
    return Finding(Verdict(decision="ask", rule="effect", reason=f"{name} {_effect_phrase(tool.effect)}."))


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
