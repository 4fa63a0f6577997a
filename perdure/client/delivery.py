"""Telling a run something, whether or not a worker serves it at the moment.

An update answers with a receipt, but only a worker can answer it: without one it hangs, and is lost when the server
restarts. Its signal twin is kept in the history at once. So an order goes as an update while somebody serves the run,
and as a signal otherwise. An order that went both ways does no harm: a run takes each only once.

A signal is answered by nobody. So what the run will say is read from its history, with the signals that wait there
already: of two decisions that contradict each other the second is refused, whether or not a worker has taken in the
first.
"""

from __future__ import annotations

import uuid
from datetime import timedelta

from temporalio.client import Client as TemporalClient
from temporalio.client import (
    WorkflowExecutionStatus,
    WorkflowHandle,
    WorkflowUpdateFailedError,
    WorkflowUpdateRPCTimeoutOrCancelledError,
)
from temporalio.service import RPCError, RPCStatusCode

from perdure.brain.receipt import receipt_for
from perdure.brain.refuse import refusal
from perdure.client.feed import read_history
from perdure.client.kinds import check_is_run
from perdure.client.serving import UNANSWERED, served
from perdure.contracts.brief import brief
from perdure.contracts.errors import OrderRefusedError
from perdure.contracts.requests import Order, Receipt

ANSWER_WITHIN = timedelta(seconds=5)
"""How long an update waits for the run's worker before the order goes as a signal."""

LOOKED_UP_WITHIN = timedelta(seconds=1)
"""How long the server may take to tell what became of an update."""

KEPT = "No worker serves the run now: it is recorded, and applied when one comes."


async def deliver(temporal: TemporalClient, workflow_id: str, order: Order, *, to_run: bool = True) -> Receipt:
    """Tell the run, or the book of grants, ``order``. The receipt's ``reason`` says so when nobody could take it yet.

    Raises InvalidInputError for a workflow that is no run, OrderRefusedError, and what `perdure.client.rpc.rpc_errors`
    translates: a refused update, an unknown run, a lost connection.
    """
    if order.kind == "send" and not order.client_key:
        order = order.model_copy(update={"client_key": uuid.uuid4().hex})
    handle = temporal.get_workflow_handle(workflow_id)
    described = await handle.describe()
    if to_run:
        check_is_run(workflow_id, described.workflow_type)
    if described.status != WorkflowExecutionStatus.RUNNING:
        raise _ended(workflow_id)
    update_id = uuid.uuid4().hex
    if await served(temporal, described.task_queue):
        try:
            receipt: Receipt = await handle.execute_update(
                order.kind, brief(order), id=update_id, result_type=Receipt, rpc_timeout=ANSWER_WITHIN
            )
            return receipt
        except WorkflowUpdateRPCTimeoutOrCancelledError:
            pass  # The worker polled a moment ago and is gone now.
        except RPCError as error:
            if error.status is RPCStatusCode.NOT_FOUND:
                raise _ended(workflow_id) from None
            if error.status not in UNANSWERED:
                raise
    state = await (await read_history(temporal, workflow_id)).foreseen() if to_run else None
    refused = refusal(state, order) if state else ""
    if refused:
        # The update may have been what settled it, after we gave it up.
        late = await _receipt_of(handle, update_id)
        if late is not None:
            return late
        raise OrderRefusedError(refused)
    await handle.signal(order.kind, brief(order))
    return Receipt(accepted=True, ids=receipt_for(state, order).ids if state else (), reason=KEPT)


async def _receipt_of(handle: WorkflowHandle[object, object], update_id: str) -> Receipt | None:
    try:
        receipt: Receipt = await handle.get_update_handle(update_id, result_type=Receipt).result(
            rpc_timeout=LOOKED_UP_WITHIN
        )
    except (RPCError, WorkflowUpdateFailedError, WorkflowUpdateRPCTimeoutOrCancelledError):
        return None
    return receipt


def _ended(run_id: str) -> OrderRefusedError:
    return OrderRefusedError(f"Run {run_id} has ended: nothing can be told to it any more.")
