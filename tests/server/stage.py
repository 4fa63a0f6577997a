"""A stage for runs: a real server, a real worker in this process, a scripted model, and a client."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import Any

from temporalio.client import Client as TemporalClient

from perdure import Client, RunRequest
from perdure.brain.views import summary as summary_of
from perdure.contracts.events import AnyEvent, RequestOpened, TurnEnded
from perdure.contracts.messages import ToolMessage
from perdure.contracts.names import SUMMARY, TRANSCRIPT
from perdure.contracts.state import RunSummary, TranscriptPage
from perdure.providers.scripted import Script
from perdure.testing.script import save
from perdure.worker.converter import data_converter
from perdure.worker.parts import gather_parts
from perdure.worker.server import Server
from perdure.worker.settings import Settings
from perdure.worker.worker import working
from tests.servers import OwnedProcess, unique

TOOLS = str(Path(__file__).parent / "tools.py")
MORTAL = str(Path(__file__).parent / "mortal.py")
RESOLVER = f"{MORTAL}:ask_first"

Workers = Callable[[], OwnedProcess]
"""Each call starts a worker process."""


@dataclass(frozen=True, slots=True)
class Stage:
    """Where runs of one test play: ``client`` to tell them things, ``folder`` as their workspace."""

    client: Client
    temporal: TemporalClient
    folder: Path
    task_queue: str
    started: list[str] = field(default_factory=list)

    @classmethod
    async def on(cls, address: str, folder: Path) -> Stage:
        """A stage on the server at that address, with a task queue of its own."""
        temporal, task_queue = await TemporalClient.connect(address, data_converter=data_converter()), unique("queue")
        return cls(Client.wrap(temporal, task_queue=task_queue), temporal, folder, task_queue)

    def model(self, played: Script) -> str:
        """The name of a model that plays the script, in any process."""
        return save(played, self.folder / f"{unique('script')}.json")

    async def start(self, played: Script, message: str = "Do it.", *, run_id: str | None = None, **wishes: Any) -> str:
        """Start a run whose model plays the script."""
        request = RunRequest(message=message, model=self.model(played), workspace=str(self.folder), **wishes)
        chosen = await self.client.start(request, run_id=run_id)
        self.started.append(chosen)
        return chosen

    async def compare_histories_with_runs(self) -> None:
        """Check that each run has the state that the projection of its history says, to the byte of its transcript."""
        for run_id in dict.fromkeys(self.started):
            handle = self.temporal.get_workflow_handle(run_id)
            page = await handle.query(TRANSCRIPT, result_type=TranscriptPage)
            summary = await handle.query(SUMMARY, result_type=RunSummary)
            state = (await self.client.history(run_id)).state
            assert state is not None
            assert (state.digest, summary_of(state)) == (page.digest, summary)

    async def until(self, run_id: str, seen: Callable[[AnyEvent], bool]) -> AnyEvent:
        """The first event of the run of which ``seen`` holds."""
        async for event in self.client.events(run_id):
            if seen(event):
                return event
        raise AssertionError(f"run {run_id} ended before that happened")

    async def until_kind(self, run_id: str, kind: str) -> AnyEvent:
        """The first event of that kind."""
        return await self.until(run_id, lambda event: event.kind == kind)

    async def until_asked(self, run_id: str, message_id: str) -> RequestOpened:
        """The request about calls of that message, once it is open."""
        event = await self.until(
            run_id, lambda event: event.kind == "request_opened" and event.request.message_id == message_id
        )
        assert isinstance(event, RequestOpened)
        return event

    async def until_turn_ended(self, run_id: str, turn: int = 1) -> TurnEnded:
        """The end of that turn."""
        event = await self.until(run_id, lambda event: event.kind == "turn_ended" and event.turn == turn)
        assert isinstance(event, TurnEnded)
        return event

    async def results(self, run_id: str) -> list[ToolMessage]:
        """The results of the run's calls, in the order in which the model sees them."""
        return [message for message in await self.client.transcript(run_id) if isinstance(message, ToolMessage)]


def stage_settings(address: str, task_queue: str, folder: Path, **settings: Any) -> Settings:
    """Settings for a worker on the stage: short throttle, the tools of `tests.server.tools`, nothing of the user's.

    A worker in this process dies only with the test, so a machine that holds its breath must not make it look dead.
    """
    given = {
        "address": address,
        "task_queue": task_queue,
        "workspace": folder,
        "data_dir": folder / "data",
        "agents": (),
        "tools": (TOOLS,),
        "model": "demo:demo",
        "heartbeat_throttle": timedelta(milliseconds=50),
        "heartbeat_timeout": timedelta(seconds=30),
        "shutdown_grace": timedelta(milliseconds=100),
    }
    return Settings(**{**given, **settings})


@asynccontextmanager
async def worker_here(
    address: str, task_queue: str, folder: Path, *, environ: Mapping[str, str] | None = None, **settings: Any
) -> AsyncIterator[None]:
    """A worker in this process for the time of the block. It sees no other environment than ``environ``."""
    made = stage_settings(address, task_queue, folder, **settings)
    parts = await gather_parts(made, environ or {})
    async with working(made, parts, Server(address=address, ui_url=None)):
        yield
