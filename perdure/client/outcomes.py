"""From single history events to outcomes: what a signal, an update, a result or a marker brought the run."""

from __future__ import annotations

import asyncio
import json
from datetime import UTC, datetime
from typing import Any

from google.protobuf.timestamp_pb2 import Timestamp
from temporalio.api.common.v1 import Payloads
from temporalio.api.enums.v1 import EventType
from temporalio.api.history.v1 import HistoryEvent
from temporalio.converter import DataConverter
from temporalio.exceptions import CancelledError

from perdure.contracts.activities import Judgement, LiveText, Recalled, ResolvedAgent
from perdure.contracts.continuation import Continuation
from perdure.contracts.errors import InvalidInputError
from perdure.contracts.failures import Failure
from perdure.contracts.messages import AssistantMessage
from perdure.contracts.names import AUTHORIZE, CALL_MODEL, RECALL, RESOLVE_AGENT
from perdure.contracts.outcomes import (
    AnyOutcome,
    CallsJudged,
    CallsSettled,
    CancelReceived,
    ClockReached,
    Received,
)
from perdure.contracts.requests import Cancel, RunRequest
from perdure.contracts.state import State
from perdure.workflows.failures import failure_of
from perdure.workflows.given import Lost, agent_outcome, checked, model_outcome, result_of, unreadable, verdicts_of
from perdure.workflows.orders import read_order, read_start


class OutcomeReader:
    """Reads the events of one execution; remembers which activity each scheduled event was about."""

    def __init__(self, converter: DataConverter) -> None:
        self._converter = converter
        self._scheduled: dict[int, tuple[str, str]] = {}
        self._recalled: dict[str, LiveText] = {}

    def scheduled(self, event: HistoryEvent) -> None:
        """Note an activity that was scheduled."""
        activity = event.activity_task_scheduled_event_attributes
        self._scheduled[event.event_id] = (activity.activity_type.name, activity.activity_id)

    async def start(self, started: HistoryEvent) -> RunRequest | Continuation | None:
        """What the execution began with; None when it cannot be read."""
        arguments = await self._decode(started.workflow_execution_started_event_attributes.input)
        try:
            return read_start(tuple(arguments))
        except InvalidInputError:
            return None

    async def order(self, event: HistoryEvent, at: datetime) -> AnyOutcome | None:
        """What a signal or an accepted update told the run; None when it cannot be read."""
        if event.event_type == EventType.EVENT_TYPE_WORKFLOW_EXECUTION_SIGNALED:
            signal = event.workflow_execution_signaled_event_attributes
            name, payloads = signal.signal_name, signal.input
        else:
            update = event.workflow_execution_update_accepted_event_attributes.accepted_request.input
            name, payloads = update.name, update.args
        try:
            return Received(at=at, order=read_order(name, tuple(await self._decode(payloads))))
        except InvalidInputError:
            return None

    async def result(self, event: HistoryEvent, state: State | None, at: datetime) -> AnyOutcome | None:
        """What a result, a timer or a cancel brought; None when it concerns nothing that is open."""
        kind = event.event_type
        if kind == EventType.EVENT_TYPE_TIMER_FIRED:
            return ClockReached(at=at)
        if kind == EventType.EVENT_TYPE_WORKFLOW_EXECUTION_CANCEL_REQUESTED:
            cause = event.workflow_execution_cancel_requested_event_attributes.cause
            return CancelReceived(at=at, order=Cancel.parse(cause))
        if kind == EventType.EVENT_TYPE_ACTIVITY_TASK_COMPLETED:
            completed = event.activity_task_completed_event_attributes
            return await self._ended(completed.scheduled_event_id, completed.result, state, at)
        return await self._ended(*await self._loss(event), state, at)

    async def _loss(self, event: HistoryEvent) -> tuple[int, Lost]:
        if event.event_type == EventType.EVENT_TYPE_ACTIVITY_TASK_FAILED:
            failed = event.activity_task_failed_event_attributes
            return failed.scheduled_event_id, Lost(await self._converter.decode_failure(failed.failure))
        if event.event_type == EventType.EVENT_TYPE_ACTIVITY_TASK_TIMED_OUT:
            late = event.activity_task_timed_out_event_attributes
            return late.scheduled_event_id, Lost(await self._converter.decode_failure(late.failure))
        canceled = event.activity_task_canceled_event_attributes
        return canceled.scheduled_event_id, Lost(CancelledError("Stopped"))

    async def _ended(
        self, scheduled: int, result: Payloads | Lost, state: State | None, at: datetime
    ) -> AnyOutcome | None:
        name, key = self._scheduled.pop(scheduled)
        if state is None or state.turn is None:
            return None
        if name == CALL_MODEL:
            model = state.agent.model if state.agent else ""
            return model_outcome(
                key,
                model,
                await self._given(result, AssistantMessage),
                at,
                stopping=state.turn.stopping is not None,
                recalled=self._recalled.pop(key, None),
            )
        call = state.turn.call(key)
        if call is None:
            return None
        return CallsSettled(at=at, results=(result_of(call.part, await self._given(result, Any)),))

    async def marker(self, event: HistoryEvent, state: State | None, at: datetime) -> AnyOutcome | None:
        """What a local activity gave; None for other markers."""
        marker = event.marker_recorded_event_attributes
        data = marker.details.get("data")
        if data is None or not data.payloads:
            return None
        about = json.loads(data.payloads[0].data)
        name, key = about.get("activity_type", ""), about.get("activity_id", "")
        failed = marker.HasField("failure")
        result = Lost(await self._converter.decode_failure(marker.failure)) if failed else marker.details["result"]
        if name == RESOLVE_AGENT:
            return agent_outcome(await self._given(result, ResolvedAgent), at)
        if name == RECALL:
            recalled = await self._given(result, Recalled)
            if isinstance(recalled, Recalled) and recalled.live is not None:
                self._recalled[recalled.live.message_id] = recalled.live
            return None
        if name == AUTHORIZE:
            humans = state.request.humans if state else "none"
            verdicts = verdicts_of(
                tuple(key.partition("#")[0].split(",")), humans, await self._given(result, Judgement)
            )
            return CallsJudged(at=at, verdicts=verdicts)
        return None

    async def end_failure(self, event: HistoryEvent) -> Failure | None:
        """Why an execution ended in another way than by its own result."""
        match event.event_type:
            case EventType.EVENT_TYPE_WORKFLOW_EXECUTION_FAILED:
                failed = event.workflow_execution_failed_event_attributes.failure
                return failure_of(await self._converter.decode_failure(failed))
            case EventType.EVENT_TYPE_WORKFLOW_EXECUTION_TERMINATED:
                reason = event.workflow_execution_terminated_event_attributes.reason
                return Failure(kind="internal", message=f"Terminated: {reason or 'no reason given'}.")
            case EventType.EVENT_TYPE_WORKFLOW_EXECUTION_TIMED_OUT:
                return Failure(kind="timeout", message="The run's own time limit passed.")
            case _:
                return None

    async def _given(self, result: Payloads | Lost, kind: Any) -> Any:
        """What an activity gave, read as the workflow reads it."""
        if isinstance(result, Lost):
            return result
        try:
            return checked((await self._decode(result, kind))[0], kind)
        except Exception:  # noqa: BLE001 - whatever a converter raises, as in the workflow
            return unreadable(kind)

    async def _decode(self, payloads: Payloads, kind: Any = Any) -> list[Any]:
        # A large history decodes for seconds: others in this process must go on meanwhile.
        await asyncio.sleep(0)
        return await self._converter.decode(list(payloads.payloads), [kind] * len(payloads.payloads))


def time_of(stamp: Timestamp) -> datetime:
    """A time of the server, in UTC, rounded as `temporalio.workflow.now` rounds it."""
    return datetime.fromtimestamp(stamp.ToNanoseconds() / 1e9, tz=UTC)
