"""What a model call asks of its own run: each message once, in real runs, whatever the messages hold."""

from __future__ import annotations

from pathlib import Path

from temporalio.worker import Worker

from perdure.activities.agents import AgentActivities
from perdure.activities.authorize import AuthorizeActivity
from perdure.activities.builtin import builtin_tools
from perdure.activities.model import ModelActivities
from perdure.activities.toolbox import Toolbox
from perdure.activities.tools import tool_activities
from perdure.activities.transcripts import RunQuery, TranscriptCache
from perdure.agents.models import NamedModels
from perdure.agents.shelf import AgentShelf
from perdure.contracts.activities import ModelCall
from perdure.contracts.messages import FilePart, ImagePart, UserPart
from perdure.contracts.requests import RunRequest
from perdure.contracts.state import TranscriptPage
from perdure.providers.catalogue import ProviderSettings
from perdure.providers.registry import ProviderRegistry
from perdure.testing.script import asks, says, script
from perdure.worker.worker import sandbox
from perdure.workflows.run import AgentRun
from tests.server.stage import Stage

ATTACHMENTS: tuple[UserPart, ...] = (
    ImagePart(data=bytes(range(256))),
    FilePart(name="ü.bin", data=b"\xff\xfe\x00?>"),
)


class Counted:
    """Asks the run, and remembers from where on."""

    def __init__(self, source: RunQuery) -> None:
        self._source = source
        self.asked: list[int] = []

    async def page(self, call: ModelCall, start: int) -> TranscriptPage:
        self.asked.append(start)
        return await self._source.page(call, start)


async def test_a_worker_asks_a_run_for_each_message_once(stage_without_worker: Stage, tmp_path: Path) -> None:
    stage = stage_without_worker
    (tmp_path / "note.txt").write_text('Ünïcode \u2028 "quoted"\n', encoding="utf-8")
    toolbox, providers = Toolbox(builtin_tools()), ProviderRegistry(ProviderSettings(), {})
    counted = Counted(RunQuery(stage.temporal))
    agents = AgentActivities(
        AgentShelf(), toolbox, providers, models=NamedModels("demo:demo"), workspace=tmp_path, search_attributes=False
    )
    model = stage.model(
        script(
            asks("read_file", path="note.txt"),
            asks("list_dir", path="."),
            asks("read_file", path="note.txt", start_line=1),
            asks("no_such_tool", factor=1.50, count=10**15, tiny=1e-7),
            says("Done."),
        )
    )
    async with Worker(
        stage.temporal,
        task_queue=stage.task_queue,
        workflows=[AgentRun],
        workflow_runner=sandbox(),
        activities=[
            agents.resolve_agent,
            ModelActivities(providers, TranscriptCache(counted)).call_model,
            AuthorizeActivity(home=tmp_path).authorize,
            *tool_activities(toolbox),
        ],
    ):
        request = RunRequest(message="Do it.", attachments=ATTACHMENTS, model=model, workspace=str(tmp_path))
        output = await stage.client.output(await stage.client.start(request))
    assert output.output == "Done."
    # One user message, then a reply, which the worker has itself, and its result, for which it asks.
    assert counted.asked == [0, 2, 4, 6, 8]
