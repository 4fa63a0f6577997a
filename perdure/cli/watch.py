"""Watching whether the Temporal server is still there: the SDK asks a dead one again without end and without a word."""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import timedelta

from temporalio.client import Client as TemporalClient
from temporalio.service import RPCError

from perdure.contracts.errors import ServerUnavailableError

LOOK_WITHIN = 2.0
"""Seconds that a server may take to say that it is there."""


@dataclass(frozen=True, slots=True)
class Endurance:
    """How long a server may be away, in seconds: between two looks, until it is said, until it is given up.

    A look may take 2 s more, and what then still runs 7 s: a run that is followed ends within 30 s.
    """

    look: float = 1.5
    notice: float = 4.0
    limit: float = 20.0


async def watch(
    address: str, answers: Callable[[], Awaitable[bool]], say: Callable[[str], None], endurance: Endurance | None = None
) -> None:
    """Look after the server until cancelled. Raises ServerUnavailableError when it stays away."""
    patience = endurance or Endurance()
    gone: float | None = None
    said = False
    while True:
        left = patience.limit if gone is None else gone + patience.limit - time.monotonic()
        await asyncio.sleep(max(0.0, min(patience.look, left)))
        looked = time.monotonic()
        if await answers():
            if said:
                say("The Temporal server is there again.")
            gone, said = None, False
            continue
        # Counted from the look that failed first: a program that holds the event loop up keeps us from looking.
        gone = looked if gone is None else gone
        away = time.monotonic() - gone
        if away >= patience.limit:
            raise ServerUnavailableError(address, f"no answer for {patience.limit:g} s")
        if away >= patience.notice and not said:
            left = patience.limit - away
            say(f"The Temporal server is gone: {address} does not answer. Waiting {left:.0f} s for it …")
            said = True


def answering(temporal: TemporalClient, within: float = LOOK_WITHIN) -> Callable[[], Awaitable[bool]]:
    """Asks the server of ``temporal`` whether it is there; ``within`` are seconds."""

    async def asked() -> bool:
        try:
            async with asyncio.timeout(within):
                await temporal.service_client.check_health()
        except (TimeoutError, RPCError, RuntimeError):
            return False
        return True

    return asked


@asynccontextmanager
async def bounded(address: str, temporal: TemporalClient, silence: timedelta) -> AsyncIterator[None]:
    """Let the server be silent for so long at most while the block asks something of it, which may itself take longer.

    Raises ServerUnavailableError, for which the block is cancelled.
    """
    block = asyncio.current_task()
    assert block is not None, "a server is watched beside a task"
    limit = silence.total_seconds()
    endurance = Endurance(look=min(Endurance().look, limit), notice=math.inf, limit=limit)
    gone: list[ServerUnavailableError] = []

    async def look_after() -> None:
        try:
            await watch(address, answering(temporal, min(LOOK_WITHIN, limit)), lambda line: None, endurance)
        except ServerUnavailableError as error:
            gone.append(error)
            block.cancel()

    looking = asyncio.create_task(look_after())
    try:
        yield
    except asyncio.CancelledError:
        if not gone:
            raise
        block.uncancel()
        raise gone[0] from None
    finally:
        looking.cancel()
