"""Listing runs, and what those that wait are waiting for."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable

from perdure.cli.screen import Screen
from perdure.cli.session import Session, reaching, read_settings, said
from perdure.cli.table import show_table
from perdure.cli.text import one_line
from perdure.cli.waiting import Asked, waiting_of
from perdure.client.listing import RunListing
from perdure.contracts.approvals import Question, RequestedCall

WAITING = ("waiting_approval", "waiting_answer", "waiting_external", "waiting_budget")
ENDED = ("completed", "failed", "canceled")
TITLES = ("RUN", "STATUS", "AGENT", "STARTED", "AWAITS")
DECIDED = "a worker: it is decided"
"""What a run awaits whose people have said all that they were asked for, where no worker has heard of it yet."""
READ_AT_ONCE = 8
"""Histories that are read at the same time."""


class Row(RunListing):
    """A run in the list, with what it awaits: ids and names of calls and questions, or `DECIDED`."""

    awaits: str = ""


async def list_runs(status: str | None, limit: int, *, as_json: bool) -> int:
    """List the newest runs as a table, or one per line as JSON."""
    screen = Screen()
    async with reaching(read_settings(screen).settings, screen) as session, said(screen, "Reading the runs …"):
        rows = await rows_of(session, await session.client.list(query=query_of(status), limit=limit))
    if as_json:
        for row in rows:
            screen.line(row.model_dump_json())
    elif rows:
        show_table(screen, TITLES, map(cells, rows), folded=("AWAITS",))
    else:
        such = f" that are {status}" if status else ""
        screen.note(f'There are no runs{such}. Start one with `perdure run "…"`.')
    return 0


def query_of(status: str | None) -> str:
    """The Temporal list filter for a status of ours, or for "waiting", which is any of those that wait."""
    match status:
        case None:
            return ""
        case "waiting":
            kinds = ", ".join(f"'{kind}'" for kind in WAITING)
            return f"ExecutionStatus = 'Running' AND PerdureStatus IN ({kinds})"
        case "failed":
            return "ExecutionStatus IN ('Failed', 'Terminated', 'TimedOut')"
        case _ if status in ENDED:
            return f"ExecutionStatus = '{status.capitalize()}'"
        case _:
            return f"ExecutionStatus = 'Running' AND PerdureStatus = '{status}'"


async def rows_of(session: Session, runs: Iterable[RunListing]) -> list[Row]:
    """The runs with what they await, which stands in the histories of those that wait."""
    turnstile = asyncio.Semaphore(READ_AT_ONCE)

    async def row(run: RunListing) -> Row:
        awaits = ""
        if run.status in WAITING:
            async with turnstile:
                state = await (await session.client.history(run.run_id)).foreseen()
            awaits = (", ".join(map(named, waiting_of(state))) or DECIDED) if state else ""
        return Row(**run.model_dump(), awaits=awaits)

    return list(await asyncio.gather(*map(row, runs)))


def named(asked: Asked) -> str:
    """What waits, in a few words."""
    match asked:
        case RequestedCall():
            return f"{asked.call_id} {one_line(asked.tool, 40)}"
        case Question():
            return f"{asked.call_id} {one_line(asked.text, 60)}"


def cells(row: Row) -> tuple[str, ...]:
    """The row under `TITLES`, its time in the zone of this machine."""
    return row.run_id, row.status, row.agent, f"{row.started_at.astimezone():%Y-%m-%d %H:%M:%S}", row.awaits
