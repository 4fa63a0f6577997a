"""Turning what Temporal raises into failures and results, in one place each way."""

from __future__ import annotations

from datetime import datetime

from pydantic import ValidationError
from temporalio.exceptions import ApplicationError, CancelledError, FailureError
from temporalio.exceptions import TimeoutError as ActivityTimeoutError

from perdure.brain.results import STOPPED, UNAVAILABLE, call_result
from perdure.contracts.agent import Humans
from perdure.contracts.approvals import CallVerdict, Verdict
from perdure.contracts.errors import bounded
from perdure.contracts.failures import Failure
from perdure.contracts.messages import AssistantMessage, CallPart, ToolMessage
from perdure.contracts.outcomes import ModelFailure, ModelReply

OUTCOME_UNKNOWN = (
    "Nobody knows whether this took effect: the worker was lost or the deadline passed while it ran. "
    "It was not run again. Check before you repeat it."
)


def failure_of(cause: BaseException | None) -> Failure:
    """The failure that an activity ended with, after all its attempts; ``cause`` is that of its `ActivityError`."""
    if isinstance(cause, ApplicationError):
        if cause.details:
            try:
                return Failure.model_validate(cause.details[0])
            except ValidationError:
                pass  # A foreign worker's details: its type and message still say what happened.
        return Failure(kind="internal", message=bounded(f"{cause.type or 'Error'}: {cause.message}"))
    if isinstance(cause, ActivityTimeoutError):
        return Failure(
            kind="timeout",
            message="The activity did not end in time, or its worker was lost in every attempt.",
            attribution="operator",
            retryable=True,
        )
    return Failure(kind="internal", message=bounded(_text(cause)))


def model_outcome(message_id: str, model: str, cause: BaseException | None, at: datetime) -> ModelReply | ModelFailure:
    """The outcome of a model call whose activity gave no message."""
    if not isinstance(cause, CancelledError):
        return ModelFailure(at=at, message_id=message_id, failure=failure_of(cause))
    # Stopped before any attempt could return what it had.
    message = AssistantMessage(message_id=message_id, parts=(), model=model, finish="interrupted")
    return ModelReply(at=at, message=message)


def error_verdicts(call_ids: tuple[str, ...], humans: Humans, cause: BaseException | None) -> tuple[CallVerdict, ...]:
    """Verdicts where judging itself failed: nothing is allowed, a human is asked, or the call is denied."""
    verdict = Verdict(
        decision="ask" if humans == "available" else "deny",
        rule="error",
        reason=bounded(f"Authority could not judge this call: {failure_of(cause).message}"),
    )
    return tuple(CallVerdict(call_id=call_id, verdict=verdict) for call_id in call_ids)


def lost_result(part: CallPart, cause: BaseException | None) -> ToolMessage:
    """The result of a call whose activity gave none."""
    if isinstance(cause, CancelledError):
        return call_result(part, "interrupted", STOPPED)
    if isinstance(cause, ActivityTimeoutError):
        return call_result(part, "unknown", OUTCOME_UNKNOWN)
    if isinstance(cause, ApplicationError) and cause.type == "NotFoundError":
        return call_result(part, "unavailable", UNAVAILABLE)
    if isinstance(cause, ApplicationError) and cause.type == "WorkerShutdown":
        return call_result(part, "unknown", OUTCOME_UNKNOWN)
    return call_result(part, "error", bounded(f"The tool failed: {_text(cause)}"))


def _text(error: BaseException | None) -> str:
    return error.message if isinstance(error, FailureError) else str(error)
