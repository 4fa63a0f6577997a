"""Serving runs, and preparing a namespace for them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from perdure.cli.lines import Span
from perdure.cli.screen import Screen
from perdure.cli.session import read_settings, said
from perdure.worker.connection import connect
from perdure.worker.logs import configure_logging
from perdure.worker.queues import own_queue
from perdure.worker.server import ensure_server
from perdure.worker.setup import ensure_retention, ensure_search_attributes
from perdure.worker.sources import load_settings
from perdure.worker.worker import run_worker


async def serve(tools: Sequence[str], given: Mapping[str, object]) -> int:
    """Run a worker until a signal: for runs that bring these ``tools`` as well as for all others.

    Raises CallerError and OperatorError for what must be mended first.
    """
    loaded = load_settings(given)
    configure_logging(loaded.settings, loaded.environ)
    screen = Screen()
    for warning in loaded.warnings:
        screen.note(f"warning: {warning}", "alert")
    further = tuple(path for path in tools if path not in loaded.settings.tools)
    settings = loaded.settings.model_copy(update={"tools": (*loaded.settings.tools, *further)})
    await run_worker(settings, loaded.environ, further_queues=(own_queue(loaded.settings), own_queue(settings)))
    return 0


async def set_up(retention: str | None) -> int:
    """Create our search attributes and set how long closed runs are kept. Raises OperatorError."""
    screen = Screen()
    settings = read_settings(screen, {"retention": retention}).settings
    async with said(screen, "Looking for the Temporal server …"):
        server = await ensure_server(settings)
    try:
        client = await connect(settings, server.address)
        created = await ensure_search_attributes(client, settings.namespace)
        changed = await ensure_retention(client, settings.namespace, settings.retention)
    finally:
        server.release()
    attributes = f"created {', '.join(created)}" if created else "there already"
    days = settings.retention.total_seconds() / 86_400
    kept = f"closed runs are kept for {days:g} days{'' if changed else ', as before'}"
    screen.write(
        (Span(f"namespace {settings.namespace} at {server.address}: search attributes {attributes}; {kept}\n"),)
    )
    return 0
