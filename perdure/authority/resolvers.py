"""Resolvers: which dynamic resolvers must be asked of which calls, before these are judged."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from pydantic import JsonValue

from perdure.authority.arguments import arguments_verdict
from perdure.authority.matching import Subject
from perdure.authority.paths import MachineFacts
from perdure.authority.policy import deciding, rules_of
from perdure.authority.scope import in_scope, meant
from perdure.contracts.activities import JudgeRequest, ProposedCall
from perdure.contracts.tools import ToolSpec


@dataclass(frozen=True, slots=True)
class Consultation:
    """A question to the resolver of that name: what holds for this call?"""

    resolver: str
    call_id: str
    tool: str
    arguments: dict[str, JsonValue]


def consultations(request: JudgeRequest, facts: MachineFacts) -> tuple[Consultation, ...]:
    """Every resolver that a rule names which decides a call, once for each call.

    Never raises: of a call that cannot be judged nobody is asked.
    """
    return tuple(consultation for call in request.calls for consultation in _of_call(call, request, facts))


def _of_call(call: ProposedCall, request: JudgeRequest, facts: MachineFacts) -> Iterator[Consultation]:
    tool = meant(call.part.tool, request.tools, request.scope)
    if tool is None or not in_scope(tool.name, request.scope):
        return
    try:
        names = tuple(dict.fromkeys(_named(call, tool, request, facts)))
    except Exception:  # noqa: BLE001 - judging meets the same fault and turns it into an ask; the other calls go on
        return
    for name in names:
        yield Consultation(name, call.part.call_id, tool.name, dict(call.part.arguments or {}))


def _named(call: ProposedCall, tool: ToolSpec, request: JudgeRequest, facts: MachineFacts) -> Iterator[str]:
    layers = [rules_of(tool.name, policy) for policy in (request.policy, request.house_policy)]
    if not any(rule.resolver for rules in layers for rule in rules) or arguments_verdict(call.part, tool):
        return
    subject = Subject(tool, call.part.arguments or {}, facts)
    for rules in layers:
        yield from (rule.resolver for rule in deciding(subject, rules) if rule is not None and rule.resolver)
