"""Turning what Temporal raises into failures and results, in one place each way."""

from __future__ import annotations

from pydantic import ValidationError
from temporalio.exceptions import ActivityError, ApplicationError, CancelledError, FailureError
from temporalio.exceptions import TimeoutError as ActivityTimeoutError

from perdure.contracts.errors import bounded
from perdure.contracts.failures import Failure
from perdure.contracts.ids import result_message_id
from perdure.contracts.messages import CallPart, ResultStatus, ToolMessage

OUTCOME_UNKNOWN = (
    "Nobody knows whether this took effect: the worker was lost or the deadline passed while it ran. "
    "It was not run again. Check before you repeat it."
)
STOPPED = "Stopped while it ran. It may have taken effect in part."
UNAVAILABLE = "No worker serves this tool any more. It was not run."


def was_stopped(error: ActivityError) -> bool:
    """Whether the activity ended because we asked it to."""
    return isinstance(error.cause, CancelledError)


def failure_of(error: ActivityError) -> Failure:
    """The failure that an activity ended with, after all its attempts."""
    cause = error.cause
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
    return Failure(kind="internal", message=bounded(f"{error.activity_type} failed: {_text(cause)}"))


def lost_result(part: CallPart, error: ActivityError) -> ToolMessage:
    """The result of a call whose activity gave none."""
    cause = error.cause
    if was_stopped(error):
        return result(part, "interrupted", STOPPED)
    if isinstance(cause, ActivityTimeoutError):
        return result(part, "unknown", OUTCOME_UNKNOWN)
    if isinstance(cause, ApplicationError) and cause.type == "NotFoundError":
        return result(part, "unavailable", UNAVAILABLE)
    if isinstance(cause, ApplicationError) and cause.type == "WorkerShutdown":
        return result(part, "unknown", OUTCOME_UNKNOWN)
    return result(part, "error", bounded(f"The tool failed: {_text(cause)}"))


def result(part: CallPart, status: ResultStatus, text: str) -> ToolMessage:
    """A result of ``part`` that no tool gave."""
    return ToolMessage(
        message_id=result_message_id(part.call_id), call_id=part.call_id, tool=part.tool, status=status, text=text
    )


def _text(error: BaseException | None) -> str:
    return error.message if isinstance(error, FailureError) else str(error)
