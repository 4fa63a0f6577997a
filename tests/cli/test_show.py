from __future__ import annotations

import json
import subprocess

from perdure.testing.script import asks, fails, says, together
from tests.cli.conftest import Left, Play, Serve, Untaken
from tests.cli.programs import Home, until
from tests.servers import binary, unique


def test_a_run_that_waits_shows_its_transcript_and_how_to_decide(home: Home, play: Play) -> None:
    run_id = unique("run")
    model = play(asks("list_dir", path="."), asks("write_file", path="out.txt", content="text"), says("Done."))
    assert home.run("run", "Write", "--model", model, "--run-id", run_id).returncode == 4
    until(lambda: home.lists(run_id, "--status", "waiting"))

    shown = home.run("show", run_id, PERDURE_UI_URL="http://ui.example.org")
    listed = home.run("ls", "--status", "waiting")
    as_json = [json.loads(line) for line in home.run("ls", "--json", "--limit", "1000").stdout.splitlines()]

    assert shown.returncode == 0
    assert "> Write\n" in shown.stdout
    assert "  done    t1s1c1 list_dir: " in shown.stdout
    assert "\nstatus  waiting_approval\n" in shown.stdout
    assert f"\nui      http://ui.example.org/namespaces/default/workflows/{run_id}\n" in shown.stdout
    assert f"perdure approve {run_id} t1s2c1\n" in shown.stdout
    (row,) = (line for line in listed.stdout.splitlines() if line.startswith(run_id))
    assert row.split()[1:3] == ["waiting_approval", "assistant"]
    assert row.rstrip().endswith("t1s2c1 write_file")
    assert {"waiting_approval"} == {run["status"] for run in as_json if run["run_id"] == run_id}


def test_a_run_that_has_ended_shows_without_a_worker(home: Home, play: Play) -> None:
    run_id = unique("run")
    assert home.run("run", "Hello", "--model", play(says("Hello, you.")), "--run-id", run_id).returncode == 0

    shown = home.run("show", run_id)
    state = json.loads(home.run("show", run_id, "--json").stdout)

    assert shown.returncode == 0
    assert "\nHello, you.\n" in shown.stdout
    assert "\nstatus  completed\n" in shown.stdout
    assert "\ntook    1 turn, 1 step, 15 tokens" in shown.stdout
    assert state["messages"][-1]["parts"][0]["text"] == "Hello, you."


def test_a_run_that_failed_shows_the_cause(home: Home, play: Play) -> None:
    run_id = unique("run")
    model = play(fails("authentication", detail="the key is not valid"))
    assert home.run("run", "Hello", "--model", model, "--run-id", run_id).returncode == 1

    shown = home.run("show", run_id)

    assert "\nstatus  failed\n" in shown.stdout
    assert "\ncause   scripted: the key is not valid" in shown.stdout


def test_a_run_that_somebody_terminated_shows_as_failed(home: Home, play: Play, dev_server: str) -> None:
    run_id = unique("run")
    model = play(asks("write_file", path="out.txt", content="text"))
    assert home.run("run", "Hello", "--model", model, "--run-id", run_id).returncode == 4
    terminate = [binary("temporal"), "workflow", "terminate", "-w", run_id, "--address", dev_server]
    subprocess.run(terminate, check=True, capture_output=True, timeout=60)

    shown = home.run("show", run_id)

    assert shown.returncode == 0, shown
    assert "\nstatus  failed\n" in shown.stdout
    assert "perdure approve" not in shown.stdout


def test_a_run_that_no_worker_has_taken_up_says_so(home: Home, untaken: Untaken) -> None:
    shown = home.run("show", untaken())

    assert shown.returncode == 0
    assert "no worker has taken it up yet" in shown.stdout
    assert "perdure worker" in shown.stdout


def test_what_happened_inside_a_batch_that_waits_is_shown(home: Home, play: Play, serve: Serve) -> None:
    run_id = unique("run")
    calls = [asks("write_file", path=f"{name}.txt", content="text") for name in ("one", "two", "three")]
    model = play(together(*calls, asks("list_dir", path=".")), says("Done."))
    assert home.run("run", "Write", "--model", model, "--run-id", run_id).returncode == 4
    serve()
    changed = '{"path": "other.txt", "content": "text"}'

    assert home.run("approve", run_id, "t1s1c1", "--arguments", changed, USER="ana", LOGNAME="ana").returncode == 0
    assert home.run("deny", run_id, "t1s1c2", "--reason", "no", USER="bo", LOGNAME="bo").returncode == 0
    shown = home.run("show", run_id)
    followed = home.run("follow", run_id)

    assert "  done    t1s1c4 list_dir: " in shown.stdout
    for out in (shown.stdout, followed.stdout):
        assert f"  (approval of t1s1c1 by ana, with changed arguments: {changed})" in out
        assert "  (denial of t1s1c2 by bo: no)" in out
    assert f"perdure approve {run_id} t1s1c3\n" in shown.stdout


def test_what_is_decided_and_not_taken_in_is_told_and_not_asked_again(home: Home, left: Left) -> None:
    run_id = left(together(asks("write_file", path="a", content="x"), asks("write_file", path="b", content="x")))
    assert home.run("approve", run_id, "t1s1c1", USER="ana", LOGNAME="ana").returncode == 0

    shown = home.run("show", run_id)

    assert "Recorded, and not taken in by a worker yet:\n  t1s1c1 was approved by ana.\n" in shown.stdout
    assert f"perdure approve {run_id} t1s1c1\n" not in shown.stdout
    assert f"perdure approve {run_id} t1s1c2\n" in shown.stdout


def test_a_cancel_that_no_worker_has_taken_in_is_told(home: Home, left: Left) -> None:
    run_id = left(asks("write_file", path="a", content="x"))
    assert home.run("cancel", run_id).returncode == 0

    shown = home.run("show", run_id)

    assert "Recorded, and not taken in by a worker yet:\n  The run is canceled.\n" in shown.stdout
    assert "perdure approve" not in shown.stdout


def test_a_run_that_no_worker_answers_for_says_so(home: Home, left: Left, serve: Serve) -> None:
    run_id = left(asks("write_file", path="a", content="x"))

    alone = home.run("show", run_id).stdout
    serve()
    served = home.run("show", run_id).stdout

    assert f"No worker answers for run {run_id} now" in alone
    assert "perdure worker" in alone
    assert "No worker" not in served
