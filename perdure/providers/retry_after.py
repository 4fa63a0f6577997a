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

_DURATION = re.compile(r"(?:\d+(?:\.\d+)?(?:ms|[hms]))+")
_STEP = re.compile(r"(\d+(?:\.\d+)?)(ms|[hms])")
_UNITS = {"h": 3600.0, "m": 60.0, "s": 1.0, "ms": 0.001}


def retry_after(
    headers: Mapping[str, str], details: Iterable[JsonValue] = (), now: datetime | None = None
) -> timedelta | None:
    """The wait that an error reply asks for, between 0 and `LONGEST`; None when it asks for none that can be read.

    Read in this order: ``retry-after-ms``; ``retry-after`` as seconds, whole or fractional, or as an HTTP date;
    Google's RetryInfo among the ``details`` of the body (``"34.4s"``); when the limits that are used up begin anew, by
    ``x-ratelimit-*`` or ``anthropic-ratelimit-*``. Only for error replies: vendors send the headers on good ones too.
    """
    said = headers.get("retry-after", "").strip()
    for wait in (_number(headers.get("retry-after-ms", ""), 0.001), _number(said, 1.0), _until(said, now)):
        if wait is not None:
            return wait
    for detail in details:
        if (wait := _duration(a_text(an_object(detail).get("retryDelay")))) is not None:
            return wait
    return _renewal(headers, now)


def _renewal(headers: Mapping[str, str], now: datetime | None) -> timedelta | None:
    used_up = (name for name, left in headers.items() if "ratelimit" in name and left.strip() == "0")
    resets = [headers.get(name.replace("remaining", "reset"), "") for name in used_up if "remaining" in name]
    waits = [_duration(reset) or _number(reset, 1.0) or _until(reset, now) for reset in resets]
    return max((wait for wait in waits if wait is not None), default=None)


def _duration(text: str) -> timedelta | None:
    if not _DURATION.fullmatch(text):
        return None
    return _clamped(sum(float(number) * _UNITS[unit] for number, unit in _STEP.findall(text)))


def _number(text: str, unit: float) -> timedelta | None:
    try:
        number = float(text)
    except ValueError:
        return None
    return _clamped(number * unit) if math.isfinite(number) else None


def _until(text: str, now: datetime | None) -> timedelta | None:
    for read in (parsedate_to_datetime, datetime.fromisoformat):
        try:
            moment = read(text)
            break
        except (ValueError, TypeError, IndexError, OverflowError):
            continue
    else:
        return None
    moment = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    return _clamped((moment - (now or datetime.now(UTC))).total_seconds())


def _clamped(seconds: float) -> timedelta:
    return timedelta(seconds=min(max(seconds, 0.0), LONGEST.total_seconds()))
