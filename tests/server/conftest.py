"""Fixtures for runs on a real server."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from temporalio.client import Client as TemporalClient

from perdure import Client
from tests.server.stage import MORTAL, RESOLVER, TOOLS, Stage, Workers, worker_here
from tests.servers import OwnedProcess, StartWorker


@pytest.fixture
def stage_without_worker(temporal_client: TemporalClient, task_queue: str, tmp_path: Path) -> Stage:
    """A stage whose worker the test brings itself."""
    return Stage(Client.wrap(temporal_client, task_queue=task_queue), temporal_client, tmp_path, task_queue)


@pytest.fixture
async def stage(stage_without_worker: Stage, dev_server: str) -> AsyncIterator[Stage]:
    """A stage with a worker in this process. After each test its runs are compared with their histories."""
    quiet = stage_without_worker
    async with worker_here(dev_server, quiet.task_queue, quiet.folder):
        yield quiet
        await quiet.compare_histories_with_runs()


@pytest.fixture
def lone(stage_without_worker: Stage) -> Stage:
    """The stage of a test that starts and loses its own workers."""
    return stage_without_worker


@pytest.fixture
def worker(start_worker: StartWorker) -> Workers:
    """Starts a worker process of its own, which serves the tools of these tests and those that can kill it."""

    def start() -> OwnedProcess:
        process = start_worker(
            model="demo:demo",
            tools=f"{TOOLS},{MORTAL}:launch",
            resolvers=RESOLVER,
            heartbeat_timeout="3s",
            heartbeat_throttle="50ms",
            log_format="json",
        )
        process.until('"ready"')
        return process

    return start
