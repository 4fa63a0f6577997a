from __future__ import annotations

from functools import partial

import pytest

from perdure.cli.stop import is_of
from perdure.testing.script import asks, says
from tests.cli.conftest import AtTerminal, Left, Serve, Untaken
from tests.cli.programs import Home, until
from tests.cli.test_start import failed
from tests.servers import unique

WRITE = asks("write_file", path="out.txt", content="text")


def is_stopped(home: Home, run_id: str) -> bool:
    return "\nstop    canceled by " in home.run("show", run_id).stdout


def test_every_run_of_the_agent_is_canceled_and_shown_and_no_other(home: Home, left: Left, serve: Serve) -> None:
    agent = unique("clerk")
    first, second = (left(WRITE, says("Done."), agent=agent) for _ in range(2))
    other = left(WRITE, says("Done."), agent=unique("other"))
    serve()

    stopped = home.run("stop", "--agent", agent, "--all", "--yes", "--reason", "wrong folder")

    assert stopped.returncode == 0, stopped
    assert f"canceled {first}\n" in stopped.stdout
    assert f"canceled {second}\n" in stopped.stdout
    assert other not in stopped.stdout
    assert f"2 runs of the agent {agent} asked to cancel" in stopped.stderr
    for run_id in (first, second):
        # The server holds a cancel back while the worker has a task of the run in hand.
        until(partial(is_stopped, home, run_id))
        assert f"run {run_id} was canceled" in home.run("follow", run_id).stderr
    assert "waiting_approval" in home.run("show", other).stdout
    nothing_left = f"No run of the agent {agent} goes on.\n"
    until(lambda: home.run("stop", "--agent", agent, "--all").stderr.endswith(nothing_left))


def test_a_run_that_no_worker_has_taken_up_is_stopped_too(home: Home, untaken: Untaken) -> None:
    agent = unique("clerk")
    run_id = untaken(f'{{"message": "Hello", "agent": "{agent}"}}')

    stopped = home.run("stop", "--agent", agent, "--all", "--yes")

    assert f"canceled {run_id}\n" in stopped.stdout


def test_nothing_is_stopped_before_a_yes(home: Home, left: Left, at_terminal: AtTerminal) -> None:
    agent = unique("clerk")
    run_id = left(WRITE, says("Done."), agent=agent)

    refused = home.run("stop", "--agent", agent, "--all")
    terminal = at_terminal("stop", "--agent", agent, "--all")
    terminal.until(run_id)
    terminal.until(f"Cancel 1 run of the agent {agent} now? Type yes, then Enter: ")
    terminal.type("maybe")
    terminal.until("Nothing was done.")

    assert terminal.wait() == 1
    assert (refused.returncode, refused.stdout.startswith(run_id)) == (2, True)
    assert "--yes" in refused.stderr
    assert "waiting_approval" in home.run("show", run_id).stdout


def test_stopping_needs_the_word_all(home: Home) -> None:
    failed(home.run("stop", "--agent", "clerk"), 2, "--all", "perdure cancel RUN_ID")


@pytest.mark.parametrize(
    ("said", "agent", "same"),
    [("clerk", "clerk", True), ("clerk", "clerks", False), ("", "clerk", False), ("a" * 255, "a" * 300, True)],
)
def test_a_name_that_the_server_cut_is_still_known(said: str, agent: str, same: bool) -> None:
    assert is_of(said, agent) is same
