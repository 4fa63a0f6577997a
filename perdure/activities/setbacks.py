"""Setbacks: an error as a failure, and how long to wait after it before the next attempt."""

from __future__ import annotations

import random
import traceback
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

from perdure.contracts.errors import (
    BadReplyError,
    PerdureError,
    ProviderError,
    ProviderNetworkError,
    ProviderTimeoutError,
)
from perdure.contracts.failures import Failure

SHORTEST = timedelta(milliseconds=500)
LONGEST = timedelta(seconds=30)
"""Bounds of the back-off. What a provider asks for may be longer."""

_PACKAGE = Path(__file__).parents[1]
_PASSED_THROUGH = str(Path(__file__).with_name("posture.py"))


@dataclass(frozen=True, slots=True)
class Setback:
    """What a failed attempt comes to: the failure to tell, and the wait to the next attempt, None when none follows."""

    failure: Failure
    wait: timedelta | None


def setback(error: Exception, *, attempt: int) -> Setback:
    """What ``error`` comes to by its own word. ``attempt`` counts from 1 and sets the back-off."""
    failure = failure_of(error)
    return Setback(failure, wait_after(error, attempt=attempt) if failure.retryable else None)


def failure_of(error: Exception) -> Failure:
    """The error as data, whoever raised it."""
    return error.failure() if isinstance(error, PerdureError) else _unexpected(error)


def wait_after(error: Exception, *, attempt: int) -> timedelta:
    """How long to wait after ``error``: what the provider said, else the back-off."""
    if isinstance(error, ProviderError) and error.retry_after is not None:
        return max(error.retry_after, SHORTEST)
    return back_off(attempt)


def may_cost(error: Exception) -> bool:
    """Whether the provider may have worked on a request that ended so: unless it never came, or was turned away."""
    match error:
        case ProviderTimeoutError() | ProviderNetworkError() | BadReplyError():
            return error.sent
        case PerdureError():
            return False
        case _:
            return True


def back_off(attempt: int) -> timedelta:
    """The wait after attempt number ``attempt`` where nobody says how long: twice as long each time, with jitter."""
    most: timedelta = min(SHORTEST * 2 ** min(attempt, 16), LONGEST)
    return most * random.uniform(0.5, 1)


def _unexpected(error: Exception) -> Failure:
    """A fault of our own, told by its type and place. Its text is left out: nobody has vouched for it."""
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if frame.filename != _PASSED_THROUGH]
    ours = [frame for frame in frames if Path(frame.filename).is_relative_to(_PACKAGE)] or frames
    place = f" at {Path(ours[-1].filename).name}:{ours[-1].lineno}" if ours else ""
    return Failure(kind="internal", message=f"An unexpected {type(error).__name__}{place}. This is a fault of Perdure.")
