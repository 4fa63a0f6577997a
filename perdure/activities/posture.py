"""Posture: what a failure tells Temporal. The one place where an ``ApplicationError`` is made of an error of ours.

Its type is the failure's kind, its first detail the whole `Failure`; that of a model call or an object has the `Bill`
of all its attempts as a second one. Whether to try again, and when, is the error's own word: nobody else retries. It is
raised without a cause, because a cause's text would enter the history too, and foreign texts may hold what must not
stand there (the HTTP library quotes header values).
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from temporalio import activity
from temporalio.exceptions import ApplicationError, FailureError

from perdure.activities.setbacks import Setback, setback
from perdure.contracts.usage import Bill


@contextmanager
def posture() -> Iterator[None]:
    """Inside an activity: errors leave the block as the ``ApplicationError`` that says whether to try again."""
    try:
        yield
    except FailureError:
        raise
    except Exception as error:  # noqa: BLE001 - a plain exception would be retried without end and show its text
        raise application_error(error, attempt=activity.info().attempt) from None


def application_error(error: Exception, *, attempt: int) -> ApplicationError:
    """The error that the activity's attempt ends in. ``attempt`` counts from 1 and sets the back-off."""
    return told(setback(error, attempt=attempt))


def told(setback: Setback, bill: Bill | None = None) -> ApplicationError:
    """The error that tells Temporal of a setback. ``bill`` is what it took so far."""
    failure = setback.failure
    return ApplicationError(
        failure.message,
        *((failure,) if bill is None else (failure, bill)),
        type=failure.kind,
        non_retryable=setback.wait is None,
        next_retry_delay=setback.wait,
    )
