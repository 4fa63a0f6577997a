"""From a history to durable events and to the state of the run, without a worker and without a query.

A history holds what was brought in (results, signals, updates) and what was commanded; what the run made of it follows
from the brain. So the projection reads outcomes out of the history, in the order in which the workflow saw them, and
feeds the same `Loop` that the workflow feeds.

That order is the trap. The workflow sees the events of one workflow task at once: first signals and updates, then
results of activities and timers; results of local activities follow, whose markers stand behind the completed task, as
do accepted updates. Only when the next batch of events begins is a task known whole: its events are held until then.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime

from temporalio.api.enums.v1 import EventType
from temporalio.api.history.v1 import HistoryEvent
from temporalio.converter import DataConverter

from perdure.brain.ending import ended
from perdure.brain.loop import Advance, Loop
from perdure.brain.narrate import narrate
from perdure.client.outcomes import OutcomeReader, time_of
from perdure.contracts.continuation import Continuation
from perdure.contracts.events import DurableEvent, Position, RunClosed
from perdure.contracts.outcomes import AnyOutcome
from perdure.contracts.requests import RunRequest
from perdure.contracts.state import State

_RESULTS = {
    EventType.EVENT_TYPE_ACTIVITY_TASK_COMPLETED,
    EventType.EVENT_TYPE_ACTIVITY_TASK_FAILED,
    EventType.EVENT_TYPE_ACTIVITY_TASK_TIMED_OUT,
    EventType.EVENT_TYPE_ACTIVITY_TASK_CANCELED,
    EventType.EVENT_TYPE_TIMER_FIRED,
    EventType.EVENT_TYPE_WORKFLOW_EXECUTION_CANCEL_REQUESTED,
}
_OF_NO_WORK = {
    EventType.EVENT_TYPE_TIMER_FIRED,
    EventType.EVENT_TYPE_WORKFLOW_EXECUTION_CANCEL_REQUESTED,
}
_ENDS = {
    EventType.EVENT_TYPE_WORKFLOW_EXECUTION_COMPLETED: "completed",
    EventType.EVENT_TYPE_WORKFLOW_EXECUTION_FAILED: "failed",
    EventType.EVENT_TYPE_WORKFLOW_EXECUTION_TIMED_OUT: "failed",
    EventType.EVENT_TYPE_WORKFLOW_EXECUTION_TERMINATED: "failed",
    EventType.EVENT_TYPE_WORKFLOW_EXECUTION_CANCELED: "canceled",
}


@dataclass(slots=True)
class _Task:
    """The events that one workflow task saw, and what it commanded."""

    orders: list[tuple[int, int, HistoryEvent]] = field(default_factory=list)
    results: list[HistoryEvent] = field(default_factory=list)
    markers: list[HistoryEvent] = field(default_factory=list)
    started_at: datetime | None = None
    completed: bool = False


class Projection:
    """Reads the events of one execution, in order. ``state`` is None before the run's first workflow task."""

    def __init__(self, run_id: str, execution_id: str, converter: DataConverter) -> None:
        self._run_id = run_id
        self._execution_id = execution_id
        self._reader = OutcomeReader(converter)
        self._loop: Loop | None = None
        self._started: HistoryEvent | None = None
        self._task = _Task()
        self._count = 0
        self._closed = False
        self._successor: str | None = None

    @property
    def state(self) -> State | None:
        return self._loop.state if self._loop else None

    @property
    def closed(self) -> bool:
        """Whether the execution is over: no more events follow."""
        return self._closed

    @property
    def successor(self) -> str | None:
        """The execution that the run goes on in, when this one handed over."""
        return self._successor

    async def foreseen(self) -> State | None:
        """The state once the orders, cancels and timers are taken in that are recorded and no worker has taken in yet.

        It begins with the start request where no worker has taken up the run.
        """
        loop = None
        if self._loop is not None:
            loop = Loop(self._loop.state, self._loop.at)
        elif self._started is not None and not self._closed:
            begun = await self._reader.start(self._started)
            if isinstance(begun, RunRequest):
                loop, _ = Loop.begin(self._run_id, begun, time_of(self._started.event_time))
            elif begun is not None:
                loop = Loop(begun.state, time_of(self._started.event_time))
        if loop is None or self._closed:
            return self.state
        for _, _, event in sorted(self._task.orders, key=lambda order: order[:2]):
            outcome = await self._reader.order(event, time_of(event.event_time))
            if outcome is not None:
                loop.feed(outcome)
        for event in self._task.results:
            if event.event_type in _OF_NO_WORK:
                outcome = await self._reader.result(event, loop.state, time_of(event.event_time))
                assert outcome is not None
                loop.feed(outcome)
        return loop.state

    async def take(self, events: Iterable[HistoryEvent]) -> list[DurableEvent]:
        """Read a batch of events as the server gave it, whole; the durable events that follow, with positions."""
        told: list[DurableEvent] = []
        for event in events:
            told += await self._take(event)
        told += await self._flush()
        return told

    async def _take(self, event: HistoryEvent) -> list[DurableEvent]:
        kind, task = event.event_type, self._task
        if kind == EventType.EVENT_TYPE_WORKFLOW_EXECUTION_UPDATE_ACCEPTED:
            sequence = event.workflow_execution_update_accepted_event_attributes.accepted_request_sequencing_event_id
            task.orders.append((sequence, event.event_id, event))
            return []
        if kind == EventType.EVENT_TYPE_MARKER_RECORDED:
            task.markers.append(event)
            return []
        if kind == EventType.EVENT_TYPE_ACTIVITY_TASK_SCHEDULED:
            self._reader.scheduled(event)
            return []
        if kind == EventType.EVENT_TYPE_WORKFLOW_EXECUTION_CONTINUED_AS_NEW:
            told = await self._flush()
            self._successor = event.workflow_execution_continued_as_new_event_attributes.new_execution_run_id
            self._closed = True
            return told
        if kind in _ENDS:
            return await self._flush() + await self._end(event)
        told = []
        if task.completed and (kind in _RESULTS or kind == EventType.EVENT_TYPE_WORKFLOW_EXECUTION_SIGNALED):
            told, task = await self._flush(), self._task
        match kind:
            case EventType.EVENT_TYPE_WORKFLOW_EXECUTION_STARTED:
                self._started = event
            case EventType.EVENT_TYPE_WORKFLOW_EXECUTION_SIGNALED:
                task.orders.append((event.event_id, event.event_id, event))
            case EventType.EVENT_TYPE_WORKFLOW_TASK_STARTED:
                told += await self._flush()
                self._task.started_at = time_of(event.event_time)
            case EventType.EVENT_TYPE_WORKFLOW_TASK_COMPLETED:
                task.completed = True
            case _ if kind in _RESULTS:
                task.results.append(event)
            case _:
                pass
        return told

    async def _flush(self) -> list[DurableEvent]:
        """Feed what a completed task saw. A task that failed or timed out leaves its events to the next one."""
        task = self._task
        if not task.completed:
            return []
        self._task = _Task()
        assert task.started_at is not None
        at = task.started_at
        told: list[DurableEvent] = []
        if self._loop is None:
            told += await self._begin(at)
            if self._loop is None:
                return []
        for _, _, event in sorted(task.orders, key=lambda order: order[:2]):
            told += self._feed(await self._reader.order(event, at))
        for event in task.results:
            told += self._feed(await self._reader.result(event, self.state, at))
        for event in task.markers:
            told += self._feed(await self._reader.marker(event, self.state, self._loop.at))
        return told

    async def _begin(self, at: datetime) -> list[DurableEvent]:
        assert self._started is not None
        match await self._reader.start(self._started):
            case RunRequest() as request:
                self._loop, first = Loop.begin(self._run_id, request, at)
                return self._tell([first])
            case Continuation(state=state):
                self._loop = Loop(state, at)
        return []

    def _feed(self, outcome: AnyOutcome | None) -> list[DurableEvent]:
        if outcome is None or self._loop is None:
            return []
        return self._tell(self._loop.feed(outcome))

    def _tell(self, advances: Iterable[Advance]) -> list[DurableEvent]:
        return [self._place(event) for advance in advances for event in narrate(advance)]

    def _place(self, event: DurableEvent) -> DurableEvent:
        self._count += 1
        position = Position(execution_id=self._execution_id, number=self._count)
        return event.model_copy(update={"position": position})

    async def _end(self, event: HistoryEvent) -> list[DurableEvent]:
        """The end of the execution, when the brain did not bring it about: terminated, or an error of ours."""
        self._closed = True
        if self.state is not None and ended(self.state):
            return []
        failure = await self._reader.end_failure(event)
        state = self.state
        closed = RunClosed(
            run_id=self._run_id,
            at=time_of(event.event_time),
            status="canceled" if _ENDS[event.event_type] == "canceled" else "failed",
            failure=failure,
        )
        if state is not None:
            closed = closed.model_copy(update={"usage": state.usage, "cost": state.cost})
        return [self._place(closed)]
