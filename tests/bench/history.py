"""Measure what a run costs: events and bytes of history, time a step, and the lag of live text.

Run it: ``python -m tests.bench.history``. It starts a server of its own in memory and one worker in this process, and
prints a table. Times depend on the machine; events and bytes do not.
"""

from __future__ import annotations

import asyncio
import statistics
import tempfile
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from perdure.contracts.events import TextArrived
from perdure.providers.gate import Gate
from perdure.testing.exits import leave
from perdure.testing.script import asks, held, says, script
from tests.server.stage import Stage, worker_here
from tests.servers import running_server, unique

RESULT_BYTES = 4_096
PIECES = 60


@dataclass(frozen=True, slots=True)
class Cost:
    """What one run cost."""

    steps: int
    events: int
    history_bytes: int
    seconds: float


@asynccontextmanager
async def stage_of_its_own() -> AsyncIterator[Stage]:
    """A server, a worker and a client for the time of the block."""
    with tempfile.TemporaryDirectory() as folder, running_server() as address:
        stage = await Stage.on(address, Path(folder))
        async with worker_here(address, stage.task_queue, Path(folder)):
            yield stage


async def cost_of(stage: Stage, steps: int) -> Cost:
    """Run ``steps`` steps of one tool call, each with a result of 4 kB, and then a text."""
    looks = [asks("look", name=f"{step:03}", size=RESULT_BYTES) for step in range(steps)]
    played = script(*looks, says("Done."))
    began = time.perf_counter()
    run_id = await stage.start(played, limits={"steps": steps + 2})
    await stage.client.output(run_id)
    seconds = time.perf_counter() - began
    handle = stage.temporal.get_workflow_handle(run_id)
    described = await handle.describe()
    info = described.raw_description.workflow_execution_info
    return Cost(steps, info.history_length, info.history_size_bytes, seconds)


async def live_lag(stage: Stage, pieces: int, *, watched: bool) -> tuple[list[float], int]:
    """Milliseconds from a piece's being written to its arrival at a subscriber, one by one; and the run's events.

    The model holds each piece behind a gate, which is opened when the one before has arrived. Unwatched, all gates are
    open from the start.
    """
    gates = [Gate(stage.folder / unique("gate")) for _ in range(pieces)]
    reply = says(*[f"{number} " for number in range(pieces)])
    for number, gate in enumerate(gates):
        reply = held(reply, gate.path, after=number)
    if not watched:
        for gate in gates:
            gate.open()
    run_id = await stage.start(script(reply))
    lags: list[float] = []
    opened = time.perf_counter()
    gates[0].open()
    async for event in stage.client.events(run_id, live=watched):
        if isinstance(event, TextArrived):
            lags.append((time.perf_counter() - opened) * 1000)
            if len(lags) < pieces:
                opened = time.perf_counter()
                gates[len(lags)].open()
    handle = stage.temporal.get_workflow_handle(run_id)
    # The first piece's lag holds the start of the run.
    return lags[1:], (await handle.describe()).history_length


async def main() -> None:
    """Print the tables."""
    async with stage_of_its_own() as stage:
        await cost_of(stage, 2)
        print("steps  events  events/step  bytes  bytes/step  seconds  s/step")
        costs = [await cost_of(stage, steps) for steps in (10, 40, 100)]
        for cost in costs:
            print(
                f"{cost.steps:5}  {cost.events:6}  {cost.events / cost.steps:11.1f}  {cost.history_bytes:7}"
                f"  {cost.history_bytes / cost.steps:9.0f}  {cost.seconds:7.2f}  {cost.seconds / cost.steps:.3f}"
            )
        _, unwatched = await live_lag(stage, PIECES, watched=False)
        lags, events = await live_lag(stage, PIECES, watched=True)
        ordered = sorted(lags)
        print(f"{PIECES} pieces: {events} events watched, {unwatched} events unwatched")
        print(
            f"lag of live text: median {statistics.median(ordered):.0f} ms, "
            f"p95 {ordered[int(len(ordered) * 0.95)]:.0f} ms, max {ordered[-1]:.0f} ms"
        )


if __name__ == "__main__":
    asyncio.run(main())
    leave(0)
