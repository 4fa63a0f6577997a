"""The order of the list, on a real server: it lists by the end of runs, people look for their start."""

from __future__ import annotations

import asyncio

import pytest
from temporalio.client import Client

from perdure.client.listing import list_runs
from perdure.contracts.errors import InvalidInputError
from perdure.contracts.names import AGENT_RUN
from tests.servers import DEADLINE, unique


async def test_a_list_of_no_run_is_refused(temporal_client: Client) -> None:
    for limit in (0, -1):
        with pytest.raises(InvalidInputError, match="A list has 1 run at least"):
            await list_runs(temporal_client, "", limit)


async def test_runs_are_listed_by_their_start_whether_open_or_closed(temporal_client: Client, task_queue: str) -> None:
    ids = [unique("listed") for _ in range(5)]
    for run_id in ids:
        await temporal_client.start_workflow(AGENT_RUN, id=run_id, task_queue=task_queue)
    for closed in (ids[4], ids[2], ids[1]):
        await temporal_client.get_workflow_handle(closed).terminate()
    query = f"TaskQueue = '{task_queue}'"

    async def found(limit: int) -> list[str]:
        return [run.run_id for run in await list_runs(temporal_client, query, limit)]

    async with asyncio.timeout(DEADLINE):
        while await closed_in(temporal_client, query) < 3:  # noqa: ASYNC110 - the list lags behind, and tells nobody
            await asyncio.sleep(0.02)
    assert await found(10) == ids[::-1]
    assert await found(2) == [ids[4], ids[3]]
    assert await found(1) == [ids[4]]
    for left in (ids[0], ids[3]):
        await temporal_client.get_workflow_handle(left).terminate()


async def closed_in(client: Client, query: str) -> int:
    return (await client.count_workflows(f"{query} AND ExecutionStatus = 'Terminated'")).count
