"""When a provider says to come back, in each of the forms in use."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime

from pydantic import JsonValue

from perdure.providers.lenient import a_text, an_object

LONGEST = timedelta(hours=1)
"""A longer wait than this is cut: the answer to "come back tomorrow" is to look again in an hour."""

_SECONDS = re.compile(r"(\d+(?:\.\d+)?)s")


def retry_after(
    headers: Mapping[str, str], details: Iterable[JsonValue] = (), now: datetime | None = None
) -> timedelta | None:
    """The wait that an error reply asks for, between 0 and `LONGEST`; None when it asks for none that can be read.

    Read in this order: ``retry-after-ms``; ``retry-after`` as seconds, whole or fractional, or as an HTTP date;
    Google's RetryInfo among the ``details`` of the body (``"34.4s"``). Only for error replies: vendors send the header
    on good ones too.
    """
    said = headers.get("retry-after", "").strip()
    for wait in (_number(headers.get("retry-after-ms", ""), 0.001), _number(said, 1.0), _until(said, now)):
        if wait is not None:
            return wait
    for detail in details:
        match = _SECONDS.fullmatch(a_text(an_object(detail).get("retryDelay")))
        if match:
            return _clamped(float(match[1]))
    return None


def _number(text: str, unit: float) -> timedelta | None:
    try:
        number = float(text)
    except ValueError:
        return None
    return _clamped(number * unit) if math.isfinite(number) else None


def _until(text: str, now: datetime | None) -> timedelta | None:
    try:
        moment = parsedate_to_datetime(text)
    except (ValueError, TypeError, IndexError, OverflowError):
        return None
    moment = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    return _clamped((moment - (now or datetime.now(UTC))).total_seconds())


def _clamped(seconds: float) -> timedelta:
    return timedelta(seconds=min(max(seconds, 0.0), LONGEST.total_seconds()))
