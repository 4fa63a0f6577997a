from __future__ import annotations

import json
import subprocess

import pytest

from perdure.testing.script import asks, says, together
from tests.cli.conftest import Left, Play, Serve
from tests.cli.programs import Home
from tests.cli.test_start import failed
from tests.servers import DEADLINE, binary, unique

WRITE = asks("write_file", path="out.txt", content="text")
QUESTION = asks("ask_human", question="Which colour?", options=["red", "blue"])
ANA = {"USER": "ana", "LOGNAME": "ana"}


def told(ended: subprocess.CompletedProcess[str], *words: str) -> None:
    """The order was taken, and these words were said."""
    assert ended.returncode == 0, ended
    for word in words:
        assert word in ended.stdout + ended.stderr


def test_what_is_told_to_a_run_that_nobody_serves_is_done_when_a_worker_comes(
    home: Home, left: Left, serve: Serve
) -> None:
    run_id = left(together(WRITE, QUESTION), says("Done."))

    told(home.run("approve", run_id), "approved t1s1c1 write_file", "No worker serves the run now", "perdure worker")
    serve()
    told(home.run("send", run_id, "And mind the gap"), "sent")
    told(home.run("answer", run_id, "blue"), "answered")
    followed = home.run("follow", run_id)

    assert followed.returncode == 0, followed
    assert "  done    t1s1c2 ask_human: blue" in followed.stdout
    assert "> And mind the gap" in followed.stdout
    assert (home.path / "out.txt").read_text() == "text"


def test_each_call_is_decided_by_its_id(home: Home, left: Left, serve: Serve) -> None:
    other = asks("write_file", path="other.txt", content="text")
    run_id = left(together(WRITE, other), says("Done."))
    serve()

    told(home.run("approve", run_id, "t1s1c2", "--reason", "fine"), "approved t1s1c2")
    told(home.run("deny", run_id, "t1s1c1", "--reason", "wrong name"), "denied t1s1c1")
    followed = home.run("follow", run_id)

    assert followed.returncode == 0, followed
    assert "wrong name" in followed.stdout
    assert (home.path / "other.txt").exists()
    assert not (home.path / "out.txt").exists()


def test_an_approval_by_temporals_own_command_is_as_good(home: Home, left: Left, serve: Serve, dev_server: str) -> None:
    run_id = left(WRITE, says("Done."))
    serve()

    signal = ("workflow", "signal", "-w", run_id, "--name", "approve", "--input", '{"call_id": "t1s1c1"}')
    command = [binary("temporal"), *signal, "--address", dev_server]
    subprocess.run(command, check=True, capture_output=True, timeout=DEADLINE)
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
        ["edit", "u1", "text"],
        ["withdraw", "u1"],
        ["export"],
        ["grants", "--run"],
        ["show"],
        ["follow"],
    ],
)
def test_a_run_that_is_not_there_is_said_to_be_missing(home: Home, order: list[str]) -> None:
    name, *rest = order
    arguments = [name, *rest, "run-nowhere"] if "--run" in rest else [name, "run-nowhere", *rest]

    failed(home.run(*arguments), 2, "There is no run 'run-nowhere'", "perdure ls")


def test_a_run_that_has_ended_takes_no_orders(home: Home, play: Play) -> None:
    run_id = unique("run")
    assert home.run("run", "Hello", "--model", play(says("Hello.")), "--run-id", run_id).returncode == 0

    failed(home.run("approve", run_id), 2, "has ended")
    failed(home.run("send", run_id, "more"), 2, "has ended")
    failed(home.run("cancel", run_id), 2, "has ended")


def test_a_run_can_be_interrupted_closed_and_canceled(home: Home, left: Left, play: Play, serve: Serve) -> None:
    first, second = left(WRITE, says("Done.")), left(WRITE, says("Done."))
    serve()

    told(home.run("interrupt", first, "--reason", "enough", **ANA), "interrupted")
    told(home.run("cancel", second, "--reason", "too late", **ANA), "asked", "to cancel")
    interrupted = home.run("follow", first)
    canceled = home.run("follow", second)
    assert interrupted.returncode == 130
    assert "(interrupt by ana: enough)" in interrupted.stdout
    assert f"run  {first} completed (last turn: interrupted)\n" in interrupted.stdout
    assert "\nstop    interrupted by ana: enough\n" in home.run("show", first).stdout
    assert canceled.returncode == 1
    assert "(cancel by ana: too late)" in canceled.stdout
    assert f"error: run {second} was canceled\n" in canceled.stderr
    assert "\nstop    canceled by ana: too late\n" in home.run("show", second).stdout
    exported = [json.loads(line).get("event", {}) for line in home.run("export", second).stdout.splitlines()]
    (order,) = (event["order"] for event in exported if event.get("kind") == "order_received")
    assert (order["kind"], order["actor"], order["reason"]) == ("cancel", "ana", "too late")

    third = unique("run")
    assert home.run("run", "Hi", "--model", play(says("Hi.")), "--conversation", "--run-id", third).returncode == 0
    told(home.run("close", third, "--reason", "all is said", **ANA), "closing")
    closed = home.run("follow", third)
    assert closed.returncode == 0
    assert "(close by ana: all is said)" in closed.stdout
    assert "\nstop    closed by ana: all is said\n" in home.run("show", third).stdout


@pytest.mark.parametrize("order", [["ls"], ["show", "x"], ["approve", "x"], ["send", "x", "text"], ["follow", "x"]])
def test_without_a_server_every_command_says_so_with_3(home: Home, order: list[str]) -> None:
    ended = home.run(*order, PERDURE_ADDRESS="127.0.0.1:1")

    failed(ended, 3, "No Temporal server answers at 127.0.0.1:1")


def test_a_message_that_waits_is_changed_or_taken_back_and_the_agent_reads_the_rest(
    home: Home, left: Left, serve: Serve
) -> None:
    run_id = left(WRITE, says("Done."))
    serve()
    told(home.run("send", run_id, "Frist thing"), f"sent {run_id}", "An approval is awaited (t1s1c1)")
    # Had the worker taken longer than an order waits for its receipt, the run would take it in now.
    assert home.run("follow", run_id).returncode == 4
    told(home.run("send", run_id, "Second\nthing", **ANA), f"sent {run_id} (u3)")

    shown = home.run("show", run_id)
    told(home.run("edit", run_id, "u2", "First thing"), "changed")
    told(home.run("withdraw", run_id, "u3", "--reason", "no more"), "withdrawn")
    failed(home.run("edit", run_id, "u9", "text"), 2, "no message u9", "Waiting for delivery: u2", "perdure show")
    failed(home.run("edit", run_id, "u2", " "), 2, "empty", "perdure withdraw")
    told(home.run("approve", run_id), "approved")
    followed = home.run("follow", run_id)

    waiting = shown.stdout.partition("\nwaits for delivery:\n")[2].splitlines()
    assert (waiting[0][:4], waiting[0][-13:], waiting[1]) == (
        "  u2",
        ": Frist thing",
        "  u3 from ana: Second thing",
    )
    assert shown.stdout.count("Frist thing") == 1
    messages = json.loads(home.run("show", run_id, "--json").stdout)["messages"]
    assert followed.returncode == 0, followed
    assert [message["parts"][0]["text"] for message in messages if message["role"] == "user"] == [
        "Do it",
        "First thing",
    ]
    failed(home.run("edit", run_id, "u2", "late"), 2, "has ended")


def test_a_message_to_a_run_with_an_open_question_says_so(home: Home, left: Left) -> None:
    run_id = left(QUESTION, says("Done."))

    sent = home.run("send", run_id, "blue")

    told(sent, "A question is open (t1s1c1): answer it to go on", f'perdure answer {run_id} --call t1s1c1 "…"')
    assert json.loads(home.run("show", run_id, "--json").stdout)["status"] == "waiting_answer"


def test_several_options_are_answered_with_commas(home: Home, left: Left, serve: Serve) -> None:
    run_id = left(asks("ask_human", question="Which?", options=["red", "blue", "grey"], multiple=True), says("Done."))
    serve()

    failed(home.run("answer", run_id, "red, green"), 2, "some of: red, blue, grey")
    told(home.run("answer", run_id, "red, grey"), "answered")

    assert "ask_human: red, grey" in home.run("follow", run_id).stdout


def test_a_decision_that_comes_too_late_is_told_who_decided(home: Home, left: Left) -> None:
    run_id = left(WRITE, says("Done."))
    told(home.run("approve", run_id, "--reason", "fine", **ANA), "approved")
    assert home.run("follow", run_id, "--worker").returncode == 0

    for late in (["approve", run_id], ["deny", run_id, "t1s1c1"]):
        failed(home.run(*late), 2, "The run has ended (completed). t1s1c1 was approved by ana: fine.")


def test_who_decided_is_told_while_the_run_goes_on(home: Home, left: Left) -> None:
    run_id = left(WRITE, asks("write_file", path="b", content="x"), says("Done."))
    told(home.run("approve", run_id, **ANA), "approved")
    assert home.run("follow", run_id, "--worker").returncode == 4

    failed(home.run("deny", run_id, "t1s1c1"), 2, "t1s1c1 is settled already. t1s1c1 was approved by ana.")
