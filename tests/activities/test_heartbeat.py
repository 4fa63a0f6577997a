from __future__ import annotations

import asyncio
import dataclasses
from collections.abc import AsyncIterator
from datetime import timedelta
from typing import Any

import pytest
from temporalio.testing import ActivityEnvironment

from perdure.activities.heartbeat import Heartbeat

OFTEN = timedelta(milliseconds=1)


class Beats:
    """The heartbeats of an activity, to be awaited one by one."""

    def __init__(self, *left_by_the_last_attempt: Any) -> None:
        self.environment = ActivityEnvironment()
        self.environment.info = dataclasses.replace(
            ActivityEnvironment.default_info(), heartbeat_details=list(left_by_the_last_attempt)
        )
        self.environment.on_heartbeat = lambda *details: self.arrived.put_nowait(details)
        self.arrived: asyncio.Queue[tuple[Any, ...]] = asyncio.Queue()

    async def until(self, *details: Any) -> None:
        while await self.arrived.get() != details:
            pass


async def test_it_beats_by_itself_until_it_is_left() -> None:
    beats = Beats()

    async def work() -> None:
        async with Heartbeat(OFTEN):
            for _ in range(3):
                assert await beats.arrived.get() == ()

    await beats.environment.run(work)
    while not beats.arrived.empty():
        beats.arrived.get_nowait()
    assert [task.get_name() for task in asyncio.all_tasks() if task.get_name().startswith("heartbeat")] == []


async def test_every_beat_sends_the_last_details_again() -> None:
    beats = Beats()

    async def work() -> None:
        async with Heartbeat(OFTEN) as heartbeat:
            heartbeat.report("one", 1)
            await beats.until("one", 1)
            assert [await beats.arrived.get() for _ in range(3)] == [("one", 1)] * 3
            heartbeat.report("two")
            await beats.until("two")
            assert [await beats.arrived.get() for _ in range(3)] == [("two",)] * 3

    await beats.environment.run(work)


async def test_it_beats_with_what_the_last_attempt_left_until_there_is_something_new() -> None:
    beats = Beats({"text": "so far"})

    async def work() -> None:
        async with Heartbeat(OFTEN):
            assert [await beats.arrived.get() for _ in range(3)] == [({"text": "so far"},)] * 3

    await beats.environment.run(work)


async def test_details_are_sent_at_once_and_not_at_the_next_beat() -> None:
    beats = Beats()

    async def work() -> None:
        async with Heartbeat(timedelta(hours=1)) as heartbeat:
            heartbeat.report("now")
            assert beats.arrived.get_nowait() == ("now",)

    await beats.environment.run(work)


async def test_an_error_inside_ends_the_beating_and_goes_on() -> None:
    async def stream() -> AsyncIterator[int]:
        yield 1
        raise ValueError("broken")

    async def work() -> None:
        async with Heartbeat(OFTEN):
            async for _ in stream():
                pass

    with pytest.raises(ValueError, match="broken"):
        await ActivityEnvironment().run(work)
    assert [task for task in asyncio.all_tasks() if task.get_name().startswith("heartbeat")] == []
