from __future__ import annotations

import asyncio
import contextvars
import threading

import pytest

from perdure.activities.threads import in_thread

NUMBER: contextvars.ContextVar[int] = contextvars.ContextVar("NUMBER", default=0)


async def test_the_result_comes_from_another_thread_that_knows_the_callers_context() -> None:
    NUMBER.set(7)

    name, number = await in_thread(lambda: (threading.current_thread().name, NUMBER.get()), name="of the test")

    assert (name, number) == ("of the test", 7)


@pytest.mark.parametrize("error", [ValueError("no"), StopIteration(), SystemExit(2)])
async def test_what_the_function_raises_is_raised_where_it_is_awaited(error: BaseException) -> None:
    def fail() -> None:
        raise error

    with pytest.raises((type(error), RuntimeError)):
        await in_thread(fail, name="failing")


async def test_more_functions_can_block_than_an_executor_has_threads() -> None:
    meeting = threading.Barrier(40)

    assert len(await asyncio.gather(*(in_thread(meeting.wait, name=f"{n}") for n in range(40)))) == 40


async def test_a_function_that_never_ends_does_not_hold_its_caller() -> None:
    started, end = asyncio.Event(), threading.Event()
    loop = asyncio.get_running_loop()

    def block() -> None:
        loop.call_soon_threadsafe(started.set)
        end.wait()

    task = asyncio.create_task(in_thread(block, name="blocked"))
    await started.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task

    (thread,) = [thread for thread in threading.enumerate() if thread.name == "blocked"]
    assert thread.daemon
    end.set()
    thread.join()
