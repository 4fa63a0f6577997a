from __future__ import annotations

import contextlib
import signal
import subprocess
from pathlib import Path

from perdure.providers.gate import Gate
from perdure.testing.script import asks, fails, held, says, together
from tests.cli.conftest import AtTerminal, Left, Play, Serve
from tests.cli.programs import Home, until
from tests.servers import DEADLINE, binary, eventually, unique

WRITE = asks("write_file", path="out.txt", content="line one\nline two")


def test_a_person_at_the_terminal_approves_what_is_shown(home: Home, at_terminal: AtTerminal, play: Play) -> None:
    terminal = at_terminal("run", "Write", "--model", play(WRITE, says("Written.")))

    terminal.until("May this run? write_file (t1s1c1)\n  path: out.txt\n  content:\n    line one\n    line two\n")
    terminal.until("why it asks:")
    terminal.until("[l]eave it waiting? ")
    assert not (home.path / "out.txt").exists()
    terminal.type("a")
    terminal.until("done    t1s1c1 write_file")
    terminal.until("Written.")

    assert terminal.wait() == 0
    assert (home.path / "out.txt").read_text() == "line one\nline two"
    assert terminal.shown.count("May this run?") == 1


def test_a_person_denies_and_the_model_reads_the_reason(home: Home, at_terminal: AtTerminal, play: Play) -> None:
    terminal = at_terminal("run", "Write", "--model", play(WRITE, says("Then not.")))

    terminal.until("[l]eave it waiting? ")
    terminal.type("d")
    terminal.until("Reason, for the model to read")
    terminal.type("not in this folder")
    terminal.until("denied  t1s1c1 write_file: ")
    terminal.until("not in this folder")

    assert terminal.wait() == 0
    assert not (home.path / "out.txt").exists()


def test_a_person_answers_a_question_from_its_options(at_terminal: AtTerminal, play: Play) -> None:
    question = asks("ask_human", question="Which colour?", options=["red", "blue"])
    terminal = at_terminal("run", "Paint", "--model", play(question, says("Blue it is.")))

    terminal.until("Which colour?\n  1. red\n  2. blue\nYour answer: ")
    terminal.type("green")
    terminal.until("Type a number from 1 to 2")
    terminal.type("2")
    terminal.until("done    t1s1c1 ask_human: blue")

    assert terminal.wait() == 0


def test_a_safety_rule_asks_the_person_in_spite_of_yes(home: Home, at_terminal: AtTerminal, play: Play) -> None:
    risky = asks("execute_command", command="sudo rm -rf build")
    terminal = at_terminal("run", "Tidy", "--model", play(together(WRITE, risky), says("Kept.")), "--yes")

    terminal.until("May this run? execute_command (t1s1c2)\n  command: sudo rm -rf build\n")
    terminal.until("[safety:")
    terminal.type("d")
    terminal.until("Reason")
    terminal.type("")

    assert terminal.wait() == 0
    assert (home.path / "out.txt").exists()


def test_what_is_decided_elsewhere_is_not_asked_any_more(home: Home, at_terminal: AtTerminal, play: Play) -> None:
    run_id = unique("run")
    terminal = at_terminal("run", "Write", "--model", play(WRITE, says("Written.")), "--run-id", run_id)
    terminal.until("[l]eave it waiting? ")

    approved = home.run("approve", run_id)

    assert approved.returncode == 0, approved
    assert approved.stdout.startswith("approved t1s1c1 write_file {")
    terminal.until("That was decided elsewhere.")
    terminal.until("Written.")
    assert terminal.wait() == 0


def test_ctrl_c_interrupts_the_turn_and_keeps_what_was_written(
    at_terminal: AtTerminal, play: Play, tmp_path: Path
) -> None:
    gate = tmp_path / "gate"
    terminal = at_terminal("run", "Tell", "--model", play(held(says("Once upon a time"), gate, after=1)))

    terminal.until("Once upon a time")
    terminal.press("c")
    terminal.until("Interrupting the turn.")
    terminal.until("(interrupted)")

    assert terminal.wait() == 130
    assert "turn 1 interrupted" in terminal.shown
    assert terminal.shown.count("Once upon a time") == 1


def test_a_second_ctrl_c_leaves_the_run_and_follow_takes_it_up(home: Home, at_terminal: AtTerminal, play: Play) -> None:
    run_id = unique("run")
    terminal = at_terminal("follow", run_id, "--worker")
    assert terminal.wait() == 2

    first = at_terminal("run", "Write", "--model", play(WRITE, says("Written.")), "--run-id", run_id)
    first.until("[l]eave it waiting? ")
    first.type("l")
    first.until(f"perdure approve {run_id} t1s1c1")
    first.until(f"Run {run_id} is kept")
    assert first.wait() == 4

    second = at_terminal("follow", run_id, "--worker")
    second.until("> Write")
    second.until("[l]eave it waiting? ")
    second.press("c")
    second.until(f"Run {run_id} is kept")
    assert second.wait() == 130

    third = at_terminal("follow", run_id, "--worker")
    third.until("[l]eave it waiting? ")
    third.type("a")
    third.until("Written.")
    assert third.wait() == 0
    assert (home.path / "out.txt").exists()


def test_ctrl_c_while_only_a_person_is_awaited_leaves_what_waits(
    home: Home, at_terminal: AtTerminal, play: Play
) -> None:
    run_id = unique("run")
    terminal = at_terminal("run", "Write", "--model", play(WRITE, says("Written.")), "--run-id", run_id)
    terminal.until("[l]eave it waiting? ")

    terminal.press("c")
    terminal.until(f"Run {run_id} is kept")

    assert terminal.wait() == 130
    until(lambda: f"{run_id} " in home.run("inbox").stdout)


def test_one_of_two_left_waiting_does_not_end_what_the_other_starts(
    home: Home, at_terminal: AtTerminal, play: Play
) -> None:
    other = asks("write_file", path="other.txt", content="two")
    terminal = at_terminal("run", "Write", "--model", play(together(WRITE, other), says("Written.")))
    terminal.until("May this run? write_file (t1s1c1)")
    terminal.until("[l]eave it waiting? ")
    terminal.type("l")
    terminal.until("May this run? write_file (t1s1c2)")
    terminal.until("[l]eave it waiting? ")
    terminal.type("a")
    terminal.until("is kept; it goes on while a worker serves it")

    assert terminal.wait() == 4
    assert (home.path / "other.txt").read_text() == "two"
    assert not (home.path / "out.txt").exists()


def test_a_conversation_goes_on_at_the_terminal_and_ctrl_d_closes_it(at_terminal: AtTerminal, play: Play) -> None:
    terminal = at_terminal("run", "Hello", "--model", play(says("First."), says("Second.")), "--conversation")

    terminal.until("First.")
    terminal.until("Your next message (Ctrl-D closes the conversation)\n> ")
    terminal.type("And?")
    terminal.until("Second.")
    terminal.until("Your next message")
    terminal.press("d")

    assert terminal.wait() == 0
    assert " completed, " in terminal.shown
    assert terminal.shown.count("Your next message") == 2
    assert "elsewhere" not in terminal.shown


def test_a_killed_process_is_taken_up_where_it_was(
    home: Home, at_terminal: AtTerminal, play: Play, serve: Serve
) -> None:
    run_id = unique("run")
    first = at_terminal("run", "Write", "--model", play(WRITE, says("Written.")), "--run-id", run_id)
    first.until("[l]eave it waiting? ")
    first.kill()

    serve()
    followed = home.run("follow", run_id, "--yes")

    assert followed.returncode == 0, followed
    assert "Written." in followed.stdout


def test_a_run_told_to_end_leaves_with_the_signal_and_how_to_go_on(
    at_terminal: AtTerminal, play: Play, tmp_path: Path
) -> None:
    terminal = at_terminal("run", "Tell", "--model", play(held(says("Once upon a time"), tmp_path / "gate", after=1)))
    terminal.until("Once upon a time")

    terminal.terminate()
    terminal.until("is kept; it goes on while a worker serves it")

    assert terminal.wait() == 128 + signal.SIGTERM
    Gate(tmp_path / "gate").open()


def test_a_failure_is_said_once(at_terminal: AtTerminal, play: Play) -> None:
    terminal = at_terminal("run", "Hello", "--model", play(fails("authentication", detail="the key is not valid")))

    assert terminal.wait() == 1
    assert terminal.shown.count("the key is not valid") == 1
    assert " failed\n" in terminal.shown
    assert " is failed" not in terminal.shown


BLOCKING = """
import time
from pathlib import Path


async def block() -> str:
    Path("blocked").touch()
    time.sleep(600)
    return "never"
"""


async def test_a_second_ctrl_c_ends_the_program_though_a_tool_holds_it_up(
    home: Home, at_terminal: AtTerminal, play: Play
) -> None:
    (home.path / "blocking.py").write_text(BLOCKING)
    terminal = at_terminal("run", "Block", "--model", play(asks("block")), "--tools", "blocking.py", "--yes")
    await eventually((home.path / "blocked").exists)

    terminal.press("c")
    for _ in range(100):
        # Two signals that come at one moment are one signal: whoever sees nothing happen presses again.
        with contextlib.suppress(AssertionError):
            terminal.until("A tool holds the program up", deadline=0.3)
            break
        terminal.press("c")

    assert terminal.wait() == 130
    assert "never awaited" not in terminal.shown


def test_what_changes_nothing_and_was_never_taken_in_does_not_keep_a_run_from_being_left(
    home: Home, left: Left, dev_server: str
) -> None:
    run_id = left(WRITE)
    sending = ("workflow", "signal", "-w", run_id, "--name", "approve", "--input", '{"call_id": "t9s9c9"}')
    subprocess.run([binary("temporal"), *sending, "--address", dev_server], check=True, timeout=DEADLINE)

    followed = home.run("follow", run_id, "--no-worker")

    assert followed.returncode == 4, followed
    assert f"perdure approve {run_id}" in followed.stderr


def test_a_cancel_that_no_worker_has_taken_in_is_waited_for(
    home: Home, left: Left, at_terminal: AtTerminal, serve: Serve
) -> None:
    run_id = left(WRITE)
    assert home.run("cancel", run_id).returncode == 0
    following = at_terminal("follow", run_id, "--no-worker")
    following.until("asks    t1s1c1")

    serve()

    assert following.wait() == 1
    assert "May this run?" not in following.shown


def test_following_a_run_that_no_worker_serves_says_so_once(home: Home, left: Left, at_terminal: AtTerminal) -> None:
    run_id = left(WRITE, says("Written."))
    assert home.run("approve", run_id).returncode == 0

    follower = at_terminal("follow", run_id, "--no-worker")
    follower.until(f"No worker answers for run {run_id} now: it goes on when one serves it.")
    follower.until("perdure worker")
    follower.press("c")

    assert follower.wait() == 130
    assert follower.shown.count("No worker answers") == 1


def test_who_decides_where_no_worker_serves_the_run_is_told_that_it_is_kept(
    home: Home, left: Left, at_terminal: AtTerminal
) -> None:
    run_id = left(WRITE, says("Written."))

    follower = at_terminal("follow", run_id, "--no-worker")
    follower.until("[l]eave it waiting? ")
    follower.type("a")

    follower.until("No worker serves the run now: it is recorded")
