from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from pydantic import JsonValue

from perdure.providers.retry_after import LONGEST, retry_after

NOW = datetime(2026, 5, 14, 12, 0, 0, tzinfo=UTC)


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"retry-after": "7"}, 7.0),
        ({"retry-after": " 1.5 "}, 1.5),
        ({"retry-after": "0"}, 0.0),
        ({"retry-after": "-3"}, 0.0),
        ({"retry-after": "Thu, 14 May 2026 12:00:30 GMT"}, 30.0),
        ({"retry-after": "Thu, 14 May 2026 14:00:30 +0200"}, 30.0),
        ({"retry-after": "Thu, 14 May 2026 11:00:00 GMT"}, 0.0),
        ({"retry-after-ms": "250", "retry-after": "9"}, 0.25),
        ({"retry-after-ms": "soon", "retry-after": "9"}, 9.0),
        ({"retry-after": "99999999"}, LONGEST.total_seconds()),
    ],
)
def test_each_form_of_the_header_is_read(headers: dict[str, str], seconds: float) -> None:
    assert retry_after(headers, now=NOW) == timedelta(seconds=seconds)


@pytest.mark.parametrize("said", ["", "soon", "nan", "inf", "Thu, 99 May", "12:00"])
def test_what_cannot_be_read_asks_for_nothing(said: str) -> None:
    assert retry_after({"retry-after": said}, now=NOW) is None


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"x-ratelimit-remaining-requests": "0", "x-ratelimit-reset-requests": "20m52.666s"}, 1252.666),
        ({"x-ratelimit-remaining-tokens": "0", "x-ratelimit-reset-tokens": "12ms"}, 0.012),
        ({"x-ratelimit-remaining-tokens": "0", "x-ratelimit-reset-tokens": "59"}, 59.0),
        (
            {
                "anthropic-ratelimit-requests-remaining": "0",
                "anthropic-ratelimit-requests-reset": "2026-05-14T12:00:07Z",
                "anthropic-ratelimit-tokens-remaining": "0",
                "anthropic-ratelimit-tokens-reset": "2026-05-14T12:01:00Z",
            },
            60.0,
        ),
        ({"x-ratelimit-remaining-tokens": "0", "x-ratelimit-reset-tokens": "59", "retry-after": "3"}, 3.0),
    ],
)
def test_without_another_word_a_limit_that_is_used_up_is_waited_for(headers: dict[str, str], seconds: float) -> None:
    assert retry_after(headers, now=NOW) == timedelta(seconds=seconds)


def test_a_limit_that_has_something_left_or_does_not_say_when_it_resets_asks_for_nothing() -> None:
    assert retry_after({"x-ratelimit-remaining-tokens": "7", "x-ratelimit-reset-tokens": "59s"}) is None
    assert retry_after({"x-ratelimit-remaining-tokens": "0"}) is None
    assert retry_after({"x-ratelimit-limit-tokens": "0"}) is None


def test_googles_retry_info_stands_in_the_body() -> None:
    details: list[JsonValue] = [
        {"@type": "type.googleapis.com/google.rpc.Help"},
        {"@type": "x.RetryInfo", "retryDelay": "34.4s"},
    ]
    assert retry_after({}, details) == timedelta(seconds=34.4)
    assert retry_after({}, [{"retryDelay": 5}, "x", None]) is None
