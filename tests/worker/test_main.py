"""``python -m perdure.worker``: its exit status, and what a person reads."""

from __future__ import annotations

from pathlib import Path

import pytest

from perdure.testing.script import save, says, script
from tests.servers import StartWorker, free_port


def test_a_variable_that_is_no_setting_is_warned_of(start_worker: StartWorker, tmp_path: Path) -> None:
    worker = start_worker(model=save(script(says("x")), tmp_path / "script.json"), modle="x")
    assert "Did you mean PERDURE_MODEL?" in worker.until("PERDURE_MODLE")
    worker.until('"ready"')


@pytest.mark.parametrize(
    ("settings", "status", "said"),
    [
        ({"port": "many"}, 2, "error: PERDURE_PORT in the environment is 'many': expected a port number"),
        ({"model": "openai:gpt-5-mini"}, 3, "error: The provider 'openai' needs a key: set OPENAI_API_KEY."),
        ({"address": f"127.0.0.1:{free_port()}"}, 3, "error: No Temporal server answers at 127.0.0.1:"),
    ],
)
def test_what_keeps_a_worker_from_starting_is_said_in_one_line(
    start_worker: StartWorker, settings: dict[str, str], status: int, said: str
) -> None:
    worker = start_worker(**{"model": "demo:demo", **settings})
    assert worker.wait() == status
    assert said in worker.output
    assert len(worker.lines) == 1
