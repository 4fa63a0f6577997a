"""What authority says of calls, and what humans are asked about them."""

from __future__ import annotations

from datetime import datetime
from typing import Literal

from pydantic import JsonValue

from perdure.contracts.agent import Decision
from perdure.contracts.record import Record


class Verdict(Record):
    """What authority says of one call, with the rule that gave it.

    ``rule`` is a stable name: ``scope``, ``unknown_tool``, ``arguments``, ``policy``, ``effect``, ``mode``,
    ``no_human``, ``approved``, ``question`` (the tool only asks a person), ``error`` (judging itself failed),
    ``safety:<name>``.
    """

    decision: Decision
    rule: str
    reason: str = ""


class CallVerdict(Record):
    """The verdict on one call, bound to the arguments that were judged.

    ``tool`` is the declared tool that the name resolved to, when it differs from the name that the model wrote.
    """

    call_id: str
    verdict: Verdict
    digest: str = ""
    tool: str = ""


class RequestedCall(Record):
    """One call of an approval request: exactly what would run, and why it asks."""

    call_id: str
    tool: str
    arguments: dict[str, JsonValue]
    digest: str
    verdict: Verdict


class ApprovalRequest(Record):
    """A request to a human about the calls of one assistant message. ``version`` grows when a call is asked again."""

    request_id: str
    version: int = 1
    message_id: str
    calls: tuple[RequestedCall, ...]
    opened_at: datetime


class Question(Record):
    """A question that the agent asks a human through the tool ``ask_human``. ``options`` empty: any text will do."""

    question_id: str
    call_id: str
    text: str
    options: tuple[str, ...] = ()
    opened_at: datetime


class Response(Record):
    """What a human said of one call. ``decision`` edit and grants come with the policy rules."""

    call_id: str
    decision: Literal["approve", "deny", "answer"]
    text: str = ""
    actor: str = ""
    digest: str = ""
    at: datetime


class OpenRequests(Record):
    """Everything of a run that waits for a human (query ``open_requests``)."""

    run_id: str
    requests: tuple[ApprovalRequest, ...] = ()
    questions: tuple[Question, ...] = ()
