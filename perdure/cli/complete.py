"""What shells complete: ids from a server that answers at once, agents. A shell must never wait, nor read an error."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from datetime import timedelta
from typing import TypeVar

from perdure.agents.shelf import AgentShelf
from perdure.cli.waiting import waiting_of
from perdure.client.client import Client
from perdure.client.listing import RunListing
from perdure.contracts.approvals import Question
from perdure.contracts.state import State
from perdure.worker.connection import connect
from perdure.worker.folder import DataFolder
from perdure.worker.settings import DEFAULT_PORT, Settings
from perdure.worker.sources import load_settings

PATIENCE = timedelta(seconds=1)
NEWEST = 200

T = TypeVar("T")


def runs(beginning: str, statuses: tuple[str, ...]) -> list[RunListing]:
    """The newest runs whose ids begin so, of these statuses or of any; empty when no server answers soon."""

    async def asked() -> list[RunListing]:
        query = "ExecutionStatus = 'Running'" if statuses else ""
        found = await (await _client()).list(query=query, limit=NEWEST)
        return [run for run in found if run.run_id.startswith(beginning) and (not statuses or run.status in statuses)]

    return _soon(asked(), [])


def calls(run_id: str, beginning: str) -> list[tuple[str, str]]:
    """The calls of the run that wait for approval, each with its tool."""
    state = _state(run_id)
    waiting = waiting_of(state) if state else []
    named = [(each.call_id, each.tool) for each in waiting if not isinstance(each, Question)]
    return [(call_id, tool) for call_id, tool in named if call_id.startswith(beginning)]


def messages(run_id: str, beginning: str) -> list[str]:
    """The messages of the run that wait for delivery."""
    state = _state(run_id)
    return [each.message_id for each in state.inbox if each.message_id.startswith(beginning)] if state else []


def agents(beginning: str) -> list[tuple[str, str]]:
    """The agents whose names begin so, each with what it is for."""
    try:
        found = [file.spec for file in AgentShelf(load_settings().settings.agents).files()]
    except Exception:  # noqa: BLE001 - whatever goes wrong, there is nothing to complete
        return []
    return [(agent.name, agent.description) for agent in found if agent.name.startswith(beginning)]


def _state(run_id: str) -> State | None:
    async def read() -> State | None:
        return (await (await _client()).history(run_id)).state

    return _soon(read(), None)


def _soon(work: Coroutine[object, object, T], otherwise: T) -> T:
    async def bounded() -> T:
        async with asyncio.timeout(PATIENCE.total_seconds()):
            return await work

    try:
        return asyncio.run(bounded())
    except Exception:  # noqa: BLE001 - whatever goes wrong, there is nothing to complete
        return otherwise


async def _client() -> Client:
    settings = load_settings().settings.model_copy(update={"connect_timeout": PATIENCE})
    return Client.wrap(await connect(settings, whereabouts(settings)))


def whereabouts(settings: Settings) -> str:
    """Where a server would be, by the settings and by what the last one of ours left behind. None is started."""
    if settings.address is not None:
        return settings.address
    ours = DataFolder(settings.data_dir).read_whereabouts()
    return ours.address if ours else f"localhost:{settings.port or DEFAULT_PORT}"
