"""Running a blocking function beside the event loop.

The trap: asyncio's own executor joins its threads at exit and has a few of them only, so one function that never ends
blocks the worker's exit, and a few block every other one. Here each has a daemon thread that can be left behind.
"""

from __future__ import annotations

import asyncio
import contextlib
import contextvars
import threading
from collections.abc import Callable
from typing import NoReturn, TypeVar

T = TypeVar("T")


async def in_thread(function: Callable[[], T], *, name: str) -> T:
    """The result of ``function``, called in a thread of its own with the caller's context variables.

    Cancelling stops the waiting, not the function: nothing can stop a thread.
    """
    loop = asyncio.get_running_loop()
    ended: asyncio.Future[Callable[[], T]] = loop.create_future()

    def settle(outcome: Callable[[], T]) -> None:
        if not ended.done():
            ended.set_result(outcome)

    def work() -> None:
        try:
            outcome = _returns(function())
        except BaseException as error:  # noqa: BLE001 - raised again where the caller waits
            outcome = _raises(error)
        # Whoever waited may be gone, and the loop with them.
        with contextlib.suppress(RuntimeError):
            loop.call_soon_threadsafe(settle, outcome)

    threading.Thread(target=contextvars.copy_context().run, args=(work,), name=name, daemon=True).start()
    return (await ended)()


def _returns(value: T) -> Callable[[], T]:
    return lambda: value


def _raises(error: BaseException) -> Callable[[], NoReturn]:
    def outcome() -> NoReturn:
        raise error

    return outcome
