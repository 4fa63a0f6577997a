from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest

from perdure.activities.declaration import tool
from perdure.activities.results import MOST_BYTES
from perdure.contracts.errors import ToolError
from tests.activities.calling import called

SHORT = timedelta(milliseconds=50)


async def test_a_blocking_tool_runs_beside_the_event_loop() -> None:
    def where() -> str:
        return threading.current_thread().name

    assert (await called(where)).text == "where t1s1c1"


async def test_arguments_that_do_not_fit_are_answered_and_nothing_runs() -> None:
    ran: list[int] = []

    def add(a: int) -> None:
        ran.append(a)

    output = await called(add, a="many")

    assert (output.status, ran) == ("error", [])
    assert output.text.startswith("The arguments do not fit add: a: ")


def raising(error: BaseException) -> tuple[Callable[[], None], Callable[[], Any]]:
    def sync_tool() -> None:
        raise error

    async def async_tool() -> None:
        raise error

    return sync_tool, async_tool


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (ToolError("There is no such row."), "There is no such row."),
        (ValueError("no number"), "failed: ValueError: no number"),
        (TimeoutError(), "failed: TimeoutError"),
        (StopIteration("end"), "StopIteration"),
        (SystemExit(1), "failed: SystemExit: 1"),
        (KeyboardInterrupt(), "failed: KeyboardInterrupt"),
        (GeneratorExit(), "failed: GeneratorExit"),
        (asyncio.CancelledError(), "something that it waited for was cancelled"),
        (ExceptionGroup("two", [ValueError(), KeyError()]), "failed: ExceptionGroup: two (2 sub-exceptions)"),
    ],
)
async def test_whatever_a_tool_raises_is_an_error_output_without_a_traceback(error: BaseException, said: str) -> None:
    for function in raising(error):
        output = await called(function)

        assert output.status == "error"
        assert said in output.text
        assert "Traceback" not in output.text
        assert "\n" not in output.text


async def test_a_long_result_is_cut() -> None:
    output = await called(dump)

    assert len(output.text.encode()) <= MOST_BYTES
    assert output.text.endswith("see more.]")


def dump() -> str:
    return "x" * (MOST_BYTES + 1)


async def test_a_result_without_a_json_form_is_an_error() -> None:
    def handle() -> Any:
        return object()

    assert (await called(handle)).status == "error"


async def test_a_blocking_function_that_returns_an_awaitable_is_awaited() -> None:
    async def later() -> int:
        return 3

    def now() -> Any:
        return later()

    assert (await called(now)).data == 3


async def test_an_asynchronous_tool_is_cancelled_at_its_deadline() -> None:
    tidied: list[str] = []

    @tool(deadline=SHORT)
    async def wait() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            tidied.append("tidied")

    output = await called(wait)

    assert output.text == "wait did not end within its deadline of 0.05 s and was stopped."
    assert (output.status, tidied) == ("error", ["tidied"])


async def test_a_blocking_tool_is_left_behind_at_its_deadline_and_the_text_says_so() -> None:
    end = threading.Event()

    @tool(deadline=SHORT)
    def wait() -> None:
        end.wait()

    output = await called(wait)
    end.set()

    assert output.text == (
        "wait did not end within its deadline of 0.05 s and could not be stopped and may still be at work."
    )
    assert output.status == "error"
