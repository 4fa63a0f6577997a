"""Fixtures for runs on a real server."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from temporalio.client import Client as TemporalClient

from perdure import Client
from tests.server.stage import Stage, worker_here


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
