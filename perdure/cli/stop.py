"""The kill switch: cancel every run that goes on, of one agent or of all.

The list of a server lags behind by moments, and a run says which agent it is only once a worker has taken it up. So
runs that do not say it are asked what they were started with, and the list is read again until it has nothing new.
"""

from __future__ import annotations

import asyncio
import contextlib

from temporalio.client import Client as TemporalClient
from temporalio.service import RPCError

from perdure.cli.confirm import confirmed
from perdure.cli.lines import Span
from perdure.cli.listing import READ_AT_ONCE
from perdure.cli.screen import Screen
from perdure.cli.session import Session, actor, reaching, read_settings, said
from perdure.cli.text import counted, one_line, plain
from perdure.client.listing import RunListing
from perdure.client.outcomes import OutcomeReader
from perdure.contracts.errors import OrderRefusedError, PerdureError, RunNotFoundError
from perdure.contracts.requests import RunRequest

RUNS_AT_MOST = 100_000
LOOKS = 3


async def stop_runs(agent: str, reason: str, *, yes: bool) -> int:
    """Cancel all running runs of ``agent`` (empty: of all agents), and show each."""
    screen = Screen()
    of = f" of the agent {agent}" if agent else ""
    async with reaching(read_settings(screen).settings, screen) as session:
        async with said(screen, "Reading the runs …"):
            runs = await running(session, agent)
        if not runs:
            screen.note(f"No run{of} goes on.", "plain")
            return 0
        for run in runs:
            screen.write((Span(f"{plain(run.run_id)}  {plain(run.status)}  {plain(run.agent)}\n"),))
        if not await confirmed(screen, f"cancel {counted(len(runs), 'run')}{of} now", yes=yes):
            return 1
        canceled, missed = await _stop(session, agent, runs, reason, screen)
    screen.note(f"{counted(canceled, 'run')}{of} asked to cancel: open calls are stopped and settled first.", "plain")
    if missed:
        raise OrderRefusedError(f"{counted(missed, 'run')} could not be canceled: try `perdure stop` again.")
    return 0


async def running(session: Session, agent: str) -> list[RunListing]:
    """The runs of the agent that go on; a run that has not said its agent is asked what it was started with."""
    runs = await session.client.list(query="ExecutionStatus = 'Running'", limit=RUNS_AT_MOST)
    turnstile = asyncio.Semaphore(READ_AT_ONCE)

    async def named(run: RunListing) -> RunListing:
        if run.agent or not agent:
            return run
        async with turnstile:
            return run.model_copy(update={"agent": await started_as(session.temporal, run.run_id)})

    # An attribute that is too long for the server was cut.
    return [run for run in await asyncio.gather(*map(named, runs)) if not agent or is_of(run.agent, agent)]


def is_of(said: str, agent: str) -> bool:
    """Whether a run that says its agent is ``said`` is one of ``agent``: long names are cut at 255 bytes."""
    return said == agent or (len(said.encode()) > 250 and agent.startswith(said))


async def started_as(temporal: TemporalClient, run_id: str) -> str:
    """The agent that a run was started with; empty when that cannot be read."""
    events = temporal.get_workflow_handle(run_id).fetch_history_events(page_size=1)
    with contextlib.suppress(RPCError):
        async for event in events:
            started = await OutcomeReader(temporal.data_converter).start(event)
            if isinstance(started, RunRequest):
                return started.agent if isinstance(started.agent, str) else started.agent.name
            break
    return ""


async def _stop(session: Session, agent: str, runs: list[RunListing], reason: str, screen: Screen) -> tuple[int, int]:
    asked: set[str] = set()
    missed: set[str] = set()
    for _ in range(LOOKS):
        for run in runs:
            asked.add(run.run_id)
            try:
                await session.client.cancel(run.run_id, reason=reason, actor=actor())
            except (RunNotFoundError, OrderRefusedError):
                screen.write((Span(f"ended already {plain(run.run_id)}\n", "quiet"),))
            except PerdureError as error:
                missed.add(run.run_id)
                screen.note(f"not canceled: {run.run_id}: {one_line(str(error), 300)}", "bad")
            else:
                screen.write((Span(f"canceled {plain(run.run_id)}\n"),))
        runs = [run for run in await running(session, agent) if run.run_id not in asked]
        if not runs:
            break
    return len(asked) - len(missed), len(missed)
