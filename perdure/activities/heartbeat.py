"""Heartbeats in the background, so that a stop always arrives and a dead worker is noticed.

The trap: a stop reaches an activity with the answer to a heartbeat only, and a heartbeat without details erases those
that the server holds, which the next attempt and every watcher would read. So each beat sends the last details again,
and until there are new ones those that the previous attempt left.
"""

from __future__ import annotations

import asyncio
from datetime import timedelta
from types import TracebackType
from typing import Any, Self

from temporalio import activity

INTERVAL = timedelta(milliseconds=500)
"""How often the activity beats. The worker's throttle bounds how many of the beats reach the server."""


class Heartbeat:
    """Beats every ``interval`` from entering to leaving; to be entered inside an asynchronous activity.

    ::

        async with Heartbeat() as heartbeat:
            async for piece in stream:
                heartbeat.report(LiveText(...))
    """

    def __init__(self, interval: timedelta = INTERVAL) -> None:
        self._interval = interval.total_seconds()
        self._details: tuple[Any, ...] = ()
        self._task: asyncio.Task[None] | None = None

    def report(self, *details: Any) -> None:
        """Send ``details`` now, and with every beat from here on."""
        self._details = details
        activity.heartbeat(*details)

    async def __aenter__(self) -> Self:
        self._details = tuple(activity.info().heartbeat_details)
        self._task = asyncio.create_task(self._beat(), name=f"heartbeat of {activity.info().activity_type}")
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._task is not None:
            self._task.cancel()
            await asyncio.wait([self._task])

    async def _beat(self) -> None:
        while True:
            activity.heartbeat(*self._details)
            await asyncio.sleep(self._interval)
