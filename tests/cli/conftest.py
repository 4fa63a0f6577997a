"""What the tests of the command line share."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from perdure.providers.catalogue import LOCAL_PROVIDERS
from perdure.providers.scripted import Reply, ScriptedFailure
from perdure.testing.script import save, script
from tests.cli.programs import Home, Terminal, until
from tests.servers import DEADLINE, binary, free_port, unique

AtTerminal = Callable[..., Terminal]
Play = Callable[..., str]
Left = Callable[..., str]
Untaken = Callable[..., str]
Serve = Callable[[], Terminal]


@pytest.fixture
def home(tmp_path: Path, dev_server: str, task_queue: str) -> Home:
    """A home whose settings name the session's server and a task queue of the test's own."""
    return Home(tmp_path, {"PERDURE_ADDRESS": dev_server, "PERDURE_TASK_QUEUE": task_queue})


@pytest.fixture
def play(tmp_path: Path) -> Play:
    """Write a script of a model's replies; returns the name of the model that plays it."""

    def write(*lines: Reply | ScriptedFailure) -> str:
        return save(script(*lines), tmp_path / f"{unique('script')}.json")

    return write


@pytest.fixture
def left(home: Home, play: Play) -> Left:
    """Start a run that waits for a human, and leave it; returns its id. No worker serves it then.

    ``agent`` names an agent of the test's own, for tests that list runs: other tests' runs are on the same server.
    """

    def leave(*lines: Reply, agent: str = "", options: tuple[str, ...] = ()) -> str:
        run_id = unique("run")
        if agent:
            (home.path / f"{agent}.md").write_text("You help.\n")
            options = (*options, "--agent", f"{agent}.md")
        ended = home.run("run", "Do it", "--model", play(*lines), "--run-id", run_id, *options)
        assert ended.returncode == 4, ended
        if agent:
            until(lambda: home.lists(run_id, "--status", "waiting"))
        return run_id

    return leave


@pytest.fixture
def untaken(home: Home, dev_server: str, task_queue: str) -> Untaken:
    """Start a run that no worker has taken up, from this input in JSON; returns its id."""

    def start(given: str = '"Hello"') -> str:
        run_id = unique("run")
        run = ("workflow", "start", "--type", "AgentRun", "-w", run_id, "--task-queue", task_queue, "--input", given)
        command = [binary("temporal"), *run, "--address", dev_server]
        subprocess.run(command, check=True, capture_output=True, timeout=DEADLINE)
        until(lambda: home.lists(run_id))
        return run_id

    return start


@pytest.fixture
def serve(at_terminal: AtTerminal) -> Serve:
    """Start a worker that serves the test's runs; it has begun when this returns."""

    def start() -> Terminal:
        worker = at_terminal("worker", "--model", "demo:demo")
        worker.until("ready")
        return worker

    return start


@pytest.fixture
def alone(tmp_path: Path) -> Home:
    """A home on a machine without a model server: whatever listens at their ports is not the test's affair."""
    nowhere = {name: {"base_url": f"http://127.0.0.1:{free_port()}/v1"} for name in LOCAL_PROVIDERS}
    return Home(tmp_path, {"PERDURE_PROVIDERS": json.dumps(nowhere)})


@pytest.fixture
def lonely(tmp_path: Path) -> Home:
    """A home on a machine without a Temporal server."""
    data = {"PERDURE_DATA_DIR": str(tmp_path / "data"), "PERDURE_PORT": str(free_port()), "PERDURE_UI": "false"}
    return Home(tmp_path, data)


@pytest.fixture
def at_terminal(home: Home) -> Iterator[AtTerminal]:
    """Start ``perdure`` at a terminal; it is ended after the test."""
    opened: list[Terminal] = []

    def start(*arguments: str, **changes: str) -> Terminal:
        opened.append(Terminal(home, *arguments, **changes))
        return opened[-1]

    yield start
    for terminal in opened:
        terminal.close()
