"""Events: what a subscriber sees. Durable ones are a projection of the history; live ones are gone when missed."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Literal

from pydantic import Field, JsonValue

from perdure.contracts.approvals import ApprovalRequest, CallVerdict, Grant, Question
from perdure.contracts.failures import Failure
from perdure.contracts.instructions import TurnEnd
from perdure.contracts.messages import AssistantMessage, CallPart, ToolMessage, UserMessage
from perdure.contracts.record import Record
from perdure.contracts.requests import Cancel, Order
from perdure.contracts.state import RunStatus
from perdure.contracts.usage import Cost, Usage


class Position(Record):
    """Where a durable event stands: the execution, and how many durable events of it came before, plus one."""

    execution_id: str
    number: int

    def __str__(self) -> str:
        return f"{self.execution_id}:{self.number}"

    @classmethod
    def parse(cls, text: str) -> Position:
        """Read what ``str(position)`` wrote. Raises ValueError."""
        execution_id, _, number = text.rpartition(":")
        return cls(execution_id=execution_id, number=int(number))


class Event(Record):
    """What all events carry. ``path`` leads from the subscribed run to a child's; live ones have no ``position``."""

    run_id: str = ""
    at: datetime | None = None
    path: tuple[str, ...] = ()
    position: Position | None = None


class RunBegan(Event):
    kind: Literal["run_began"] = "run_began"
    agent: str
    model: str


class MessageReceived(Event):
    """A user message was taken in; it is delivered at the next model call."""

    kind: Literal["message_received"] = "message_received"
    message: UserMessage


class TurnBegan(Event):
    kind: Literal["turn_began"] = "turn_began"
    turn: int


class ModelCalled(Event):
    """The model is asked. ``problem`` is what it is told of its last answer, which does not fit the output schema."""

    kind: Literal["model_called"] = "model_called"
    message_id: str
    turn: int
    step: int
    forced: bool = False
    problem: str = ""


class ModelAnswered(Event):
    kind: Literal["model_answered"] = "model_answered"
    message: AssistantMessage


class ModelGaveUp(Event):
    """A model call failed for good."""

    kind: Literal["model_gave_up"] = "model_gave_up"
    message_id: str
    failure: Failure


class CallsReviewed(Event):
    """Authority gave its verdicts."""

    kind: Literal["calls_reviewed"] = "calls_reviewed"
    verdicts: tuple[CallVerdict, ...]


class RequestOpened(Event):
    kind: Literal["request_opened"] = "request_opened"
    request: ApprovalRequest


class QuestionOpened(Event):
    kind: Literal["question_opened"] = "question_opened"
    question: Question


class OrderReceived(Event):
    """Somebody told the run something, or canceled it; ``refused`` says why it had no effect, if so.

    A message that was taken in is told of as `MessageReceived` instead.
    """

    kind: Literal["order_received"] = "order_received"
    order: Order | Cancel
    refused: str = ""


class GrantMade(Event):
    """An approval is remembered."""

    kind: Literal["grant_made"] = "grant_made"
    grant: Grant


class DeadlinePassed(Event):
    """Nobody responded about a call in time; ``decision`` is what holds now."""

    kind: Literal["deadline_passed"] = "deadline_passed"
    call_id: str
    decision: Literal["approve", "deny", "answer"]


class CallStarted(Event):
    kind: Literal["call_started"] = "call_started"
    call: CallPart


class CallEnded(Event):
    kind: Literal["call_ended"] = "call_ended"
    result: ToolMessage


class StatusChanged(Event):
    kind: Literal["status_changed"] = "status_changed"
    status: RunStatus


class TurnEnded(Event):
    kind: Literal["turn_ended"] = "turn_ended"
    turn: int
    end: TurnEnd
    output: str = ""
    data: JsonValue = None
    failure: Failure | None = None
    usage: Usage = Usage()
    cost: Cost = Cost()


class RunClosed(Event):
    """The last event of a run. ``data`` is the output as an object where a schema was given."""

    kind: Literal["run_closed"] = "run_closed"
    status: RunStatus
    output: str = ""
    data: JsonValue = None
    failure: Failure | None = None
    usage: Usage = Usage()
    cost: Cost = Cost()


class TextArrived(Event):
    """Live: a piece of the message that is being written. ``offset`` counts characters of this ``channel`` and attempt.

    A new ``attempt`` starts at offset 0 again: what the earlier one wrote is void. ``model`` writes it: a fallback may
    do so after the run's own gave up.
    """

    kind: Literal["text_arrived"] = "text_arrived"
    message_id: str
    model: str = ""
    attempt: int
    channel: Literal["text", "reasoning"] = "text"
    offset: int
    text: str


class Retrying(Event):
    """Live: an attempt failed and another follows, at ``until`` unless it has begun already."""

    kind: Literal["retrying"] = "retrying"
    activity: str
    attempt: int
    reason: str
    until: datetime | None = None


DurableEvent = (
    RunBegan
    | MessageReceived
    | TurnBegan
    | ModelCalled
    | ModelAnswered
    | ModelGaveUp
    | CallsReviewed
    | RequestOpened
    | QuestionOpened
    | OrderReceived
    | GrantMade
    | DeadlinePassed
    | CallStarted
    | CallEnded
    | StatusChanged
    | TurnEnded
    | RunClosed
)
AnyEvent = Annotated[DurableEvent | TextArrived | Retrying, Field(discriminator="kind")]
