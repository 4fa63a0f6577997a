from __future__ import annotations

from temporalio.client import Client

from perdure.client.serving import lacks_worker
from perdure.contracts.names import AGENT_RUN
from tests.servers import unique


async def test_a_run_whose_task_queue_nobody_asks_lacks_a_worker(temporal_client: Client) -> None:
    run_id = unique("run")
    await temporal_client.start_workflow(AGENT_RUN, "Hello", id=run_id, task_queue=unique("queue"))

    assert await lacks_worker(temporal_client, run_id)


async def test_a_run_that_is_over_lacks_no_worker(temporal_client: Client) -> None:
    run_id = unique("run")
    handle = await temporal_client.start_workflow(AGENT_RUN, "Hello", id=run_id, task_queue=unique("queue"))
    await handle.terminate()

    assert not await lacks_worker(temporal_client, run_id)
