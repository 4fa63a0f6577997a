"""Durations as people write them: ``250ms``, ``30s``, ``5m``, ``2h`` or ``30d``."""

from __future__ import annotations

import re
from datetime import timedelta
from typing import Annotated, Any

from pydantic import BeforeValidator, Field

UNITS = {
    "ms": timedelta(milliseconds=1),
    "s": timedelta(seconds=1),
    "m": timedelta(minutes=1),
    "h": timedelta(hours=1),
    "d": timedelta(days=1),
}
LONGEST = timedelta(days=36_500)
"""A longer time is a slip, and added to a date it may be none any more."""

DURATION = re.compile(r"(\d+(?:\.\d+)?)\s*(ms|s|m|h|d)")


def read_duration(value: Any) -> Any:
    """``250ms``, ``30s``, ``5m``, ``24h`` or ``30d`` as a timedelta; anything else is left to pydantic.

    Raises ValueError for true and false, which would be 1 s and 0 s.
    """
    if isinstance(value, bool):
        raise ValueError("no duration")
    match = DURATION.fullmatch(value.strip()) if isinstance(value, str) else None
    try:
        return float(match[1]) * UNITS[match[2]] if match else value
    except OverflowError:
        # Longer than a timedelta holds: no duration at all.
        return value


Span = Annotated[timedelta, Field(gt=timedelta(0), le=LONGEST)]
"""A time above zero, and not beyond `LONGEST`."""

Duration = Annotated[Span, BeforeValidator(read_duration)]
"""A `Span` as people write it."""
