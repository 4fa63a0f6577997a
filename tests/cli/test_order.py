from __future__ import annotations

import json
import subprocess
from collections.abc import Callable

import pytest

from perdure.providers.scripted import Reply
from perdure.testing.script import asks, says, together
from tests.cli.conftest import Play
from tests.cli.programs import Home
from tests.cli.test_start import failed
from tests.servers import StartWorker, binary, unique

WRITE = asks("write_file", path="out.txt", content="text")
QUESTION = asks("ask_human", question="Which colour?", options=["red", "blue"])

Left = Callable[..., str]


@pytest.fixture
def left(home: Home, play: Play) -> Left:
    """Start a run that waits for a human, and leave it; returns its id. No worker serves it then."""

    def leave(*lines: Reply) -> str:
        run_id = unique("run")
        ended = home.run("run", "Do it", "--model", play(*lines), "--run-id", run_id)
        assert ended.returncode == 4, ended
        return run_id

    return leave


def told(ended: subprocess.CompletedProcess[str], *words: str) -> None:
    """The order was taken, and these words were said."""
    assert ended.returncode == 0, ended
    for word in words:
        assert word in ended.stdout + ended.stderr


def test_what_is_told_to_a_run_that_nobody_serves_is_done_when_a_worker_comes(
    home: Home, left: Left, start_worker: StartWorker
) -> None:
    run_id = left(together(WRITE, QUESTION), says("Done."))

    told(home.run("approve", run_id), "approved t1s1c1 write_file", "No worker serves the run now", "perdure worker")
    start_worker(folder=home.path).until("ready")
    told(home.run("send", run_id, "And mind the gap"), "sent")
    told(home.run("answer", run_id, "blue"), "answered")
    followed = home.run("follow", run_id)

    assert followed.returncode == 0, followed
    assert "  done    t1s1c2 ask_human: blue" in followed.stdout
    assert "> And mind the gap" in followed.stdout
    assert (home.path / "out.txt").read_text() == "text"


def test_each_call_is_decided_by_its_id(home: Home, left: Left, start_worker: StartWorker) -> None:
    other = asks("write_file", path="other.txt", content="text")
    run_id = left(together(WRITE, other), says("Done."))
    start_worker(folder=home.path).until("ready")

    told(home.run("approve", run_id, "t1s1c2", "--reason", "fine"), "approved t1s1c2")
    told(home.run("deny", run_id, "t1s1c1", "--reason", "wrong name"), "denied t1s1c1")
    followed = home.run("follow", run_id)

    assert followed.returncode == 0, followed
    assert "wrong name" in followed.stdout
    assert (home.path / "other.txt").exists()
    assert not (home.path / "out.txt").exists()


def test_an_approval_by_temporals_own_command_is_as_good(
    home: Home, left: Left, start_worker: StartWorker, dev_server: str
) -> None:
    run_id = left(WRITE, says("Done."))
    start_worker(folder=home.path).until("ready")

    signal = ("workflow", "signal", "-w", run_id, "--name", "approve", "--input", '{"call_id": "t1s1c1"}')
    subprocess.run([binary("temporal"), *signal, "--address", dev_server], check=True, capture_output=True, timeout=60)
    followed = home.run("follow", run_id)

    assert followed.returncode == 0, followed
    assert (home.path / "out.txt").read_text() == "text"


def test_orders_that_have_no_effect_are_refused_with_the_reason(home: Home, left: Left) -> None:
    run_id = left(together(WRITE, QUESTION), says("Done."))

    failed(home.run("approve", run_id, "t9s9c9"), 2, "There is no call t9s9c9")
    failed(home.run("deny", run_id, "t1s1c2"), 2, "t1s1c2 waits for an answer")
    failed(home.run("answer", run_id, "green"), 2, "one of: red, blue")
    failed(home.run("answer", run_id, " "), 2, "The answer is empty")
    failed(home.run("send", run_id, ""), 2, "The message is empty")

    assert json.loads(home.run("show", run_id, "--json").stdout)["status"] == "waiting_approval"


@pytest.mark.parametrize(
    "order",
    [
        ["approve"],
        ["deny"],
        ["answer", "text"],
        ["send", "text"],
        ["interrupt"],
        ["close"],
        ["cancel"],
        ["show"],
        ["follow"],
    ],
)
def test_a_run_that_is_not_there_is_said_to_be_missing(home: Home, order: list[str]) -> None:
    name, *rest = order

    failed(home.run(name, "run-nowhere", *rest), 2, "There is no run 'run-nowhere'", "perdure ls")


def test_a_run_that_has_ended_takes_no_orders(home: Home, play: Play) -> None:
    run_id = unique("run")
    assert home.run("run", "Hello", "--model", play(says("Hello.")), "--run-id", run_id).returncode == 0

    failed(home.run("approve", run_id), 2, "has ended")
    failed(home.run("send", run_id, "more"), 2, "has ended")
    failed(home.run("cancel", run_id), 2, "has ended")


def test_a_run_can_be_interrupted_closed_and_canceled(
    home: Home, left: Left, play: Play, start_worker: StartWorker
) -> None:
    first, second = left(WRITE, says("Done.")), left(WRITE, says("Done."))
    start_worker(folder=home.path).until("ready")

    told(home.run("interrupt", first, "--reason", "enough"), "interrupted")
    told(home.run("cancel", second), "asked", "to cancel")

    interrupted = home.run("follow", first)
    canceled = home.run("follow", second)
    assert interrupted.returncode == 1
    assert "error: run" in interrupted.stderr
    assert "has no output: its last turn ended interrupted" in interrupted.stderr
    assert canceled.returncode == 1
    assert f"run {second} is canceled" in canceled.stderr

    third = unique("run")
    assert home.run("run", "Hi", "--model", play(says("Hi.")), "--conversation", "--run-id", third).returncode == 0
    told(home.run("close", third), "closing")
    assert home.run("follow", third).returncode == 0


@pytest.mark.parametrize("order", [["ls"], ["show", "x"], ["approve", "x"], ["send", "x", "text"], ["follow", "x"]])
def test_without_a_server_every_command_says_so_with_3(home: Home, order: list[str]) -> None:
    ended = home.run(*order, PERDURE_ADDRESS="127.0.0.1:1")

    failed(ended, 3, "No Temporal server answers at 127.0.0.1:1")
