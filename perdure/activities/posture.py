"""Posture: what a failure tells Temporal. The one place where an ``ApplicationError`` is made of an error of ours.

Its type is the failure's kind, its one detail the whole `Failure`. Whether to try again, and when, is the error's own
word: nobody else retries. It is raised without a cause, because a cause's text would enter the history too, and foreign
texts may hold what must not stand there (the HTTP library quotes header values).
"""

from __future__ import annotations

import random
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path

from temporalio import activity
from temporalio.exceptions import ApplicationError, FailureError

from perdure.contracts.errors import PerdureError, ProviderError
from perdure.contracts.failures import Failure

SHORTEST = timedelta(milliseconds=500)
LONGEST = timedelta(seconds=30)
_PACKAGE = Path(__file__).parents[1]


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
    failure = error.failure() if isinstance(error, PerdureError) else _unexpected(error)
    return ApplicationError(
        failure.message,
        failure,
        type=failure.kind,
        non_retryable=not failure.retryable,
        next_retry_delay=_delay(error, attempt) if failure.retryable else None,
    )


def _delay(error: Exception, attempt: int) -> timedelta:
    """How long to wait: what the provider said, else twice as long with each attempt, with jitter."""
    if isinstance(error, ProviderError) and error.retry_after is not None:
        return max(error.retry_after, SHORTEST)
    most: timedelta = min(SHORTEST * 2 ** min(attempt, 16), LONGEST)
    return most * random.uniform(0.5, 1)


def _unexpected(error: Exception) -> Failure:
    """A fault of our own, told by its type and place. Its text is left out: nobody has vouched for it."""
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if frame.filename != __file__]
    ours = [frame for frame in frames if Path(frame.filename).is_relative_to(_PACKAGE)] or frames
    place = f" at {Path(ours[-1].filename).name}:{ours[-1].lineno}" if ours else ""
    return Failure(kind="internal", message=f"An unexpected {type(error).__name__}{place}. This is a fault of Perdure.")
