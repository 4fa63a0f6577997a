from __future__ import annotations

import asyncio
import math
from datetime import timedelta

import pytest
from temporalio.client import Client

from perdure.cli.watch import Endurance, bounded, watch
from perdure.contracts.errors import InvalidInputError, ServerUnavailableError

AT_ONCE = timedelta(milliseconds=10)


async def never() -> bool:
    return False


async def silent(port: int) -> Client:
    """A client of a program that takes connections and says nothing."""
    return await Client.connect(f"127.0.0.1:{port}", lazy=True)


async def test_a_server_that_is_away_is_said_to_be_gone_once() -> None:
    said: list[str] = []
    looks = iter([True, False, False, False])
    seen = asyncio.Event()

    async def answers() -> bool:
        answer = next(looks, None)
        if answer is None:
            seen.set()
        return bool(answer)

    watching = asyncio.create_task(watch("localhost:7233", answers, said.append, Endurance(look=0, notice=0, limit=60)))
    await seen.wait()
    watching.cancel()

    (line,) = said
    assert line.startswith("The Temporal server is gone: localhost:7233 does not answer. Waiting 60 s")


async def test_a_server_that_stays_away_is_given_up() -> None:
    endurance = Endurance(look=0, notice=math.inf, limit=0)

    with pytest.raises(ServerUnavailableError, match=r"at localhost:7233 \(no answer for 0 s\)"):
        await watch("localhost:7233", never, lambda line: None, endurance)


async def test_a_server_that_comes_back_is_said_to_be_there_again() -> None:
    said: list[str] = []
    back = asyncio.Event()

    async def answers() -> bool:
        return len(said) == 1

    def say(line: str) -> None:
        said.append(line)
        if len(said) == 2:
            back.set()

    watching = asyncio.create_task(watch("localhost:7233", answers, say, Endurance(look=0, notice=0, limit=60)))
    await back.wait()
    watching.cancel()

    assert said[1] == "The Temporal server is there again."


def test_a_run_that_is_followed_ends_within_30_s_of_its_server() -> None:
    patience = Endurance()
    the_worker_ends = 8

    assert patience.look + patience.limit + the_worker_ends <= 30


async def test_what_waits_for_a_server_that_falls_silent_is_given_up(foreign_port: int) -> None:
    client = await silent(foreign_port)

    with pytest.raises(ServerUnavailableError, match=rf"at 127.0.0.1:{foreign_port} \(no answer for 0.01 s\)"):
        async with bounded(f"127.0.0.1:{foreign_port}", client, AT_ONCE):
            await asyncio.Event().wait()


async def test_what_the_block_raises_itself_comes_out(foreign_port: int) -> None:
    client = await silent(foreign_port)

    with pytest.raises(InvalidInputError, match="empty"):
        async with bounded(f"127.0.0.1:{foreign_port}", client, AT_ONCE):
            raise InvalidInputError("The message is empty.")


async def test_a_block_that_is_cancelled_from_outside_stays_cancelled(foreign_port: int) -> None:
    client = await silent(foreign_port)
    waits = asyncio.Event()

    async def waiting() -> None:
        async with bounded(f"127.0.0.1:{foreign_port}", client, timedelta(hours=1)):
            waits.set()
            await asyncio.Event().wait()

    task = asyncio.create_task(waiting())
    await waits.wait()
    task.cancel()

    with pytest.raises(asyncio.CancelledError):
        await task
