"""A session whose process is a worker too, for the commands that run what they follow."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta

from perdure.cli.screen import Screen
from perdure.cli.session import Session, said
from perdure.cli.text import one_line
from perdure.client.client import Client
from perdure.worker.logs import Warned
from perdure.worker.parts import Parts
from perdure.worker.server import ensure_server
from perdure.worker.settings import Settings
from perdure.worker.worker import working

GRACE = timedelta(seconds=3)
"""How long running calls may take to hand over when the command that serves them is left."""


@asynccontextmanager
async def serving_runs(settings: Settings, parts: Parts, screen: Screen, queue: str) -> AsyncIterator[Session]:
    """A session with a worker in this process, on the server of the settings or one that is started now.

    ``queue`` is what the worker serves and where runs are started: no other, for its runs may be meant for a process
    with other rules.

    At the end it is said that there were warnings, where, and which was the first.

    Raises ServerUnavailableError, ServerBinaryMissingError, PortInUseError, OperatorError.
    """
    async with said(screen, "Starting a Temporal server …" if settings.address is None else "Connecting …"):
        server = await ensure_server(settings)
    if server.started:
        screen.note(f"Started a Temporal server at {server.address}; its data is in {settings.data_dir}.")
    hasty = settings.model_copy(update={"shutdown_grace": min(settings.shutdown_grace, GRACE)})
    ours, warned = logging.getLogger("perdure"), Warned(parts.secrets)
    ours.addHandler(warned)
    try:
        async with working(hasty, parts, server, queues=(queue,)) as worker:
            client = Client.wrap(worker.client, task_queue=queue)
            yield Session(settings, server, client, worker.client)
    finally:
        server.release()
        ours.removeHandler(warned)
        if warned.count:
            count = "1 warning" if warned.count == 1 else f"{warned.count} warnings"
            screen.note(f"{count} in {settings.log_file}, the first: {one_line(warned.first, 300)}", "alert")
