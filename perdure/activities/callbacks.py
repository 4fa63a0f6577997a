"""Callbacks: functions of people's own that the worker calls, each in a thread of its own and for a bounded time.

Nothing can stop a thread. So a call that outlives its time is left behind, and a function of which too many calls are
left behind is not called until one of them comes back. What an error says is not told: it may quote a key.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from traceback import extract_tb
from typing import TypeVar

from perdure.activities.threads import in_thread

MAX_HANGING = 4
"""Calls of one function that may be left behind before it is called no more."""

T = TypeVar("T")


class Callbacks:
    """Calls that are waited for no longer than ``timeout``. One object serves one event loop."""

    def __init__(self, timeout: timedelta) -> None:
        self._seconds = timeout.total_seconds()
        self._hanging: Counter[str] = Counter()

    async def call(self, name: str, function: Callable[[], T]) -> tuple[T | None, str]:
        """What ``function`` returned, or None and why it did not return. ``name`` says whose calls hang together."""
        if self._hanging[name] >= MAX_HANGING:
            return None, "earlier calls of it still hang"
        work = asyncio.create_task(in_thread(lambda: _outcome(function), name=name))
        try:
            ended, _ = await asyncio.wait([work], timeout=self._seconds)
        finally:
            if not work.done():
                self._hanging[name] += 1
                work.add_done_callback(lambda _: self._hanging.subtract([name]))
        return work.result() if ended else (None, f"it took longer than {self._seconds:g} s")


def _outcome(function: Callable[[], T]) -> tuple[T | None, str]:
    try:
        return function(), ""
    except BaseException as error:  # noqa: BLE001 - the function is somebody's: SystemExit must not reach the event loop
        last = extract_tb(error.__traceback__)[-1]
        return None, f"it raised {type(error).__name__} at {Path(last.filename).name}:{last.lineno}"
