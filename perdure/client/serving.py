"""Whether a worker serves a run: whether one asked its task queue for work of late, and whether one answers."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from temporalio.api.enums.v1 import TaskQueueType
from temporalio.api.taskqueue.v1 import TaskQueue
from temporalio.api.workflowservice.v1 import DescribeTaskQueueRequest
from temporalio.client import (
    Client,
    WorkflowExecutionStatus,
    WorkflowQueryFailedError,
    WorkflowQueryRejectedError,
)
from temporalio.service import RPCError, RPCStatusCode

from perdure.contracts.names import SUMMARY

SEEN_WITHIN = timedelta(seconds=75)
"""How long ago a worker that still lives polled at the latest: a poll lasts 60 s."""

ANSWERS_WITHIN = timedelta(seconds=2)
"""How long a worker may take to answer for a run before it is said that none does."""

UNANSWERED = {RPCStatusCode.DEADLINE_EXCEEDED, RPCStatusCode.CANCELLED, RPCStatusCode.FAILED_PRECONDITION}
"""How the server says that no worker answered."""


async def served(temporal: Client, task_queue: str) -> bool:
    """Whether a worker asked the queue for work of late: one that was killed a moment ago counts still."""
    answer = await temporal.workflow_service.describe_task_queue(
        DescribeTaskQueueRequest(
            namespace=temporal.namespace,
            task_queue=TaskQueue(name=task_queue),
            task_queue_type=TaskQueueType.TASK_QUEUE_TYPE_WORKFLOW,
        )
    )
    since = datetime.now(UTC) - SEEN_WITHIN
    return any(poller.last_access_time.ToDatetime(tzinfo=UTC) > since for poller in answer.pollers)


async def lacks_worker(temporal: Client, run_id: str) -> bool:
    """Whether the run is not over and no worker answers for it now. Takes `ANSWERS_WITHIN` at most, beside the server.

    Raises what `perdure.client.rpc.rpc_errors` translates.
    """
    handle = temporal.get_workflow_handle(run_id)
    described = await handle.describe()
    if described.status != WorkflowExecutionStatus.RUNNING:
        return False
    if not await served(temporal, described.task_queue):
        return True
    try:
        await handle.query(SUMMARY, rpc_timeout=ANSWERS_WITHIN)
    except (WorkflowQueryFailedError, WorkflowQueryRejectedError):
        return False
    except RPCError as error:
        if error.status not in UNANSWERED:
            raise
        return True
    return False
