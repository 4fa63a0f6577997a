"""The worker: all rooms put together on one task queue, and running it until it is told to end."""

from __future__ import annotations

import asyncio
import getpass
import os
import signal
from collections.abc import AsyncIterator, Iterable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from types import FrameType

import structlog
from temporalio.client import Client
from temporalio.worker import Worker
from temporalio.worker.workflow_sandbox import SandboxedWorkflowRunner, SandboxRestrictions

from perdure.activities.agents import AgentActivities
from perdure.activities.authorize import AuthorizeActivity
from perdure.activities.embeddings import EmbeddingActivities
from perdure.activities.grants import GrantBooks
from perdure.activities.media import MediaActivities
from perdure.activities.model import ModelActivities
from perdure.activities.notify import NotifyActivity
from perdure.activities.objects import ObjectActivities
from perdure.activities.recall import RecallActivity
from perdure.activities.tools import tool_activities
from perdure.activities.transcripts import RunQuery, TranscriptCache
from perdure.contracts.errors import OperatorError
from perdure.contracts.names import GRANTS_QUEUE
from perdure.worker.connection import connect, unconnected
from perdure.worker.parts import Parts, control_paths, gather_parts, hooks_of, named_models
from perdure.worker.running import running
from perdure.worker.server import Server, serving
from perdure.worker.settings import Settings
from perdure.worker.setup import ensure_search_attributes
from perdure.workflows.grants import GrantBook
from perdure.workflows.run import AgentRun

STICKY_TIMEOUT = timedelta(seconds=1)
"""How long the server waits for the worker that has a run in memory before it asks another one. The SDK's own 10 s are
added to every query, update, signal and failure after a worker was killed."""

PURE_ROOMS = ("perdure.contracts", "perdure.brain")
"""Imported once for all runs. Inside the sandbox every run would import them anew, and replay takes three times as
long; they hold no state and know neither clock nor chance, so there is nothing to keep apart."""

log = structlog.get_logger(__name__)


def sandbox() -> SandboxedWorkflowRunner:
    """What runs the workflow code: the SDK's sandbox, with the pure rooms passed through."""
    return SandboxedWorkflowRunner(restrictions=SandboxRestrictions.default.with_passthrough_modules(*PURE_ROOMS))


def build_worker(
    client: Client, settings: Settings, parts: Parts, *, search_attributes: bool, task_queue: str | None = None
) -> Worker:
    """A worker of everything, not running yet. ``search_attributes``: whether the server knows ours.

    ``task_queue`` is what it serves, by default that of the settings.
    """
    hooks = hooks_of(settings, os.environ)
    books = GrantBooks(client)
    agents = AgentActivities(
        parts.shelf,
        parts.toolbox,
        parts.providers,
        models=named_models(settings, parts.choice),
        workspace=settings.workspace,
        limits=settings.limits,
        patience=settings.patience,
        house_policy=settings.policy,
        search_attributes=search_attributes,
        notifications=bool(hooks),
    )
    transcripts = TranscriptCache(RunQuery(client), max_bytes=settings.transcript_cache)
    authority = AuthorizeActivity(
        home=Path.home(),
        user=user_name(),
        control_paths=control_paths(settings),
        resolvers=parts.resolvers,
        grants=books,
    )
    media = MediaActivities(parts.providers, settings.workspace)
    return Worker(
        client,
        task_queue=task_queue or settings.task_queue,
        workflows=[AgentRun],
        workflow_runner=sandbox(),
        activities=[
            agents.resolve_agent,
            ModelActivities(parts.providers, transcripts, parts.model_hooks).call_model,
            authority.authorize,
            RecallActivity(client).recall,
            books.remember_grant,
            NotifyActivity(hooks).notify,
            ObjectActivities(parts.providers).generate_object,
            EmbeddingActivities(parts.providers).embed,
            media.generate_image,
            media.generate_speech,
            media.transcribe,
            media.generate_video,
            *tool_activities(parts.toolbox, parts.secrets),
        ],
        max_cached_workflows=settings.cached_runs,
        max_concurrent_workflow_tasks=settings.concurrent_workflow_tasks,
        max_concurrent_activities=settings.concurrent_activities,
        max_concurrent_local_activities=settings.concurrent_activities,
        sticky_queue_schedule_to_start_timeout=STICKY_TIMEOUT,
        max_heartbeat_throttle_interval=settings.heartbeat_throttle,
        default_heartbeat_throttle_interval=settings.heartbeat_throttle,
        graceful_shutdown_timeout=settings.shutdown_grace,
    )


def user_name() -> str:
    """The user that tools run as; empty in a container that knows no name for it."""
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return ""


@dataclass(frozen=True, slots=True)
class Working:
    """A worker that runs, with the server and the client that it uses."""

    server: Server
    client: Client
    parts: Parts


@asynccontextmanager
async def working(
    settings: Settings, parts: Parts, server: Server, *, queues: Iterable[str] = ()
) -> AsyncIterator[Working]:
    """Run a worker on ``server`` for the time of a block; at its end calls get ``shutdown_grace`` to finish.

    ``queues`` are the task queues to serve, by default that of the settings. Grants of agents and users are served too.

    Raises ServerUnavailableError or OperatorError when the server does not let it work. ``parts`` are used up: their
    providers are closed.
    """

    def failed(error: Exception) -> OperatorError:
        return unconnected(str(error), server.address, settings.namespace)

    try:
        client = await connect(settings, server.address)
        known = await knows_search_attributes(client, settings.namespace)
        workers = [
            build_worker(client, settings, parts, search_attributes=known, task_queue=task_queue)
            for task_queue in dict.fromkeys(queues or (settings.task_queue,))
        ]
        workers.append(
            Worker(
                client,
                task_queue=GRANTS_QUEUE,
                workflows=[GrantBook],
                workflow_runner=sandbox(),
                sticky_queue_schedule_to_start_timeout=STICKY_TIMEOUT,
            )
        )
        async with running(workers, grace=settings.shutdown_grace, failed=failed):
            yield Working(server, client, parts)
    finally:
        await parts.providers.close()


async def knows_search_attributes(client: Client, namespace: str) -> bool:
    """Whether the namespace has our search attributes, created now if we may. Without them runs work, unlabelled."""
    try:
        created = await ensure_search_attributes(client, namespace)
    except OperatorError as error:
        log.warning("search attributes are missing: runs cannot be found by status", reason=str(error))
        return False
    if created:
        log.info("search attributes created", namespace=namespace, names=created)
    return True


async def run_worker(
    settings: Settings, environ: Mapping[str, str] = os.environ, *, further_queues: tuple[str, ...] = ()
) -> None:
    """Serve runs until SIGINT or SIGTERM, then let running calls finish within ``shutdown_grace``.

    ``further_queues`` are served beside the task queue of the settings, with the same tools.

    A second signal ends the process at once. Uses the configured server, or shares or starts one on this machine, which
    ends with its last user. Raises CallerError and OperatorError for what a person has to mend before it can run.
    """
    parts = await gather_parts(settings, environ)
    for problem in parts.shelf.problems:
        log.warning("agent file", problem=str(problem))
    queues = (settings.task_queue, *further_queues)
    async with serving(settings) as server, working(settings, parts, server, queues=queues):
        stop = stop_signal()
        log.info(
            "ready",
            address=server.address,
            namespace=settings.namespace,
            task_queues=list(dict.fromkeys(queues)),
            ui=server.ui_url,
            model=parts.choice.model,
            chosen=parts.choice.why,
            tools=parts.toolbox.names,
        )
        await stop.wait()
        log.info("ending: a second signal ends at once", grace=settings.shutdown_grace.total_seconds())


def stop_signal() -> asyncio.Event:
    """An event that the first SIGINT or SIGTERM sets. From then on the signals do what they do by default: end us."""
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    numbers = (signal.SIGINT, signal.SIGTERM)

    def on_signal(number: int, frame: FrameType | None) -> None:
        # Not through the loop: a tool that holds it up would leave no way to end us but kill -9.
        for each in numbers:
            signal.signal(each, signal.SIG_DFL)
        loop.call_soon_threadsafe(stop.set)

    for number in numbers:
        signal.signal(number, on_signal)
    return stop
