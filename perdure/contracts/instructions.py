"""Instructions: what to do next, as data that can be sent, stored and replayed. The engine executes, one by one."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from perdure.contracts.approvals import ApprovalRequest, Grant, Question
from perdure.contracts.failures import Failure
from perdure.contracts.messages import ResultStatus
from perdure.contracts.record import Record

TurnEnd = Literal[
    "completed",
    "interrupted",
    "canceled",
    "step_limit",
    "invalid_calls",
    "repeated_calls",
    "invalid_output",
    "refused",
    "failed",
]
"""Why a turn ended. A conversation survives all but ``canceled``."""


class ResolveAgent(Record):
    """Find the agent that the request names, check it, and freeze it for this run."""

    kind: Literal["resolve_agent"] = "resolve_agent"


class CallModel(Record):
    """Ask the model for the message ``message_id``, on the first ``revision`` messages of the transcript.

    ``digest`` is that transcript's. A ``forced`` call offers no tools and tells the model to answer now. A ``nudged``
    one tells it that it repeats itself. ``problem`` says what was wrong with its last answer, which must fit a schema.
    """

    kind: Literal["call_model"] = "call_model"
    message_id: str
    turn: int
    step: int
    model: str
    revision: int
    digest: str
    forced: bool = False
    nudged: bool = False
    problem: str = ""


class AuthorizeCalls(Record):
    """Have authority judge these calls. Approved ones are judged again: the check at execution wins."""

    kind: Literal["authorize_calls"] = "authorize_calls"
    call_ids: tuple[str, ...]


class CallTools(Record):
    """Start these calls, which carry a recorded allow."""

    kind: Literal["call_tools"] = "call_tools"
    call_ids: tuple[str, ...]


class Settlement(Record):
    """The result that a call gets without running: a status and what the model reads."""

    call_id: str
    status: ResultStatus
    text: str


class SettleCalls(Record):
    """Give calls that do not run, or not any more, their one result."""

    kind: Literal["settle_calls"] = "settle_calls"
    settlements: tuple[Settlement, ...]


class AskHumans(Record):
    """Tell humans what waits for them (``opened``), will not wait much longer (``due``), or waits no more (``closed``).
    The state holds the requests; nothing is asked twice."""

    kind: Literal["ask_humans"] = "ask_humans"
    stage: Literal["opened", "due", "closed"] = "opened"
    requests: tuple[ApprovalRequest, ...] = ()
    questions: tuple[Question, ...] = ()


class RememberGrant(Record):
    """Keep a grant for other runs too: of this agent, or of this user."""

    kind: Literal["remember_grant"] = "remember_grant"
    grant: Grant


class StopWork(Record):
    """Stop work that is open and await what it has to give: the model call's partial text, the calls' results."""

    kind: Literal["stop_work"] = "stop_work"
    model_call: str | None = None
    call_ids: tuple[str, ...] = ()


class Finish(Record):
    """End the turn."""

    kind: Literal["finish"] = "finish"
    end: TurnEnd
    failure: Failure | None = None


Instruction = Annotated[
    ResolveAgent | CallModel | AuthorizeCalls | CallTools | SettleCalls | AskHumans | RememberGrant | StopWork | Finish,
    Field(discriminator="kind"),
]
