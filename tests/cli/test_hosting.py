"""Runs that bring tools of their own, and who serves them."""

from __future__ import annotations

import json

from perdure.testing.script import asks, says
from tests.cli.conftest import Play, Serve
from tests.cli.programs import Home
from tests.cli.test_start import TOOLS, failed
from tests.servers import unique

WRITE = asks("write_file", path="out.txt", content="text")


def test_a_run_that_brings_tools_keeps_them_where_other_workers_serve_the_same_queue(
    home: Home, play: Play, serve: Serve
) -> None:
    (home.path / "tools.py").write_text(TOOLS)
    serve()
    greetings = [asks("greet", name=name) for name in ("Ana", "Jonas", "Mia")]
    run_id = unique("run")
    model = play(*greetings, says("Greeted."))

    ended = home.run("run", "Greet", "--model", model, "--tools", "tools.py", "--yes", "--run-id", run_id)

    assert ended.returncode == 0, ended
    assert ended.stdout.count("  done    ") == 3


def test_a_run_with_tools_of_its_own_is_taken_up_with_the_same_tools(home: Home, play: Play) -> None:
    (home.path / "tools.py").write_text(TOOLS)
    run_id = unique("run")
    model = play(asks("greet", name="Ana"), says("Greeted."))

    left = home.run("run", "Greet", "--model", model, "--tools", "tools.py", "--run-id", run_id)
    taken_up = home.run("follow", run_id, "--worker", "--yes", "--tools", str(home.path / "tools.py"))

    assert left.returncode == 4, left
    assert f"  perdure follow {run_id} --tools tools.py    takes it up here" in left.stderr
    assert taken_up.returncode == 0, taken_up
    assert "Hello, Ana!" in taken_up.stdout


def test_the_house_policy_holds_beside_a_worker_with_another_one(home: Home, play: Play, serve: Serve) -> None:
    serve()
    strict = {"PERDURE_POLICY": json.dumps({"write_file": "deny"})}

    ended = home.run("run", "Write", "--model", play(WRITE, says("Not written.")), "--yes", **strict)

    assert "denied  t1s1c1 write_file: " in ended.stdout
    assert not (home.path / "out.txt").exists()


def test_following_a_run_that_this_process_does_not_serve_says_what_serves_it(home: Home, play: Play) -> None:
    (home.path / "tools.py").write_text(TOOLS)
    run_id, elsewhere = unique("run"), unique("run")
    model = play(asks("greet", name="Ana"), asks("greet", name="Bo"), says("Greeted."))
    assert home.run("run", "x", "--model", model, "--tools", "tools.py", "--run-id", run_id).returncode == 4
    other = {"PERDURE_TASK_QUEUE": unique("queue")}
    assert home.run("run", "x", "--model", play(WRITE), "--run-id", elsewhere, **other).returncode == 4

    assert f"`perdure follow {run_id}` in the folder that" in home.run("follow", run_id, "--worker").stderr
    followed = home.run("follow", elsewhere, "--worker")
    assert f"PERDURE_TASK_QUEUE={other['PERDURE_TASK_QUEUE']}." in followed.stderr


HOOKS = """
def bad(event):
    raise RuntimeError("sk-canary")

def worse(event):
    raise KeyboardInterrupt
"""


def test_warnings_of_a_run_are_counted_at_its_end_and_the_first_is_said(home: Home, play: Play) -> None:
    (home.path / "house.py").write_text(HOOKS)
    hooks = {"PERDURE_ON_MODEL_USAGE": "house.py:bad", "PERDURE_ON_MODEL_ANSWER": "house.py:bad,house.py:worse"}
    log = home.path / "logs" / "mine.log"
    model = play(says("Hello."))

    ended = home.run("run", "Hi", "--json", "--model", model, PERDURE_LOG_FILE="logs/mine.log", **hooks)

    assert ended.returncode == 0, ended
    assert [json.loads(line) for line in ended.stdout.splitlines()], ended
    assert f"3 warnings in {log}, the first: a model hook failed (hook: house.py:" in ended.stderr
    assert "canary" not in ended.stderr + log.read_text()
    assert log.read_text().count("a model hook failed") == 3
    assert home.run("run", "Hi", "--model", model).stderr.count("warning") == 0


def test_a_log_file_that_cannot_be_written_is_an_error_when_it_was_named(home: Home) -> None:
    (home.path / "taken").write_text("")

    ended = home.run("ls", PERDURE_LOG_FILE="taken/mine.log")

    failed(ended, 2, f"PERDURE_LOG_FILE: {home.path}/taken/mine.log cannot be written")
