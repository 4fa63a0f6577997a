"""Phases: what just happened, in the past tense. The brain decides by phase what is to be done next."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from perdure.contracts.approvals import Grant
from perdure.contracts.failures import Failure
from perdure.contracts.record import Record


class RunStarted(Record):
    """A run began; its agent is not resolved yet."""

    kind: Literal["run_started"] = "run_started"


class TurnStarted(Record):
    """Waiting messages were delivered to an agent that rested."""

    kind: Literal["turn_started"] = "turn_started"


class ModelReplied(Record):
    """A message of the model joined the transcript, with or without calls."""

    kind: Literal["model_replied"] = "model_replied"
    message_id: str


class ModelFailed(Record):
    """A model call failed for good."""

    kind: Literal["model_failed"] = "model_failed"
    failure: Failure


class CallsAuthorized(Record):
    """Verdicts were recorded. Denied calls are to be settled, asking ones are open, allowed ones may start."""

    kind: Literal["calls_authorized"] = "calls_authorized"
    denied: tuple[str, ...] = ()
    request_id: str | None = None
    questions: tuple[str, ...] = ()


class CallSettled(Record):
    """Calls got their results while others of the batch are open."""

    kind: Literal["call_settled"] = "call_settled"
    call_ids: tuple[str, ...]


class BatchSettled(Record):
    """The last open call of the batch settled: results and waiting messages joined the transcript."""

    kind: Literal["batch_settled"] = "batch_settled"


class HumanResponded(Record):
    """Waiting calls were approved, denied or answered, by a human or by their deadline.

    ``recheck`` are calls that wait still and that a new grant may cover; ``grants`` those that other runs use too.
    """

    kind: Literal["human_responded"] = "human_responded"
    call_ids: tuple[str, ...]
    recheck: tuple[str, ...] = ()
    grants: tuple[Grant, ...] = ()


class StopRequested(Record):
    """The turn that runs was told to stop."""

    kind: Literal["stop_requested"] = "stop_requested"


class Rested(Record):
    """A turn ended and nothing waits: the run is idle."""

    kind: Literal["rested"] = "rested"


class RunEnded(Record):
    """The run is over."""

    kind: Literal["run_ended"] = "run_ended"


class Unchanged(Record):
    """Nothing is to be done: the outcome was noted, queued, or refused (``reason`` says why)."""

    kind: Literal["unchanged"] = "unchanged"
    reason: str = ""


Phase = Annotated[
    RunStarted
    | TurnStarted
    | ModelReplied
    | ModelFailed
    | CallsAuthorized
    | CallSettled
    | BatchSettled
    | HumanResponded
    | StopRequested
    | Rested
    | RunEnded
    | Unchanged,
    Field(discriminator="kind"),
]
