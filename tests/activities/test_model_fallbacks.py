"""Model calls that go on with another model."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import suppress

import pytest
from structlog.testing import capture_logs
from temporalio.exceptions import ApplicationError

from perdure.contracts.errors import OverloadedError, QuotaError
from perdure.contracts.prompts import ModelRequest
from perdure.contracts.usage import Usage
from perdure.providers.provider import Provider
from perdure.providers.scripted import Reply, Script, ScriptedFailure, ScriptedProvider
from perdure.providers.stream import FinishPiece, Piece, TextPiece
from tests.activities.models import Several, activities, answered
from tests.activities.runs import Run, said


async def test_the_fallback_is_asked_for_what_its_forerunner_could_not_answer_and_nothing_is_lost() -> None:
    run = Run((said(1),))
    failures = (ScriptedFailure(kind="overloaded", after=2), ScriptedFailure(kind="network", after=2))
    providers = Several(
        first=Script(replies=(Reply(text=("Half",), failures=failures),)),
        last=Script(replies=(Reply(text=("Whole",), failures=(ScriptedFailure(kind="timeout"),)),)),
    )
    call = run.call(model="scripted:first").model_copy(
        update={"fallbacks": ("scripted:keyless", "scripted:last"), "tries": 2}
    )
    message, left = await answered(activities(providers, run), call)
    assert (message.text, message.model, message.attempt) == ("Whole", "scripted:last", 5)
    assert message.usage == Usage(requests=4, input_tokens=30, output_tokens=15, incomplete=3)
    assert [(live.model, live.tries, len(live.given_up)) for live in left] == [
        ("scripted:first", 1, 0),
        ("scripted:first", 0, 1),
        ("scripted:keyless", 0, 2),
        ("scripted:last", 1, 2),
    ]
    assert [request.model for request in providers.providers["scripted:last"].requests] == ["scripted:last"] * 2


async def test_a_call_that_no_model_answers_is_final_and_says_why_of_each() -> None:
    run = Run((said(1),))
    providers = Several(first=Script(replies=(Reply(failures=(ScriptedFailure(kind="quota"),)),)))
    call = run.call(model="scripted:first").model_copy(update={"fallbacks": ("scripted:keyless",)})
    with pytest.raises(ApplicationError, match=r"No other model answered\. scripted:keyless: .*set SOME_KEY") as caught:
        await answered(activities(providers, run), call)
    assert (caught.value.type, caught.value.non_retryable) == ("quota", True)


class Flaky:
    """A model that fails with ``error`` while there is one, and counts how often it is asked."""

    def __init__(self, error: Exception | None) -> None:
        self.error = error
        self.asked = 0

    async def stream(self, request: ModelRequest, *, attempt: int = 1) -> AsyncGenerator[Piece, None]:
        self.asked += 1
        if self.error is not None:
            raise self.error
        yield TextPiece("Hello")
        yield FinishPiece("stop")


BUSY = OverloadedError("flaky", "busy")


class Calls:
    """Calls by one worker, each for the model ``flaky:1``."""

    def __init__(self) -> None:
        run = Run((said(1),))
        self._flaky, self._last = Flaky(None), ScriptedProvider(Script(replies=(Reply(text=("Hi",)),)))
        self._model = activities(self, run)
        self._call = run.call(model="flaky:1").model_copy(update={"fallbacks": ("scripted:last",), "tries": 3})

    def open(self, model: str) -> Provider:
        return self._flaky if model == "flaky:1" else self._last

    async def next(self, error: Exception | None, *, fallbacks: tuple[str, ...] = ("scripted:last",)) -> int:
        """How often the next call asks the model, which fails with ``error``."""
        self._flaky.error, self._flaky.asked = error, 0
        with suppress(ApplicationError):
            await answered(self._model, self._call.model_copy(update={"fallbacks": fallbacks}))
        return self._flaky.asked


async def test_a_model_that_is_down_is_asked_once_by_each_further_call_until_it_answers() -> None:
    calls = Calls()
    with capture_logs() as logs:
        assert [await calls.next(error) for error in (BUSY, BUSY, BUSY, None, BUSY)] == [3, 1, 1, 1, 3]
    assert [entry["model"] for entry in logs] == ["flaky:1"] * 2


async def test_a_model_that_is_down_gets_all_its_tries_where_no_other_is_left() -> None:
    calls = Calls()
    assert [await calls.next(BUSY), await calls.next(BUSY, fallbacks=())] == [3, 3]


async def test_a_model_that_cannot_serve_a_request_is_not_down() -> None:
    calls = Calls()
    assert [await calls.next(error) for error in (QuotaError("flaky", "no credit"), BUSY)] == [1, 3]
