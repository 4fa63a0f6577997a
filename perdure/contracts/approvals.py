"""What authority says of calls, and what humans are asked about them."""

from __future__ import annotations

from datetime import datetime
from typing import Literal

from pydantic import JsonValue

from perdure.contracts.agent import ApprovalRule, ArgumentRule, Decision
from perdure.contracts.record import Record


class Verdict(Record):
    """What authority says of one call, with the rule that gave it.

    ``firm`` marks an ask that no mode, no grant and no deadline lifts. ``rule`` is a stable name: ``scope``,
    ``unknown_tool``, ``arguments``, ``policy``, ``effect``, ``mode``, ``no_human``, ``approved``, ``grant``,
    ``deadline`` (nobody came in time for what only a person may approve), ``question`` (the tool only asks a person),
    ``error`` (judging itself failed), ``safety:<name>``.
    """

    decision: Decision
    rule: str
    reason: str = ""
    firm: bool = False


class CallVerdict(Record):
    """The verdict on one call, bound to the arguments that were judged.

    ``tool`` is the declared tool that the name resolved to, when it differs from the name that the model wrote.
    ``round`` says which judging of the call it is, counted from 1; a verdict of an earlier round is stale. ``approval``
    says who may approve, where it asks.
    """

    call_id: str
    verdict: Verdict
    digest: str = ""
    tool: str = ""
    round: int = 0
    approval: ApprovalRule = ApprovalRule()


class RequestedCall(Record):
    """One call of an approval request: exactly what would run, and why it asks."""

    call_id: str
    tool: str
    arguments: dict[str, JsonValue]
    digest: str
    verdict: Verdict
    approval: ApprovalRule = ApprovalRule()


class ApprovalRequest(Record):
    """A request to a human about the calls of one assistant message. ``version`` grows when a call is asked again.

    At the ``deadline``, if there is one, ``default`` holds for what still waits.
    """

    request_id: str
    version: int = 1
    message_id: str
    calls: tuple[RequestedCall, ...]
    opened_at: datetime
    deadline: datetime | None = None
    default: Literal["deny", "approve"] = "deny"
    reminded: bool = False


class Question(Record):
    """A question that the agent asks a human through the tool ``ask_human``.

    ``options`` empty: any text will do. With ``multiple`` several options may be chosen. At the ``deadline``, if there
    is one, the model is told that nobody answered.
    """

    question_id: str
    call_id: str
    text: str
    options: tuple[str, ...] = ()
    multiple: bool = False
    opened_at: datetime
    deadline: datetime | None = None
    reminded: bool = False


class Response(Record):
    """What was said of one call, by whom and why. ``digest`` is that of the arguments that it is about.

    ``seen`` is the verdict that was shown: a stricter one at execution asks again. ``by_deadline``: nobody said it, the
    deadline passed.
    """

    call_id: str
    decision: Literal["approve", "deny", "answer"]
    text: str = ""
    actor: str = ""
    digest: str = ""
    seen: Verdict | None = None
    by_deadline: bool = False
    at: datetime


GrantLevel = Literal["run", "agent", "user"]
"""What a grant holds for: this run, every run of this agent, or every run that this user started."""


class Grant(Record):
    """A remembered approval: it turns an ask of policy or effect into allow, never a firm one.

    It covers calls of ``tool`` whose arguments match all of ``when``; with ``exact``, only those that give no further
    arguments. ``subject`` is the run, the agent or the user that it holds for. With ``children`` it holds for
    sub-agents too.
    """

    grant_id: str
    tool: str
    when: tuple[ArgumentRule, ...] = ()
    exact: bool = False
    level: GrantLevel = "run"
    subject: str = ""
    children: bool = False
    expires_at: datetime | None = None
    actor: str = ""
    reason: str = ""
    granted_at: datetime


class OpenRequests(Record):
    """Everything of a run that waits for a human (query ``open_requests``)."""

    run_id: str
    requests: tuple[ApprovalRequest, ...] = ()
    questions: tuple[Question, ...] = ()
    grants: tuple[Grant, ...] = ()
