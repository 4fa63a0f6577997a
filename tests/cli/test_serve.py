from __future__ import annotations

from perdure.testing.script import says
from tests.cli.conftest import AtTerminal, Play, Serve
from tests.cli.programs import Home
from tests.cli.test_start import failed
from tests.servers import unique


def test_a_worker_serves_until_it_is_told_to_stop(home: Home, play: Play, serve: Serve) -> None:
    run_id = unique("run")
    talk = ("run", "Hello", "--run-id", run_id, "--conversation", "--model", play(says("Hi."), says("Bye.")))
    assert home.run(*talk).returncode == 0
    worker = serve()

    sent = home.run("send", run_id, "bye")
    followed = home.run("follow", run_id, "--no-worker")
    worker.press("c")

    assert sent.returncode == 0, sent
    assert "\nBye.\n" in followed.stdout
    assert worker.wait() == 0


def test_a_worker_with_a_tool_that_is_not_there_does_not_start(home: Home) -> None:
    failed(home.run("worker", "--tools", "nowhere.py"), 2, "nowhere.py")


def test_a_worker_that_is_ready_says_which_task_queues_it_serves(home: Home, at_terminal: AtTerminal) -> None:
    (home.path / "tools.py").write_text('def greet(name: str) -> str:\n    """Greet."""\n    return name\n')

    worker = at_terminal("worker", "--model", "demo:demo", "--tools", "tools.py")
    queue = home.settings["PERDURE_TASK_QUEUE"]

    worker.until(f"task_queues=['{queue}', '{queue}.")


def test_a_worker_without_a_server_is_exit_code_3(home: Home) -> None:
    ended = home.run("worker", "--model", "demo:demo", PERDURE_ADDRESS="127.0.0.1:1")

    failed(ended, 3, "No Temporal server answers at 127.0.0.1:1")


def test_setting_up_can_be_repeated(home: Home) -> None:
    first = home.run("setup", "--retention", "2d")
    second = home.run("setup", "--retention", "2d")

    assert first.returncode == 0, first
    assert second.stdout.rstrip().endswith(
        "search attributes there already; closed runs are kept for 2 days, as before"
    )


def test_a_retention_that_is_no_time_is_refused(home: Home) -> None:
    failed(home.run("setup", "--retention", "long"), 2, "retention", "'long'")


def test_the_signal_that_ends_services_ends_a_worker(serve: Serve) -> None:
    worker = serve()

    worker.terminate()

    assert worker.wait() == 0
