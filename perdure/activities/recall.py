"""The local activity ``recall``: what a model call has written that waits for its next attempt.

A call that is stopped while it runs returns what it has. One that waits between two attempts is cancelled by the server
at once, and what it had written is in its last heartbeat only, which goes with the cancellation: so it is read before.
"""

from __future__ import annotations

from datetime import timedelta

from pydantic import ValidationError
from temporalio import activity
from temporalio.api.common.v1 import Payload
from temporalio.api.enums.v1 import PendingActivityState
from temporalio.client import Client

from perdure.activities.inputs import activity_named
from perdure.activities.posture import posture
from perdure.contracts.activities import LiveText, Recalled
from perdure.contracts.names import RECALL

RPC_TIMEOUT = timedelta(seconds=2)


class RecallActivity:
    """Reading pending activities of runs, over the worker's client."""

    def __init__(self, client: Client) -> None:
        self._client = client

    @activity_named(RECALL)
    async def recall(self, message_id: str) -> Recalled:
        """What the model call for ``message_id`` of this run left in its last heartbeat, unless it runs just now."""
        with posture():
            info = activity.info()
            assert info.workflow_id is not None
            handle = self._client.get_workflow_handle(info.workflow_id, run_id=info.workflow_run_id)
            described = await handle.describe(rpc_timeout=RPC_TIMEOUT)
            for pending in described.raw_description.pending_activities:
                waits = pending.state == PendingActivityState.PENDING_ACTIVITY_STATE_SCHEDULED
                if pending.activity_id == message_id and waits and pending.HasField("heartbeat_details"):
                    return await self._read(list(pending.heartbeat_details.payloads))
            return Recalled()

    async def _read(self, payloads: list[Payload]) -> Recalled:
        try:
            (live,) = await self._client.data_converter.decode(payloads, [LiveText])
        except (ValidationError, ValueError, RuntimeError):
            return Recalled()
        return Recalled(live=live)
