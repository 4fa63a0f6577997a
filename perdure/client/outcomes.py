"""From single history events to outcomes: what a signal, an update, a result or a marker brought the run."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Any

from google.protobuf.timestamp_pb2 import Timestamp
from temporalio.api.common.v1 import Payload, Payloads
from temporalio.api.enums.v1 import EventType
from temporalio.api.history.v1 import HistoryEvent
from temporalio.converter import DataConverter
from temporalio.exceptions import CancelledError

from perdure.brain.results import tool_result
from perdure.contracts.activities import Judgement, ResolvedAgent
from perdure.contracts.continuation import Continuation
from perdure.contracts.errors import InvalidInputError
from perdure.contracts.failures import Failure
from perdure.contracts.messages import AssistantMessage
from perdure.contracts.names import AUTHORIZE, CALL_MODEL, RESOLVE_AGENT
from perdure.contracts.outcomes import (
    AgentRejected,
    AgentResolved,
    AnyOutcome,
    CallsJudged,
    CallsSettled,
    CancelReceived,
    ClockReached,
    ModelReply,
    Received,
)
from perdure.contracts.requests import RunRequest
from perdure.contracts.state import State
from perdure.workflows.failures import error_verdicts, failure_of, lost_result, model_outcome
from perdure.workflows.orders import read_order, read_start


class OutcomeReader:
    """Reads the events of one execution; remembers which activity each scheduled event was about."""

    def __init__(self, converter: DataConverter) -> None:
        self._converter = converter
        self._scheduled: dict[int, tuple[str, str]] = {}

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
            return CancelReceived(at=at)
        if kind == EventType.EVENT_TYPE_ACTIVITY_TASK_COMPLETED:
            completed = event.activity_task_completed_event_attributes
            name, key = self._scheduled.pop(completed.scheduled_event_id)
            return await self._completed(name, key, completed.result, state, at)
        if kind == EventType.EVENT_TYPE_ACTIVITY_TASK_FAILED:
            failed = event.activity_task_failed_event_attributes
            return self._lost(
                failed.scheduled_event_id, await self._converter.decode_failure(failed.failure), state, at
            )
        if kind == EventType.EVENT_TYPE_ACTIVITY_TASK_TIMED_OUT:
            late = event.activity_task_timed_out_event_attributes
            error = await self._converter.decode_failure(late.failure)
            return self._lost(late.scheduled_event_id, error, state, at)
        canceled = event.activity_task_canceled_event_attributes
        return self._lost(canceled.scheduled_event_id, CancelledError("Stopped"), state, at)

    async def _completed(
        self, name: str, key: str, result: Payloads, state: State | None, at: datetime
    ) -> AnyOutcome | None:
        if name == CALL_MODEL:
            (message,) = await self._decode(result, AssistantMessage)
            return ModelReply(at=at, message=message)
        call = state.turn.call(key) if state and state.turn else None
        if call is None:
            return None
        (returned,) = await self._decode(result)
        return CallsSettled(at=at, results=(tool_result(call.part, returned),))

    def _lost(self, scheduled: int, cause: BaseException, state: State | None, at: datetime) -> AnyOutcome | None:
        name, key = self._scheduled.pop(scheduled)
        if state is None or state.turn is None:
            return None
        if name == CALL_MODEL:
            return model_outcome(key, state.agent.model if state.agent else "", cause, at)
        call = state.turn.call(key)
        return CallsSettled(at=at, results=(lost_result(call.part, cause),)) if call else None

    async def marker(self, event: HistoryEvent, state: State | None, at: datetime) -> AnyOutcome | None:
        """What a local activity gave; None for other markers."""
        marker = event.marker_recorded_event_attributes
        data = marker.details.get("data")
        if data is None or not data.payloads:
            return None
        about = json.loads(data.payloads[0].data)
        name, key = about.get("activity_type", ""), about.get("activity_id", "")
        at = max(at, _parsed(about.get("complete_time")) or at)
        cause = await self._converter.decode_failure(marker.failure) if marker.HasField("failure") else None
        if name == RESOLVE_AGENT:
            if cause is not None:
                return AgentRejected(at=at, failure=failure_of(cause))
            (resolved,) = await self._decode(marker.details["result"], ResolvedAgent)
            return AgentResolved(at=at, agent=resolved.agent)
        if name == AUTHORIZE:
            if cause is not None:
                humans = state.request.humans if state else "none"
                return CallsJudged(at=at, verdicts=error_verdicts(tuple(key.split(",")), humans, cause))
            (judgement,) = await self._decode(marker.details["result"], Judgement)
            return CallsJudged(at=at, verdicts=judgement.verdicts)
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

    async def _decode(self, payloads: Payloads | Iterable[Payload], hint: type | None = None) -> list[Any]:
        listed = list(payloads.payloads) if isinstance(payloads, Payloads) else list(payloads)
        # A large history decodes for seconds: others in this process must go on meanwhile.
        await asyncio.sleep(0)
        return await self._converter.decode(listed, [hint] if hint else None)


def time_of(stamp: Timestamp) -> datetime:
    """A time of the server, in UTC."""
    return stamp.ToDatetime(tzinfo=UTC)


def _parsed(stamp: Any) -> datetime | None:
    if isinstance(stamp, str):
        return datetime.fromisoformat(stamp)
    if isinstance(stamp, dict):
        return datetime.fromtimestamp(int(stamp.get("seconds", 0)) + int(stamp.get("nanos", 0)) / 1e9, tz=UTC)
    return None
