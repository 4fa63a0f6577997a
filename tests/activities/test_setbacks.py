from __future__ import annotations

from datetime import timedelta

import pytest

from perdure.activities.setbacks import LONGEST, SHORTEST, back_off, failure_of, setback
from perdure.contracts.errors import AuthenticationError, OverloadedError, RateLimitedError


def test_an_error_of_ours_comes_to_its_own_failure_and_a_wait_while_waiting_helps() -> None:
    busy, barred = OverloadedError("acme", "busy"), AuthenticationError("acme", "bad key")
    assert setback(busy, attempt=1).failure == busy.failure()
    assert setback(busy, attempt=1).wait is not None
    assert (setback(barred, attempt=1).failure, setback(barred, attempt=1).wait) == (barred.failure(), None)


@pytest.mark.parametrize(("said", "waited"), [(timedelta(seconds=77), 77), (timedelta(0), 0.5), (timedelta(-1), 0.5)])
def test_the_provider_says_when_to_come_back_but_not_at_once(said: timedelta, waited: float) -> None:
    wait = setback(RateLimitedError("acme", "slow down", retry_after=said), attempt=9).wait
    assert wait == timedelta(seconds=waited)


@pytest.mark.parametrize("attempt", [0, 1, 5, 6, 60, 1_000_000])
def test_the_back_off_doubles_with_jitter_up_to_its_bound(attempt: int) -> None:
    most = min(SHORTEST * 2 ** min(attempt, 20), LONGEST)
    waits = {back_off(attempt) for _ in range(20)}
    assert all(most / 2 <= wait <= most for wait in waits)
    assert len(waits) > 1


def test_an_error_that_nobody_foresaw_is_told_by_type_and_place_alone() -> None:
    try:
        timedelta(seconds="sk-secret")  # type: ignore[arg-type]  # what fails here is the test's subject
    except TypeError as error:
        failure = failure_of(error)
    assert failure.kind == "internal"
    assert not failure.retryable
    assert "TypeError at test_setbacks.py:" in failure.message
    assert "sk-secret" not in failure.message
