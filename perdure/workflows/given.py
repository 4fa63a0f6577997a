"""From what an activity gave, or why it gave nothing, to the one outcome that the run makes of it.

The workflow and the projection of its history share these, so that both make the same of the same event.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from temporalio.exceptions import ApplicationError, CancelledError
from temporalio.exceptions import TimeoutError as ActivityTimeoutError

from perdure.brain.results import STOPPED, UNAVAILABLE, call_result, tool_result
from perdure.contracts.activities import Judgement, ResolvedAgent
from perdure.contracts.agent import Humans
from perdure.contracts.approvals import CallVerdict, Verdict
from perdure.contracts.errors import bounded
from perdure.contracts.messages import AssistantMessage, CallPart, ToolMessage
from perdure.contracts.outcomes import AgentRejected, AgentResolved, ModelFailure, ModelReply
from perdure.workflows.failures import failure_of, text_of

OUTCOME_UNKNOWN = (
    "Nobody knows whether this took effect: the worker was lost or the deadline passed while it ran. "
    "It was not run again. Check before you repeat it."
)


@dataclass(frozen=True, slots=True)
class Lost:
    """An activity gave nothing, and why: the cause of its `ActivityError`, or that its result cannot be read."""

    cause: BaseException | None


def checked(value: Any, kind: Any) -> Any:
    """``value``, or `Lost` when it is not of its kind: no payload at all reads as None, whatever was asked for."""
    return value if kind is Any or isinstance(value, kind) else unreadable(kind)


def unreadable(kind: Any) -> Lost:
    """A result that is not of its kind. What the converter said is left out: it quotes the value."""
    name = getattr(kind, "__name__", "value")
    return Lost(ValueError(f"The activity returned something that cannot be read as {name}."))


def agent_outcome(given: ResolvedAgent | Lost, at: datetime) -> AgentResolved | AgentRejected:
    """What became of the agent."""
    if isinstance(given, Lost):
        return AgentRejected(at=at, failure=failure_of(given.cause))
    return AgentResolved(at=at, agent=given.agent)


def model_outcome(
    message_id: str, model: str, given: AssistantMessage | Lost, at: datetime
) -> ModelReply | ModelFailure:
    """What the model call that was to make ``message_id`` came to."""
    if isinstance(given, Lost):
        if not isinstance(given.cause, CancelledError):
            return ModelFailure(at=at, message_id=message_id, failure=failure_of(given.cause))
        # Stopped before any attempt could return what it had.
        given = AssistantMessage(message_id=message_id, parts=(), model=model, finish="interrupted")
    if given.message_id != message_id:
        failure = failure_of(ValueError(f"The model call for {message_id} returned the message {given.message_id}."))
        return ModelFailure(at=at, message_id=message_id, failure=failure)
    return ModelReply(at=at, message=given)


def verdicts_of(call_ids: tuple[str, ...], humans: Humans, given: Judgement | Lost) -> tuple[CallVerdict, ...]:
    """One verdict for each call. A call that was not judged is not allowed: a human is asked, or it is denied."""
    why = failure_of(given.cause).message if isinstance(given, Lost) else "it gave no verdict"
    judged = {} if isinstance(given, Lost) else {verdict.call_id: verdict for verdict in given.verdicts}
    unjudged = Verdict(
        decision="ask" if humans == "available" else "deny",
        rule="error",
        reason=bounded(f"Authority could not judge this call: {why}"),
    )
    return tuple(judged.get(call_id) or CallVerdict(call_id=call_id, verdict=unjudged) for call_id in call_ids)


def result_of(part: CallPart, given: Any) -> ToolMessage:
    """The one result of a call: of what its tool returned, or of `Lost`."""
    if not isinstance(given, Lost):
        return tool_result(part, given)
    cause = given.cause
    if isinstance(cause, CancelledError):
        return call_result(part, "interrupted", STOPPED)
    if isinstance(cause, ActivityTimeoutError):
        return call_result(part, "unknown", OUTCOME_UNKNOWN)
    if isinstance(cause, ApplicationError) and cause.type == "NotFoundError":
        return call_result(part, "unavailable", UNAVAILABLE)
    if isinstance(cause, ApplicationError) and cause.type == "WorkerShutdown":
        return call_result(part, "unknown", OUTCOME_UNKNOWN)
    return call_result(part, "error", bounded(f"The tool failed: {text_of(cause)}"))
