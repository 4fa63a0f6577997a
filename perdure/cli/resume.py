"""Following a run that exists: from its beginning, with a worker in this process where nobody else may serve it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass

from perdure.cli.attend import Conduct
from perdure.cli.hints import who_serves
from perdure.cli.hosting import serving_runs
from perdure.cli.screen import Screen
from perdure.cli.session import Session, actor, found, read_settings
from perdure.cli.start import followed
from perdure.cli.streams import take_output
from perdure.worker.parts import gather_parts
from perdure.worker.queues import own_queue
from perdure.worker.sources import Loaded


@dataclass(frozen=True, slots=True)
class FollowOptions:
    """What ``perdure follow`` was asked for. ``serve`` None: a worker runs here unless a server was configured."""

    run_id: str
    tools: tuple[str, ...] = ()
    serve: bool | None = None
    yes: bool = False
    as_json: bool = False


async def follow_run(options: FollowOptions) -> int:
    """Follow the run to its end, or as far as it can be, and return the exit code."""
    screen = Screen(take_output()) if options.as_json else Screen()
    loaded = read_settings(screen)
    tools = tuple(path for path in options.tools if path not in loaded.settings.tools)
    async with _session(options, tools, loaded, screen) as session:
        conduct = Conduct(actor(), yes=options.yes, as_json=options.as_json, tools=tools)
        return await followed(session, options.run_id, screen, conduct)


@asynccontextmanager
async def _session(
    options: FollowOptions, tools: tuple[str, ...], loaded: Loaded, screen: Screen
) -> AsyncIterator[Session]:
    settings = loaded.settings.model_copy(update={"tools": (*loaded.settings.tools, *tools)})
    async with found(settings, screen) as session:
        async with session.answered():
            closed = (await session.client.history(options.run_id)).closed
            described = await session.temporal.get_workflow_handle(options.run_id).describe()
        serve = settings.address is None if options.serve is None else options.serve
        if closed or not serve:
            yield session
            return
        if described.task_queue not in (settings.task_queue, own_queue(settings)):
            screen.note(who_serves(options.run_id, described.task_queue), "alert")
            yield session
            return
        parts = await gather_parts(settings, loaded.environ)
        async with serving_runs(settings, parts, screen, described.task_queue) as serving:
            yield serving
