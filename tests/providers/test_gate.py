from __future__ import annotations

import asyncio
import sys
from pathlib import Path

import pytest

from perdure.providers.gate import Gate


async def come_to(gate: Gate, waiters: int = 1) -> list[asyncio.Task[None]]:
    tasks = [asyncio.create_task(gate.wait()) for _ in range(waiters)]
    await asyncio.sleep(0)
    assert gate.occupied
    return tasks


async def test_a_shut_gate_holds_every_waiter_until_it_is_opened(tmp_path: Path) -> None:
    gate = Gate(tmp_path / "gate")
    tasks = await come_to(gate, 3)
    assert not any(task.done() for task in tasks)
    gate.open()
    async with asyncio.timeout(10):
        await asyncio.gather(*tasks)
    assert not gate.occupied


async def test_an_open_gate_lets_through_at_once_and_stays_open(tmp_path: Path) -> None:
    gate = Gate(tmp_path / "gate")
    gate.open()
    gate.open()
    async with asyncio.timeout(10):
        await gate.wait()
        await Gate(str(tmp_path / "gate")).wait()


async def test_another_process_opens_the_gate(tmp_path: Path) -> None:
    gate = Gate(tmp_path / "gate")
    (task,) = await come_to(gate)
    code = f"from perdure.providers.gate import Gate; Gate({str(gate.path)!r}).open()"
    other = await asyncio.create_subprocess_exec(sys.executable, "-c", code)
    assert await other.wait() == 0
    async with asyncio.timeout(10):
        await task


async def test_a_waiter_that_is_cancelled_leaves_the_gate_to_others(tmp_path: Path) -> None:
    gate = Gate(tmp_path / "gate")
    first, second = await come_to(gate, 2)
    first.cancel()
    with pytest.raises(asyncio.CancelledError):
        await first
    gate.open()
    async with asyncio.timeout(10):
        await second


async def test_a_gate_in_a_folder_that_is_missing_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        await Gate(tmp_path / "missing" / "gate").wait()
