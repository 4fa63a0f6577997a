"""The worker as a whole, on a real server: it serves runs, ends when told to, and says what keeps it from starting."""

from __future__ import annotations

import json
import signal
from pathlib import Path

from temporalio.client import Client
from temporalio.common import SearchAttributeKey
from temporalio.worker import Worker

from perdure.activities.redaction import HIDDEN
from perdure.contracts.agent import AgentSpec, ToolPolicy
from perdure.contracts.names import AGENT_RUN, STATUS_ATTRIBUTE
from perdure.contracts.requests import RunRequest
from perdure.contracts.state import RunOutput
from perdure.providers.gate import Gate
from perdure.testing.script import asks, held, save, says, script
from perdure.worker.worker import sandbox
from tests.servers import StartWorker, eventually, recorded, unique
from tests.worker.sandboxed import Shared, identities

CANARY = "canary-61d0f2bb"


async def start(client: Client, task_queue: str, request: RunRequest) -> str:
    """Start a run as any Temporal client does; return its id."""
    run_id = unique("run")
    await client.start_workflow(AGENT_RUN, request, id=run_id, task_queue=task_queue)
    return run_id


async def output(client: Client, run_id: str) -> RunOutput:
    result: RunOutput = await client.get_workflow_handle(run_id, result_type=RunOutput).result()
    return result


async def test_a_run_goes_through_every_room(
    temporal_client: Client, start_worker: StartWorker, task_queue: str, tmp_path: Path
) -> None:
    (tmp_path / "notes.txt").write_text("the sea is blue")
    (tmp_path / "colours.py").write_text(
        'def mix(first: str, second: str) -> str:\n    """Mix."""\n    return "green"\n'
    )
    model = save(
        script(asks("read_file", path="notes.txt"), asks("mix", first="blue", second="yellow"), says("Blue.")),
        tmp_path / "script.json",
    )
    worker = start_worker(model=model, tools="colours.py")
    run_id = await start(temporal_client, task_queue, RunRequest(message="What colour?", mode="auto"))
    result = await output(temporal_client, run_id)
    assert (result.status, result.output, result.steps) == ("completed", "Blue.", 3)

    described = await temporal_client.get_workflow_handle(run_id).describe()
    assert described.typed_search_attributes.get(SearchAttributeKey.for_keyword(STATUS_ATTRIBUTE)) == "completed"
    ready = json.loads(worker.until('"ready"'))
    assert ready["task_queues"] == [task_queue]
    assert {"read_file", "mix"} <= set(ready["tools"])


async def test_a_run_goes_on_after_the_worker_was_killed(
    temporal_client: Client, start_worker: StartWorker, task_queue: str, tmp_path: Path
) -> None:
    (tmp_path / "notes.txt").write_text("one")
    gate = Gate(tmp_path / "gate")
    model = save(script(asks("read_file", path="notes.txt"), held(says("Done."), gate.path)), tmp_path / "script.json")
    first = start_worker(model=model, heartbeat_timeout="1s")
    run_id = await start(temporal_client, task_queue, RunRequest(message="Go"))
    await eventually(lambda: gate.occupied)
    first.kill()
    gate.open()
    start_worker(model=model, heartbeat_timeout="1s")
    assert (await output(temporal_client, run_id)).output == "Done."


async def test_a_key_of_the_dotenv_file_does_not_come_out_of_a_tool(
    temporal_client: Client, start_worker: StartWorker, task_queue: str, tmp_path: Path
) -> None:
    (tmp_path / ".env").write_text(f"SOME_API_KEY={CANARY}\n")
    (tmp_path / "leaks.py").write_text('def leak() -> str:\n    """Leak."""\n    return open(".env").read()\n')
    model = save(script(asks("leak"), says("Done.")), tmp_path / "script.json")
    start_worker(model=model, tools="leaks.py")
    policy = (ToolPolicy(tool="leak", word="allow"),)
    agent = AgentSpec(name="leaky", prompt="Leak.", policy=policy)
    run_id = await start(temporal_client, task_queue, RunRequest(message="Go", agent=agent))
    assert (await output(temporal_client, run_id)).output == "Done."
    history = await recorded(temporal_client, run_id)
    assert f"SOME_API_KEY={HIDDEN}".encode() in history
    assert CANARY.encode() not in history


async def test_a_worker_that_is_told_to_end_ends_cleanly(start_worker: StartWorker, tmp_path: Path) -> None:
    worker = start_worker(model=save(script(says("x")), tmp_path / "script.json"))
    worker.until('"ready"')
    assert worker.stop() == 0
    assert "ending" in worker.output


async def test_a_second_signal_ends_a_worker_at_once(
    temporal_client: Client, start_worker: StartWorker, task_queue: str, tmp_path: Path
) -> None:
    gate = Gate(tmp_path / "gate")
    model = save(script(held(says("Never."), gate.path)), tmp_path / "script.json")
    worker = start_worker(model=model, shutdown_grace="1h")
    await start(temporal_client, task_queue, RunRequest(message="Wait"))
    await eventually(lambda: gate.occupied)
    worker.signal(signal.SIGINT)
    worker.until("ending")
    worker.signal(signal.SIGINT)
    assert worker.wait() == -signal.SIGINT


async def test_the_native_core_logs_in_the_same_form(
    temporal_client: Client, start_worker: StartWorker, task_queue: str
) -> None:
    worker = start_worker(model="demo:demo")
    handle = await temporal_client.start_workflow("NoSuchWorkflow", id=unique("run"), task_queue=task_queue)
    line = json.loads(worker.until("Failing workflow task"))
    assert (line["logger"], line["level"]) == ("temporalio.core", "warning")
    assert "NoSuchWorkflow" in line["failure"]
    await handle.terminate()


async def test_the_pure_rooms_are_shared_with_the_sandbox_and_workflows_are_not(
    temporal_client: Client, task_queue: str
) -> None:
    async with Worker(temporal_client, task_queue=task_queue, workflows=[Shared], workflow_runner=sandbox()):
        inside = await temporal_client.execute_workflow(Shared.run, id=unique(), task_queue=task_queue)
    same = {room for room, identity in identities().items() if inside[room] == identity}
    assert same == {"contracts", "brain"}
