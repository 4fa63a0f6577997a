from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from datetime import timedelta

import pytest

from perdure.activities.callbacks import MAX_HANGING, Callbacks

SHORT = timedelta(milliseconds=20)
LONG = timedelta(seconds=30)
ERRORS = (
    RuntimeError("sk-canary"),
    SystemExit(3),
    KeyboardInterrupt(),
    asyncio.CancelledError(),
    TimeoutError(),
    StopIteration(),
)


class Hanging:
    """A function that hangs until it is released. Each release is seen by all calls that hang."""

    def __init__(self) -> None:
        self.called = 0
        self.released = threading.Event()

    def __call__(self) -> str:
        self.called += 1
        self.released.wait(30)
        return "back"


async def test_what_a_function_returns_comes_back_from_a_thread_that_is_named_after_it() -> None:
    assert await Callbacks(LONG).call("hook h", lambda: threading.current_thread().name) == ("hook h", "")


@pytest.mark.parametrize("error", ERRORS)
async def test_a_function_that_raises_is_told_by_kind_and_place_alone(error: BaseException) -> None:
    def fail() -> None:
        raise error

    returned, why = await Callbacks(LONG).call("h", fail)
    assert returned is None
    assert why == f"it raised {type(error).__name__} at test_callbacks.py:{fail.__code__.co_firstlineno + 1}"


async def test_as_many_calls_as_there_are_run_at_once() -> None:
    many = MAX_HANGING * 3
    together = threading.Barrier(many, timeout=30)
    callbacks = Callbacks(LONG)
    answers = await asyncio.gather(*(callbacks.call("h", lambda: together.wait() >= 0) for _ in range(many)))
    assert answers == [(True, "")] * many


async def test_a_function_that_hangs_too_often_is_not_called_until_it_comes_back() -> None:
    hanging, callbacks = Hanging(), Callbacks(SHORT)
    try:
        whys = [(await callbacks.call("h", hanging))[1] for _ in range(MAX_HANGING + 1)]
        assert whys == ["it took longer than 0.02 s"] * MAX_HANGING + ["earlier calls of it still hang"]
        assert hanging.called == MAX_HANGING
        assert await callbacks.call("other", lambda: "fine") == ("fine", "")
    finally:
        hanging.released.set()
    assert await called_again(callbacks, lambda: "fine") == "fine"


async def test_a_call_that_nobody_waits_for_any_more_hangs_as_well() -> None:
    hanging, callbacks = Hanging(), Callbacks(LONG)
    try:
        for _ in range(MAX_HANGING):
            with pytest.raises(TimeoutError):
                await asyncio.wait_for(callbacks.call("h", hanging), 0.02)
        assert await callbacks.call("h", hanging) == (None, "earlier calls of it still hang")
    finally:
        hanging.released.set()
    assert await called_again(callbacks, lambda: "fine") == "fine"


async def called_again(callbacks: Callbacks, function: Callable[[], str]) -> str | None:
    """What the function returns once calls that hung have come back."""
    async with asyncio.timeout(30):
        while (answer := await callbacks.call("h", function))[1]:
            assert answer[1] == "earlier calls of it still hang"
            await asyncio.sleep(0)
    return answer[0]
