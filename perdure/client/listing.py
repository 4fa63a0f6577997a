"""Listing runs: by the server's own index, with what the runs have said of themselves."""

from __future__ import annotations

from datetime import datetime

from temporalio.client import Client as TemporalClient
from temporalio.client import WorkflowExecutionStatus

from perdure.contracts import names
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
    """The newest runs of which the list filter ``query`` holds. Raises RPCError."""
    kind = f"WorkflowType = '{names.AGENT_RUN}'"
    found: list[RunListing] = []
    async for execution in temporal.list_workflows(f"{kind} AND ({query})" if query else kind, limit=limit):
        attributes = {pair.key.name: pair.value for pair in execution.typed_search_attributes}
        closed = execution.status or WorkflowExecutionStatus.RUNNING
        said = attributes.get(names.STATUS_ATTRIBUTE)
        found.append(
            RunListing(
                run_id=execution.id,
                status=str(said) if said and not execution.close_time else closed.name.lower(),
                agent=str(attributes.get(names.AGENT_ATTRIBUTE, "")),
                user=str(attributes.get(names.USER_ATTRIBUTE, "")),
                started_at=execution.start_time,
                closed_at=execution.close_time,
            )
        )
    return tuple(found)
