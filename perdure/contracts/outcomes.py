"""Outcomes: what an instruction produced, and what people and the clock brought in. Each carries when it happened."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Literal

from pydantic import Field

from perdure.contracts.agent import FrozenAgent
from perdure.contracts.approvals import CallVerdict
from perdure.contracts.failures import Failure
from perdure.contracts.instructions import TurnEnd
from perdure.contracts.messages import AssistantMessage, ToolMessage
from perdure.contracts.record import Record
from perdure.contracts.requests import Cancel, Order
from perdure.contracts.usage import Bill


class Outcome(Record):
    at: datetime


class AgentResolved(Outcome):
    """The agent was found, checked and frozen, and with it the rules by which the run decides."""

    kind: Literal["agent_resolved"] = "agent_resolved"
    agent: FrozenAgent
    rules_version: int = 1


class AgentRejected(Outcome):
    """The agent cannot be used (unknown name, bad file, unknown tool): the run is unusable."""

    kind: Literal["agent_rejected"] = "agent_rejected"
    failure: Failure


class WorkOpened(Outcome):
    """The engine took work in hand: a model call, calls under judgement, or calls that run now."""

    kind: Literal["work_opened"] = "work_opened"
    model_call: str | None = None
    forced: bool = False
    judging: tuple[str, ...] = ()
    running: tuple[str, ...] = ()


class ModelReply(Outcome):
    kind: Literal["model_reply"] = "model_reply"
    message: AssistantMessage


class ModelFailure(Outcome):
    """A model call ended without a message, after all its attempts."""

    kind: Literal["model_failure"] = "model_failure"
    message_id: str
    failure: Failure
    bill: Bill = Bill()


class CallsJudged(Outcome):
    kind: Literal["calls_judged"] = "calls_judged"
    verdicts: tuple[CallVerdict, ...]


class CallsSettled(Outcome):
    """Calls got their one result: a tool ended, or the brain settled them itself."""

    kind: Literal["calls_settled"] = "calls_settled"
    results: tuple[ToolMessage, ...]


class Received(Outcome):
    """A person (or another system) told the run something."""

    kind: Literal["received"] = "received"
    order: Order


class CancelReceived(Outcome):
    """Temporal's own cancel: end the run now."""

    kind: Literal["cancel_received"] = "cancel_received"
    order: Cancel = Cancel()


class ClockReached(Outcome):
    """The time that `perdure.brain.clock.wake_at` named has come."""

    kind: Literal["clock_reached"] = "clock_reached"


class TurnFinished(Outcome):
    kind: Literal["turn_finished"] = "turn_finished"
    end: TurnEnd
    failure: Failure | None = None


AnyOutcome = Annotated[
    AgentResolved
    | AgentRejected
    | WorkOpened
    | ModelReply
    | ModelFailure
    | CallsJudged
    | CallsSettled
    | Received
    | CancelReceived
    | ClockReached
    | TurnFinished,
    Field(discriminator="kind"),
]
