"""Running workers for the time of a block.

The SDK's own ``async with worker`` cancels the block's task also while the block is being left, and so loses what the
block raised; and it waits without end for a server that does not answer any more.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from datetime import timedelta
from typing import Protocol

import structlog

from perdure.contracts.errors import ServerUnavailableError

SPARE = timedelta(seconds=5)
"""How long workers may take to end beside the time that running calls get."""


class Runner(Protocol):
    """A worker: ``temporalio.worker.Worker`` is one."""

    async def run(self) -> None:
        """Work until `shutdown`."""

    async def shutdown(self) -> None:
        """End the work."""


log = structlog.get_logger(__name__)


@asynccontextmanager
async def running(
    workers: Sequence[Runner], *, grace: timedelta, failed: Callable[[Exception], Exception]
) -> AsyncIterator[None]:
    """Run the workers while the block runs; at its end running calls get ``grace``.

    When a worker cannot work, the block is cancelled and what ``failed`` makes of its error is raised. What the block
    itself raises is what comes out, whatever the workers do meanwhile. After ServerUnavailableError nothing is waited
    for: no call can hand over to a server that is gone.
    """
    block = asyncio.current_task()
    assert block is not None, "workers run beside a task"
    errors: list[Exception] = []
    leaving = False
    within = grace + SPARE

    async def run(worker: Runner) -> None:
        try:
            await worker.run()
        except Exception as error:  # noqa: BLE001 - raised to the block, or logged when that has its own
            errors.append(error)
            log.warning("a worker ended", reason=str(error)[:500])
            if not leaving and len(errors) == 1:
                block.cancel()

    tasks = [asyncio.create_task(run(worker)) for worker in workers]
    try:
        yield
    except asyncio.CancelledError:
        if not errors:
            raise
        block.uncancel()
        within = SPARE
        raise failed(errors[0]) from errors[0]
    except ServerUnavailableError:
        within = timedelta(0)
        raise
    finally:
        leaving = True
        await _ended(workers, tasks, within)


async def _ended(workers: Sequence[Runner], tasks: list[asyncio.Task[None]], within: timedelta) -> None:
    stops = [asyncio.create_task(worker.shutdown()) for worker in workers]
    try:
        await asyncio.wait([*tasks, *stops], timeout=within.total_seconds())
    finally:
        for task in (*tasks, *stops):
            task.cancel()
