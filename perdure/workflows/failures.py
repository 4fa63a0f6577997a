"""What Temporal raises, as a failure of ours."""

from __future__ import annotations

from pydantic import ValidationError
from temporalio.exceptions import ApplicationError, FailureError, TimeoutType
from temporalio.exceptions import TimeoutError as ActivityTimeoutError

from perdure.contracts.failures import Failure, bounded


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
        return Failure(kind="timeout", message=why_late(cause.type), attribution="operator", retryable=True)
    return Failure(kind="internal", message=bounded(text_of(cause)))


def why_late(limit: TimeoutType | None) -> str:
    """What it means that the server gave up waiting for an activity at that limit, as a sentence."""
    return "Its worker was lost." if limit == TimeoutType.HEARTBEAT else "It did not end within its deadline."


def text_of(error: BaseException | None) -> str:
    """What an error says, without what Temporal puts around it."""
    return error.message if isinstance(error, FailureError) else str(error)
