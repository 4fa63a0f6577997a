"""Watching whether the Temporal server is still there: the SDK asks a dead one again without end and without a word."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from temporalio.client import Client as TemporalClient
from temporalio.service import RPCError

from perdure.contracts.errors import ServerUnavailableError


@dataclass(frozen=True, slots=True)
class Endurance:
    """How long a server may be away, in seconds: between two looks, until it is said, until it is given up."""

    look: float = 1.5
    notice: float = 4.0
    limit: float = 30.0


async def watch(
    address: str, answers: Callable[[], Awaitable[bool]], say: Callable[[str], None], endurance: Endurance | None = None
) -> None:
    """Look after the server until cancelled. Raises ServerUnavailableError when it stays away."""
    patience = endurance or Endurance()
    seen = time.monotonic()
    said = False
    while True:
        await asyncio.sleep(patience.look)
        if await answers():
            if said:
                say("The Temporal server is there again.")
            seen, said = time.monotonic(), False
            continue
        away = time.monotonic() - seen
        if away > patience.limit:
            raise ServerUnavailableError(address, f"it is gone, and did not come back within {patience.limit:g} s")
        if away > patience.notice and not said:
            left = patience.limit - away
            say(f"The Temporal server is gone: {address} does not answer. Waiting {left:.0f} s for it …")
            said = True


def answering(temporal: TemporalClient, within: float = 2.0) -> Callable[[], Awaitable[bool]]:
    """Asks the server of ``temporal`` whether it is there; ``within`` are seconds."""

    async def asked() -> bool:
        try:
            async with asyncio.timeout(within):
                await temporal.service_client.check_health()
        except (TimeoutError, RPCError, RuntimeError):
            return False
        return True

    return asked
