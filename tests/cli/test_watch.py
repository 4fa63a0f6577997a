from __future__ import annotations

import asyncio

import pytest

from perdure.cli.watch import Endurance, watch
from perdure.contracts.errors import ServerUnavailableError

BRIEF = Endurance(look=0.001, notice=0.005, limit=0.05)


async def test_a_server_that_stays_away_is_said_to_be_gone_and_then_given_up() -> None:
    said: list[str] = []

    async def answers() -> bool:
        return False

    with pytest.raises(ServerUnavailableError, match=r"gone.*did not come back within 0.05 s"):
        await watch("localhost:7233", answers, said.append, BRIEF)
    (line,) = said
    assert line.startswith("The Temporal server is gone: localhost:7233 does not answer")


async def test_a_server_that_comes_back_is_said_to_be_there_again() -> None:
    said: list[str] = []
    back = asyncio.Event()

    async def answers() -> bool:
        return len(said) == 1

    def say(line: str) -> None:
        said.append(line)
        if len(said) == 2:
            back.set()

    watching = asyncio.create_task(watch("localhost:7233", answers, say, Endurance(look=0.001, notice=0.005, limit=60)))
    await back.wait()
    watching.cancel()

    assert said[1] == "The Temporal server is there again."
