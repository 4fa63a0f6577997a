"""Telling a run something, whether or not a worker serves it at the moment.

An update answers with a receipt, but only a worker can answer it: without one it hangs, and is lost when the server
restarts. Its signal twin is kept in the history at once. So an order goes as an update while somebody serves the run,
and as a signal otherwise. An order that went both ways does no harm: a run takes each only once.
"""

from __future__ import annotations

import uuid
from datetime import UTC, datetime, timedelta

from temporalio.api.enums.v1 import TaskQueueType
from temporalio.api.taskqueue.v1 import TaskQueue
from temporalio.api.workflowservice.v1 import DescribeTaskQueueRequest
from temporalio.client import Client as TemporalClient
from temporalio.client import WorkflowExecutionStatus, WorkflowUpdateRPCTimeoutOrCancelledError
from temporalio.service import RPCError, RPCStatusCode

from perdure.contracts.brief import brief
from perdure.contracts.errors import OrderRefusedError
from perdure.contracts.requests import Order, Receipt

ANSWER_WITHIN = timedelta(seconds=5)
"""How long an update waits for the run's worker before the order goes as a signal."""

SEEN_WITHIN = timedelta(seconds=75)
"""How long ago a worker that still lives polled at the latest: a poll lasts 60 s."""

KEPT = "No worker serves the run now: it is recorded, and applied when one comes."
_UNANSWERED = {RPCStatusCode.DEADLINE_EXCEEDED, RPCStatusCode.CANCELLED, RPCStatusCode.FAILED_PRECONDITION}


async def deliver(temporal: TemporalClient, run_id: str, order: Order) -> Receipt:
    """Tell the run ``order``. The receipt's ``reason`` says so when nobody could take it yet.

    Raises what `perdure.client.rpc.rpc_errors` translates: a refused update, an unknown run, a lost connection.
    """
    if order.kind == "send" and not order.client_key:
        order = order.model_copy(update={"client_key": uuid.uuid4().hex})
    handle = temporal.get_workflow_handle(run_id)
    described = await handle.describe()
    if described.status != WorkflowExecutionStatus.RUNNING:
        raise _ended(run_id)
    if await _served(temporal, described.task_queue):
        try:
            receipt: Receipt = await handle.execute_update(
                order.kind, brief(order), result_type=Receipt, rpc_timeout=ANSWER_WITHIN
            )
            return receipt
        except WorkflowUpdateRPCTimeoutOrCancelledError:
            pass  # The worker polled a moment ago and is gone now.
        except RPCError as error:
            if error.status is RPCStatusCode.NOT_FOUND:
                raise _ended(run_id) from None
            if error.status not in _UNANSWERED:
                raise
    await handle.signal(order.kind, brief(order))
    return Receipt(accepted=True, reason=KEPT)


def _ended(run_id: str) -> OrderRefusedError:
    return OrderRefusedError(f"Run {run_id} has ended: nothing can be told to it any more.")


async def _served(temporal: TemporalClient, task_queue: str) -> bool:
    answer = await temporal.workflow_service.describe_task_queue(
        DescribeTaskQueueRequest(
            namespace=temporal.namespace,
            task_queue=TaskQueue(name=task_queue),
            task_queue_type=TaskQueueType.TASK_QUEUE_TYPE_WORKFLOW,
        )
    )
    since = datetime.now(UTC) - SEEN_WITHIN
    return any(poller.last_access_time.ToDatetime(tzinfo=UTC) > since for poller in answer.pollers)
