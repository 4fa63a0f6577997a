"""One reader of a run's history for a whole process, however many subscribe.

The history is read with the server's long poll; what it brings is kept in memory, and every subscriber reads it at its
own pace. A hundred pollers on one run slowed it threefold on two cores; a hundred subscribers of one feed do not touch
it.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

from temporalio.client import Client as TemporalClient
from temporalio.client import WorkflowHandle
from temporalio.service import RPCError, RPCStatusCode

from perdure.client.kinds import check_is_run
from perdure.client.live import Cursor, Snapshot, snapshot
from perdure.client.projection import Projection
from perdure.client.rpc import rpc_errors
from perdure.contracts.events import AnyEvent, DurableEvent, ModelAnswered, Position
from perdure.contracts.state import State

LOOK_EVERY = 0.05
"""Seconds between two looks at the live text of a model call, while somebody follows live: the server has no long poll
for heartbeats."""

_PASSING = {RPCStatusCode.UNAVAILABLE, RPCStatusCode.DEADLINE_EXCEEDED, RPCStatusCode.RESOURCE_EXHAUSTED}


class Feed:
    """The events of one run. Runs from the first subscriber to the last."""

    def __init__(self, temporal: TemporalClient, run_id: str) -> None:
        self._temporal = temporal
        self._run_id = run_id
        self._events: list[DurableEvent] = []
        self._live = Snapshot()
        self._changed = asyncio.Event()
        self._ended = False
        self._error: Exception | None = None
        self._subscribers = 0
        self._live_subscribers = 0
        self._reader: asyncio.Task[None] | None = None
        self._looker: asyncio.Task[None] | None = None
        self._state: State | None = None

    @property
    def idle(self) -> bool:
        """Whether nobody subscribes."""
        return self._subscribers == 0

    async def subscribe(self, after: Position | None, *, live: bool) -> AsyncIterator[AnyEvent]:
        """The events behind ``after`` (None: all), the coming ones too, until the run ends."""
        self._subscribers += 1
        self._live_subscribers += live
        self._start()
        cursor = Cursor(self._run_id)
        place = 0
        waiting_for = after
        try:
            while True:
                changed = self._changed
                while place < len(self._events):
                    event = self._events[place]
                    place += 1
                    if waiting_for is not None:
                        if event.position == waiting_for:
                            waiting_for = None
                        continue
                    if live and isinstance(event, ModelAnswered):
                        for piece in cursor.complete(event.message):
                            yield piece
                    yield event
                if self._error is not None:
                    raise self._error
                if self._ended:
                    return
                if live and waiting_for is None:
                    for fresh in cursor.advance(self._live):
                        yield fresh
                if place == len(self._events):
                    await changed.wait()
        finally:
            self._subscribers -= 1
            self._live_subscribers -= live
            if self.idle:
                self._stop()

    def _start(self) -> None:
        if self._reader is None:
            self._reader = asyncio.create_task(self._read())
        if self._looker is None and self._live_subscribers:
            self._looker = asyncio.create_task(self._look())

    def _stop(self) -> None:
        for task in (self._reader, self._looker):
            if task is not None:
                task.cancel()

    def _notify(self) -> None:
        self._changed.set()
        self._changed = asyncio.Event()

    async def _read(self) -> None:
        try:
            with rpc_errors(self._temporal.service_client.config.target_host, self._run_id):
                await self._read_executions()
        except Exception as error:  # noqa: BLE001 - it is raised to every subscriber
            self._error = error
        self._ended = True
        self._notify()

    async def _read_executions(self) -> None:
        execution: str | None = await first_execution(self._temporal, self._run_id)
        while execution is not None:
            projection = Projection(self._run_id, execution, self._temporal.data_converter)
            handle = self._temporal.get_workflow_handle(self._run_id, run_id=execution)
            read = 0
            while not projection.closed:
                try:
                    read = await self._read_pages(handle, projection, read)
                except RPCError as error:
                    if error.status not in _PASSING:
                        raise
                    await asyncio.sleep(1)
            execution = projection.successor

    async def _read_pages(self, handle: WorkflowHandle[object, object], projection: Projection, read: int) -> int:
        """Read the history on; the number of events read so far, of which a new poll must skip as many."""
        pages = handle.fetch_history_events(wait_new_event=True)
        seen = 0
        while not projection.closed:
            await pages.fetch_next_page()
            page = pages.current_page
            if page is None or (not page and pages.next_page_token is None):
                break
            fresh = page[max(0, read - seen) :]
            seen += len(page)
            if fresh:
                read = seen
                self._events += await projection.take(fresh)
                self._state = projection.state
                self._notify()
            if pages.next_page_token is None:
                break
        return read

    async def _look(self) -> None:
        """Look at the live text while a model call is open and somebody follows live."""
        handle = self._temporal.get_workflow_handle(self._run_id)
        while not self._ended:
            calling = self._state is None or self._state.turn is not None
            if not calling or not self._live_subscribers:
                await self._changed.wait()
                continue
            try:
                described = await handle.describe()
                pending = tuple(described.raw_description.pending_activities)
                seen = await snapshot(self._run_id, pending, self._temporal.data_converter)
            except RPCError:
                seen = Snapshot()
            if seen != self._live:
                self._live = seen
                self._notify()
            await asyncio.sleep(LOOK_EVERY)


async def first_execution(temporal: TemporalClient, run_id: str) -> str:
    """The execution in which the newest run of that id began. Raises RPCError when there is none."""
    described = await temporal.get_workflow_handle(run_id).describe()
    check_is_run(run_id, described.workflow_type)
    info = described.raw_description.workflow_execution_info
    return info.first_run_id or described.run_id


async def read_history(temporal: TemporalClient, run_id: str) -> Projection:
    """The projection of the newest execution's history as it stands now. Needs no worker; raises RPCError.

    Its state is that of the whole run: an execution begins with the state that its predecessor handed over.
    """
    described = await temporal.get_workflow_handle(run_id).describe()
    check_is_run(run_id, described.workflow_type)
    return (await read_execution(temporal, run_id, described.run_id))[0]


async def read_execution(
    temporal: TemporalClient, run_id: str, execution_id: str
) -> tuple[Projection, list[DurableEvent]]:
    """The projection of one execution's history as it stands now, and its events. Raises RPCError."""
    handle = temporal.get_workflow_handle(run_id, run_id=execution_id)
    projection = Projection(run_id, execution_id, temporal.data_converter)
    return projection, await projection.take([event async for event in handle.fetch_history_events()])
