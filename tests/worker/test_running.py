from __future__ import annotations

import asyncio
from datetime import timedelta

import pytest

from perdure.contracts.errors import InvalidInputError, OperatorError, ServerUnavailableError
from perdure.worker.running import running

MOMENT = timedelta(milliseconds=10)


class Steady:
    """A worker that works until it is told to end; ``fails`` when then something goes wrong."""

    def __init__(self, *, fails: str = "") -> None:
        self.ended = False
        self._fails = fails
        self._stop = asyncio.Event()

    async def run(self) -> None:
        await self._stop.wait()
        self.ended = True
        if self._fails:
            raise RuntimeError(self._fails)

    async def shutdown(self) -> None:
        self._stop.set()


class Refused:
    """A worker that the server does not let work."""

    async def run(self) -> None:
        raise RuntimeError("no namespace")

    async def shutdown(self) -> None:
        pass


def failed(error: Exception) -> Exception:
    return OperatorError(f"The server does not answer: {error}.")


async def test_workers_work_while_the_block_runs_and_end_with_it() -> None:
    workers = [Steady(), Steady()]

    async with running(workers, grace=MOMENT, failed=failed):
        await asyncio.sleep(0)
        assert not any(worker.ended for worker in workers)

    assert all(worker.ended for worker in workers)


async def test_a_worker_that_cannot_work_ends_the_block_with_a_sentence() -> None:
    with pytest.raises(OperatorError, match="does not answer: no namespace"):
        async with running([Refused(), Steady()], grace=MOMENT, failed=failed):
            await asyncio.Event().wait()

    await asyncio.sleep(0)


async def test_what_the_block_raises_comes_out_whatever_a_worker_does_meanwhile() -> None:
    async def block() -> None:
        async with running([Steady(fails="connection lost")], grace=MOMENT, failed=failed):
            await asyncio.sleep(0)
            raise InvalidInputError("The task is too long.")

    with pytest.raises(InvalidInputError, match="too long"):
        await block()


class Stuck:
    """A worker that never ends: it reports to a server that is gone."""

    async def run(self) -> None:
        await asyncio.Event().wait()

    async def shutdown(self) -> None:
        await asyncio.Event().wait()


async def test_workers_whose_server_is_gone_are_not_waited_for() -> None:
    async def block() -> None:
        async with running([Stuck()], grace=timedelta(hours=1), failed=failed):
            raise ServerUnavailableError("localhost:7233")

    with pytest.raises(ServerUnavailableError):
        await asyncio.wait_for(block(), timeout=60)


async def test_a_block_that_is_cancelled_stays_cancelled() -> None:
    entered = asyncio.Event()

    async def block() -> None:
        async with running([Steady()], grace=MOMENT, failed=failed):
            entered.set()
            await asyncio.Event().wait()

    task = asyncio.create_task(block())
    await entered.wait()
    task.cancel()

    with pytest.raises(asyncio.CancelledError):
        await task
