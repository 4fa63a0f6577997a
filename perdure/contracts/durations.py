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


Duration = Annotated[timedelta, BeforeValidator(read_duration), Field(gt=timedelta(0))]
"""A duration above zero, as people write it."""
