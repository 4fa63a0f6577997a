"""A workflow that tells which of our modules the sandbox shares with the outside."""

from __future__ import annotations

from temporalio import workflow

from perdure.brain.loop import Loop
from perdure.contracts.record import Record
from perdure.workflows.run import AgentRun


@workflow.defn
class Shared:
    @workflow.run
    async def run(self) -> dict[str, int]:
        return identities()


def identities() -> dict[str, int]:
    """One class of each room that workflow code imports, by its identity."""
    return {"contracts": id(Record), "brain": id(Loop), "workflows": id(AgentRun)}
