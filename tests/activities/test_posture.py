from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from datetime import timedelta

import pytest
from temporalio.exceptions import ApplicationError
from temporalio.testing import ActivityEnvironment

from perdure.activities.posture import application_error, posture
from perdure.contracts import errors
from perdure.contracts.digests import digest_of
from perdure.contracts.errors import (
    AuthenticationError,
    OverloadedError,
    PerdureError,
    ProviderError,
    RateLimitedError,
    UnknownModelError,
)
from perdure.contracts.failures import Failure

PROVIDER_ERRORS = [kind for kind in vars(errors).values() if isinstance(kind, type) and issubclass(kind, ProviderError)]


def raises(error: BaseException) -> Callable[[], Awaitable[None]]:
    async def activity() -> None:
        with posture():
            raise error

    return activity


@pytest.mark.parametrize("kind", PROVIDER_ERRORS)
def test_every_provider_error_tells_its_kind_its_failure_and_whether_to_try_again(kind: type[ProviderError]) -> None:
    error = kind("acme", "it went wrong", status=503, code="busy", request_id="q1")
    told = application_error(error, attempt=1)
    assert told.type == error.kind
    assert told.non_retryable is not error.retryable
    (failure,) = told.details
    assert failure == error.failure()
    assert (failure.status, failure.code, failure.provider_request_id) == (503, "busy", "q1")
    assert (told.next_retry_delay is not None) is error.retryable


def test_the_provider_says_when_to_come_back() -> None:
    error = RateLimitedError("acme", "slow down", retry_after=timedelta(seconds=77))
    assert application_error(error, attempt=1).next_retry_delay == timedelta(seconds=77)


def test_what_nobody_can_mend_by_waiting_is_not_tried_again() -> None:
    for error in (AuthenticationError("acme", "bad key"), UnknownModelError("no such model")):
        told = application_error(error, attempt=1)
        assert told.non_retryable
        assert told.next_retry_delay is None


async def test_an_error_leaves_without_its_cause() -> None:
    error = OverloadedError("acme", "busy")
    error.__cause__ = ValueError("Illegal header value b'Bearer sk-secret'")
    with pytest.raises(ApplicationError) as caught:
        await ActivityEnvironment().run(raises(error))
    assert caught.value.__cause__ is None
    assert caught.value.__suppress_context__
    assert caught.value.type == "overloaded"


async def test_an_unexpected_error_is_told_by_its_type_and_place_and_not_by_its_text() -> None:
    with pytest.raises(ApplicationError) as caught:
        await ActivityEnvironment().run(raises(KeyError("sk-secret")))
    assert caught.value.non_retryable
    assert "sk-secret" not in str(caught.value)
    assert "KeyError at test_posture.py:" in str(caught.value)
    (failure,) = caught.value.details
    assert isinstance(failure, Failure)
    assert (failure.kind, failure.attribution) == ("internal", "perdure")


async def test_an_unexpected_error_in_foreign_code_is_told_by_the_place_of_ours_that_called_it() -> None:
    async def activity() -> None:
        with posture():
            digest_of(object())

    with pytest.raises(ApplicationError, match=r"An unexpected TypeError at digests\.py:\d+\."):
        await ActivityEnvironment().run(activity)


async def test_an_application_error_passes_as_it_is() -> None:
    error = ApplicationError("mine", type="mine")
    with pytest.raises(ApplicationError) as caught:
        await ActivityEnvironment().run(raises(error))
    assert caught.value is error


async def test_a_cancellation_passes_as_it_is() -> None:
    with pytest.raises(asyncio.CancelledError):
        await ActivityEnvironment().run(raises(asyncio.CancelledError()))


def test_an_endless_message_is_cut() -> None:
    class EndlessError(PerdureError):
        pass

    assert len(application_error(EndlessError("x" * 1_000_000), attempt=1).message) <= 2_000
