"""Listing runs: by the server's own index, with what the runs have said of themselves."""

from __future__ import annotations

from datetime import datetime

from temporalio.client import Client as TemporalClient
from temporalio.client import WorkflowExecution, WorkflowExecutionStatus

from perdure.contracts import names
from perdure.contracts.errors import InvalidInputError
from perdure.contracts.record import Record


class RunListing(Record):
    """A run in a list. ``status`` is ours where the run has said it, else Temporal's in lower case."""

    run_id: str
    status: str
    agent: str = ""
    user: str = ""
    started_at: datetime
    closed_at: datetime | None = None


async def list_runs(temporal: TemporalClient, query: str, limit: int) -> tuple[RunListing, ...]:
    """The runs of which the list filter ``query`` holds, those that started last, newest first.

    Raises RPCError, and InvalidInputError for a ``limit`` below 1.

    The server lists open runs by their start and closed ones behind them by their end. A run starts before it ends: so
    once enough runs are known that started after a closed one ended, no later one of the list can be among the newest.
    """
    if limit < 1:
        raise InvalidInputError(f"A list has 1 run at least: limit={limit} is none.")
    kind = f"WorkflowType = '{names.AGENT_RUN}'"
    asked = f"{kind} AND ({query})" if query else kind
    open_ones = temporal.list_workflows(f"{asked} AND ExecutionStatus = 'Running'", limit=limit)
    found = [_listing(execution) async for execution in open_ones]
    closed = temporal.list_workflows(f"{asked} AND ExecutionStatus != 'Running'", page_size=min(2 * limit, 1_000))
    async for execution in closed:
        newest = sorted((run.started_at for run in found), reverse=True)[:limit]
        if len(newest) == limit and execution.close_time is not None and execution.close_time < newest[-1]:
            break
        found.append(_listing(execution))
    return tuple(sorted(found, key=lambda run: run.started_at, reverse=True)[:limit])


def _listing(execution: WorkflowExecution) -> RunListing:
    attributes = {pair.key.name: pair.value for pair in execution.typed_search_attributes}
    closed = execution.status or WorkflowExecutionStatus.RUNNING
    said = attributes.get(names.STATUS_ATTRIBUTE)
    return RunListing(
        run_id=execution.id,
        status=str(said) if said and not execution.close_time else closed.name.lower(),
        agent=str(attributes.get(names.AGENT_ATTRIBUTE, "")),
        user=str(attributes.get(names.USER_ATTRIBUTE, "")),
        started_at=execution.start_time,
        closed_at=execution.close_time,
    )
