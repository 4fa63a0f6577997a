from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator
from datetime import timedelta
from pathlib import Path

import pytest
from temporalio import activity
from temporalio.activity import ActivityCancellationDetails
from temporalio.client import ActivityFailureError, Client
from temporalio.common import RetryPolicy
from temporalio.exceptions import CancelledError
from temporalio.testing import ActivityEnvironment
from temporalio.worker import Worker

from perdure.activities.builtin import builtin_tools
from perdure.activities.functions import tool_from
from perdure.activities.toolbox import Toolbox
from perdure.activities.tools import tool_activities
from perdure.contracts.tools import CallContext, ToolOutput
from tests.activities.calling import context


async def test_every_tool_is_an_activity_under_its_own_name_but_those_for_people() -> None:
    names = [activity._Definition.must_from_callable(each).name for each in tool_activities(Toolbox(builtin_tools()))]

    assert names == ["read_file", "write_file", "list_dir", "execute_command", "fetch_url"]


async def test_an_activity_takes_arguments_and_context_and_gives_an_output() -> None:
    def greet(name: str, about: CallContext) -> str:
        return f"{name} from {about.agent} ({about.idempotency_key})"

    (served,) = tool_activities(Toolbox([tool_from(greet)]))

    assert await ActivityEnvironment().run(served, {"name": "Ada"}, context()) == ToolOutput(
        text="Ada from anna (run/t1s1c1)"
    )


async def test_a_blocking_tool_knows_the_activity_that_it_runs_in() -> None:
    def who() -> str:
        return activity.info().activity_id

    (served,) = tool_activities(Toolbox([tool_from(who)]))

    assert (await ActivityEnvironment().run(served, {}, context())).text == "test"


class Blocking:
    """An asynchronous tool that waits until it is cancelled, and tells when it began and how it ended."""

    def __init__(self) -> None:
        self.began = asyncio.Event()
        self.ended = ""

    async def wait(self) -> str:
        self.began.set()
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            self.ended = "cancelled"
            raise
        return "never"


@pytest.mark.parametrize(
    "why", [ActivityCancellationDetails(cancel_requested=True), ActivityCancellationDetails(worker_shutdown=True)]
)
async def test_a_stop_and_a_shutdown_cancel_the_tool_and_leave_no_result(why: ActivityCancellationDetails) -> None:
    blocking, environment = Blocking(), ActivityEnvironment()
    (served,) = tool_activities(Toolbox([tool_from(blocking.wait)]))
    running = asyncio.ensure_future(environment.run(served, {}, context()))
    await blocking.began.wait()

    environment.cancel(why)

    with pytest.raises(asyncio.CancelledError):
        await running
    assert blocking.ended == "cancelled"


async def test_a_stop_does_not_wait_for_a_blocking_tool() -> None:
    loop, began, end = asyncio.get_running_loop(), asyncio.Event(), threading.Event()

    def wait() -> None:
        loop.call_soon_threadsafe(began.set)
        end.wait()

    environment = ActivityEnvironment()
    (served,) = tool_activities(Toolbox([tool_from(wait)]))
    running = asyncio.ensure_future(environment.run(served, {}, context()))
    await began.wait()

    environment.cancel()

    with pytest.raises(asyncio.CancelledError):
        await running
    end.set()


async def test_a_tool_at_work_beats() -> None:
    beat, environment = asyncio.Event(), ActivityEnvironment()
    environment.on_heartbeat = lambda *_: beat.set()

    async def until_it_beats() -> str:
        await beat.wait()
        return "alive"

    (served,) = tool_activities(Toolbox([tool_from(until_it_beats)]))

    assert (await environment.run(served, {}, context())).text == "alive"


@pytest.fixture
async def blocking_worker(temporal_client: Client, task_queue: str) -> AsyncIterator[Blocking]:
    blocking = Blocking()
    async with Worker(
        temporal_client,
        task_queue=task_queue,
        activities=tool_activities(Toolbox([tool_from(blocking.wait), *builtin_tools()])),
        max_heartbeat_throttle_interval=timedelta(milliseconds=100),
    ):
        yield blocking


async def test_on_a_real_server_a_stop_reaches_a_tool_that_says_nothing(
    blocking_worker: Blocking, temporal_client: Client, task_queue: str
) -> None:
    handle = await temporal_client.start_activity(
        "wait",
        args=[{}, context()],
        id=task_queue,
        task_queue=task_queue,
        start_to_close_timeout=timedelta(minutes=5),
        heartbeat_timeout=timedelta(seconds=30),
    )
    await blocking_worker.began.wait()

    await handle.cancel()

    with pytest.raises(ActivityFailureError) as raised:
        await handle.result()
    assert isinstance(raised.value.cause, CancelledError)
    assert blocking_worker.ended == "cancelled"


async def test_on_a_real_server_a_worker_that_shuts_down_hands_its_call_over(
    temporal_client: Client, task_queue: str
) -> None:
    first = Blocking()

    async def wait() -> str:
        return "by the second worker"

    async with Worker(
        temporal_client, task_queue=task_queue, activities=tool_activities(Toolbox([tool_from(first.wait)]))
    ):
        handle = await temporal_client.start_activity(
            "wait",
            args=[{}, context()],
            id=task_queue,
            task_queue=task_queue,
            start_to_close_timeout=timedelta(minutes=5),
            heartbeat_timeout=timedelta(seconds=30),
            retry_policy=RetryPolicy(initial_interval=timedelta(milliseconds=1)),
            result_type=ToolOutput,
        )
        await first.began.wait()
    assert first.ended == "cancelled"

    async with Worker(temporal_client, task_queue=task_queue, activities=tool_activities(Toolbox([tool_from(wait)]))):
        assert (await handle.result()).text == "by the second worker"


async def test_on_a_real_server_any_client_can_run_a_tool_with_plain_json(
    blocking_worker: Blocking, temporal_client: Client, task_queue: str, tmp_path: Path
) -> None:
    output = await temporal_client.execute_activity(
        "write_file",
        args=[{"path": "a.txt", "content": "hej"}, context(tmp_path).model_dump()],
        id=task_queue,
        task_queue=task_queue,
        start_to_close_timeout=timedelta(minutes=5),
        result_type=ToolOutput,
    )

    assert output.text == "Wrote 3 bytes to a.txt (new file)."
    assert (tmp_path / "a.txt").read_text() == "hej"
