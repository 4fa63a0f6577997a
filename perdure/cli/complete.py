"""What shells complete: the ids of runs, when a server answers at once. A shell must never wait, nor read an error."""

from __future__ import annotations

import asyncio
from datetime import timedelta

from perdure.client.client import Client
from perdure.client.listing import RunListing
from perdure.worker.connection import connect
from perdure.worker.folder import DataFolder
from perdure.worker.settings import DEFAULT_PORT, Settings
from perdure.worker.sources import load_settings

PATIENCE = timedelta(seconds=1)
NEWEST = 200


def run_ids(beginning: str) -> list[RunListing]:
    """The newest runs whose ids begin so; empty when no server answers within `PATIENCE`, whatever the reason."""
    try:
        return [run for run in asyncio.run(_newest()) if run.run_id.startswith(beginning)]
    except Exception:  # noqa: BLE001 - whatever goes wrong, there is nothing to complete
        return []


async def _newest() -> tuple[RunListing, ...]:
    settings = load_settings().settings.model_copy(update={"connect_timeout": PATIENCE})
    async with asyncio.timeout(PATIENCE.total_seconds()):
        client = await connect(settings, whereabouts(settings))
        return await Client.wrap(client).list(limit=NEWEST)


def whereabouts(settings: Settings) -> str:
    """Where a server would be, by the settings and by what the last one of ours left behind. None is started."""
    if settings.address is not None:
        return settings.address
    ours = DataFolder(settings.data_dir).read_whereabouts()
    return ours.address if ours else f"localhost:{settings.port or DEFAULT_PORT}"
