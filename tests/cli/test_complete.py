from __future__ import annotations

import shutil
import subprocess

import pytest

from perdure.testing.script import asks, says
from tests.cli.conftest import Left, Serve
from tests.cli.programs import Home, until
from tests.cli.test_start import failed

BEFORE = {"bash": "_perdure_completion()", "zsh": "#compdef perdure", "fish": "function _perdure_completion"}


def completed(home: Home, *words: str, **changes: str) -> list[str]:
    """What a shell would offer for the last word."""
    typed = {"COMP_WORDS": " ".join(["perdure", *words]), "COMP_CWORD": str(len(words))}
    told = home.run(_PERDURE_COMPLETE="bash_complete", **typed, **changes)
    assert (told.returncode, told.stderr) == (0, "")
    return [line.partition(",")[2] for line in told.stdout.splitlines() if line]


@pytest.mark.parametrize("shell", BEFORE)
def test_a_shell_is_given_its_script(home: Home, shell: str) -> None:
    told = home.run("completion", shell)

    assert told.returncode == 0
    assert told.stdout.startswith(BEFORE[shell])
    assert "_PERDURE_COMPLETE" in told.stdout


def test_the_script_for_bash_is_one(home: Home) -> None:
    bash = shutil.which("bash")
    assert bash

    script = home.run("completion", "bash").stdout

    subprocess.run([bash, "-n"], input=script, text=True, check=True, timeout=60)


def test_another_shell_is_refused(home: Home) -> None:
    failed(home.run("completion", "tcsh"), 2, "tcsh")
    failed(home.run("completion"), 2, "Choose from: bash, zsh, fish. See `perdure completion --help`.")


def test_commands_are_completed(home: Home) -> None:
    assert completed(home, "ap") == ["approve"]
    assert {"run", "inbox", "completion"} <= set(completed(home, ""))
    assert completed(home, "models", "ch") == ["check"]


def test_ids_of_runs_are_completed_from_the_server(home: Home, left: Left) -> None:
    run_id = left(asks("ask_human", question="Which?"), says("Done."))

    # A shell is given nothing where the server takes its time.
    until(lambda: completed(home, "approve", run_id[:-2]) == [run_id])
    until(lambda: run_id in completed(home, "show", "run-"))


def test_a_run_that_has_ended_is_offered_where_it_can_be_meant(home: Home, left: Left, serve: Serve) -> None:
    run_id = left(asks("write_file", path="out.txt", content="text"), says("Done."))
    serve()
    until(lambda: completed(home, "approve", run_id) == [run_id])
    until(lambda: completed(home, "approve", run_id, "") == ["t1s1c1"])
    assert completed(home, "approve", run_id, "t1s1c1", "") == []

    home.run("approve", run_id)
    assert home.run("follow", run_id).returncode == 0

    until(lambda: completed(home, "approve", run_id) == completed(home, "send", run_id) == [])
    until(lambda: completed(home, "show", run_id) == [run_id])


def test_messages_that_wait_are_offered_to_be_changed(home: Home, left: Left, serve: Serve) -> None:
    run_id = left(asks("write_file", path="out.txt", content="text"), says("Done."))
    serve()
    home.run("send", run_id, "And fast")
    assert home.run("follow", run_id).returncode == 4

    until(lambda: completed(home, "withdraw", run_id, "") == ["u2"])


@pytest.mark.parametrize("command", ["run", "inbox", "approve", "stop", "grants"])
def test_agents_are_offered_without_a_server(lonely: Home, command: str) -> None:
    (lonely.path / "agents").mkdir()
    (lonely.path / "agents" / "clerk.md").write_text("You keep the books.\n")

    assert completed(lonely, command, "--agent", "cl") == ["clerk"]


def test_without_a_server_nothing_is_completed_and_nothing_said(home: Home, lonely: Home) -> None:
    assert completed(home, "show", "run-", PERDURE_ADDRESS="127.0.0.1:1") == []
    assert completed(home, "show", "run-", PERDURE_ADDRESS="nonsense") == []
    assert completed(lonely, "show", "run-") == []
    assert not (lonely.path / "data").exists()
