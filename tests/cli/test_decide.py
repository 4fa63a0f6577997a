from __future__ import annotations

import json
from pathlib import Path

import pytest

from perdure.cli.listing import DECIDED
from perdure.testing.script import asks, says, together
from tests.cli.conftest import AtTerminal, Left, Serve
from tests.cli.programs import Home, until
from tests.cli.test_order import told
from tests.cli.test_start import failed
from tests.servers import unique

WRITE = asks("write_file", path="out.txt", content="text")
OTHER = asks("write_file", path="other.txt", content="text")
RISKY = asks("execute_command", command="sudo rm -rf build")
CHANGED = {"path": "changed.txt", "content": "text"}


def editor(folder: Path, written: str) -> str:
    """An editor that a person uses to write this."""
    (folder / "written.txt").write_text(written)
    program = folder / "editor.sh"
    program.write_text(f'#!/bin/sh\ncp "$1" {folder}/shown.json\ncp {folder}/written.txt "$1"\n')
    program.chmod(0o755)
    return str(program)


def status(home: Home, run_id: str) -> str:
    return str(json.loads(home.run("show", run_id, "--json").stdout)["status"])


def test_arguments_changed_in_an_editor_are_what_runs(home: Home, left: Left, serve: Serve) -> None:
    run_id = left(WRITE, says("Done."))
    serve()

    approved = home.run("approve", run_id, "--edit", EDITOR=editor(home.path, json.dumps(CHANGED)))
    followed = home.run("follow", run_id)

    told(approved, 'approved t1s1c1 write_file {"path": "changed.txt"')
    assert json.loads((home.path / "shown.json").read_text()) == {"path": "out.txt", "content": "text"}
    assert followed.returncode == 0, followed
    assert (home.path / "changed.txt").exists()
    assert not (home.path / "out.txt").exists()


def test_arguments_can_be_given_on_the_command_line(home: Home, left: Left, serve: Serve) -> None:
    run_id = left(together(WRITE, OTHER), says("Done."))
    serve()

    told(home.run("approve", run_id, "t1s1c2", "--arguments", json.dumps(CHANGED)), "approved t1s1c2")
    told(home.run("deny", run_id, "--tool", "write_file"), "denied t1s1c1")
    home.run("follow", run_id)

    assert (home.path / "changed.txt").exists()
    assert not (home.path / "other.txt").exists()


def test_what_cannot_be_used_as_arguments_approves_nothing(home: Home, left: Left) -> None:
    run_id = left(together(WRITE, OTHER), says("Done."))
    one = ("approve", run_id, "t1s1c1")

    failed(home.run("approve", run_id, "--edit", EDITOR="true"), 2, "one call at a time", "t1s1c1, t1s1c2")
    failed(home.run(*one, "--arguments", "{"), 2, "line 1, column 2", "Nothing was approved")
    failed(home.run(*one, "--arguments", '{"path": 3}'), 2, "$.content: is missing", "Nothing was approved")
    failed(home.run(*one, "--edit", EDITOR=editor(home.path, "no json")), 2, "no JSON", "Nothing was approved")
    failed(home.run(*one, "--edit", EDITOR="true"), 2, "Nothing was changed")
    failed(home.run(*one, "--edit", EDITOR="false"), 2, "Editing failed")
    failed(home.run(*one, "--edit", EDITOR="", VISUAL=""), 2, "no terminal", "--arguments")
    failed(home.run("approve", run_id, "t9s9c9", "--arguments", "{}"), 2, "There is no call t9s9c9", "perdure show")

    assert status(home, run_id) == "waiting_approval"


def test_at_a_terminal_the_editor_opens_again_with_what_was_written(
    home: Home, left: Left, at_terminal: AtTerminal
) -> None:
    run_id = left(WRITE, says("Done."))
    terminal = at_terminal("approve", run_id, "--edit", EDITOR=editor(home.path, '{"path": 3}'))

    terminal.until("$.content: is missing")
    terminal.until("Enter opens the editor again, Ctrl-D leaves the call waiting: ")
    editor(home.path, json.dumps(CHANGED))
    terminal.type("")
    terminal.until("approved t1s1c1 write_file")

    assert terminal.wait() == 0
    assert json.loads((home.path / "shown.json").read_text()) == {"path": 3}


@pytest.mark.parametrize(
    ("options", "why"),
    [
        (["x", "--edit", "--arguments", "{}"], "give one of them"),
        (["x", "--for", "2h"], "add --remember"),
        (["x", "--any-arguments"], "add --remember"),
        (["x", "--remember", "run", "--for", "soon"], "'soon' is no time"),
        (["x", "--remember", "everybody"], "--remember"),
        (["x", "--all"], "not both"),
        (["x", "--agent", "clerk"], "goes with --all"),
        (["x", "t1s1c1", "--tool", "publish"], "leave it out"),
        (["--all", "--edit"], "one at a time"),
        ([], "Which run?"),
    ],
)
def test_options_that_do_not_go_together_are_refused(home: Home, options: list[str], why: str) -> None:
    failed(home.run("approve", *options), 2, why, "--help")


def test_a_tool_that_nothing_waits_for_is_said(home: Home, left: Left) -> None:
    run_id = left(WRITE, says("Done."))

    failed(home.run("approve", run_id, "--tool", "publish"), 2, "No call of the tool 'publish' waits")


def test_the_calls_of_an_agent_are_approved_in_a_heap_but_for_what_a_safety_rule_asks(
    home: Home, left: Left, serve: Serve
) -> None:
    agent = unique("clerk")
    first = left(together(WRITE, RISKY), says("Done."), agent=agent)
    second = left(OTHER, says("Done."), agent=agent)
    serve()
    heap = ("approve", "--all", "--agent", agent, "--tool", "write_file")

    failed(home.run(*heap), 2, "approve these 2 calls", "--yes", "Nothing was done")
    approved = home.run("approve", "--all", "--agent", agent, "--yes")
    again = home.run("approve", "--all", "--agent", agent, "--yes")
    denied = home.run("deny", "--all", "--agent", agent, "--yes", "--reason", "too dangerous")

    told(approved, f"approved {first} t1s1c1 write_file", f"approved {second} t1s1c1 write_file")
    assert f"left waiting: {first} t1s1c2 must be approved by its name" in approved.stderr
    told(again, f"left waiting: {first} t1s1c2", f"No call waits of the agent {agent}")
    told(denied, f"denied {first} t1s1c2 execute_command")
    assert "too dangerous" in home.run("follow", first).stdout
    assert home.run("follow", second).returncode == 0


def test_a_heap_is_shown_and_confirmed_by_the_word_yes(left: Left, at_terminal: AtTerminal, home: Home) -> None:
    agent = unique("clerk")
    run_id = left(WRITE, says("Done."), agent=agent)

    for answer, code, said in (("", 1, "Nothing was done."), ("yes", 0, f"approved {run_id} t1s1c1")):
        terminal = at_terminal("approve", "--all", "--agent", agent)
        terminal.until("path: out.txt")
        terminal.until("Approve this call? Type yes, then Enter: ")
        terminal.type(answer)
        terminal.until(said)
        assert terminal.wait() == code


def test_an_approval_is_remembered_for_the_run_for_a_while(home: Home, left: Left, serve: Serve) -> None:
    run_id = left(WRITE, OTHER, says("Done."))
    serve()

    approved = home.run("approve", run_id, "--remember", "run", "--for", "2h", "--any-arguments")
    followed = home.run("follow", run_id)
    listed = home.run("grants", "--run", run_id)

    told(approved, f"Remembered for the run {run_id} whatever the arguments, for 2 h", f"perdure grants --run {run_id}")
    assert followed.returncode == 0, followed
    assert (home.path / "other.txt").exists()
    assert f"{run_id}/g1" in listed.stdout
    assert "in 1 h 59 min" in listed.stdout


def test_what_always_asks_is_not_remembered(home: Home, left: Left) -> None:
    run_id = left(RISKY, says("Done."))

    failed(home.run("approve", run_id, "--remember", "run"), 2, "cannot be remembered")
    assert status(home, run_id) == "waiting_approval"


def test_of_several_calls_none_is_decided_until_it_is_named(home: Home, left: Left) -> None:
    run_id = left(together(WRITE, OTHER), says("Done."))

    for verb in ("approve", "deny"):
        failed(home.run(verb, run_id), 2, "2 calls wait: name which", f"perdure {verb} {run_id} t1s1c1 t1s1c2")
    assert status(home, run_id) == "waiting_approval"
    told(home.run("deny", run_id, "t1s1c1", "t1s1c2"), "denied t1s1c1", "denied t1s1c2")


def awaited(home: Home) -> list[tuple[str, str]]:
    """What `perdure ls` says that runs await."""
    rows = map(json.loads, home.run("ls", "--json", "--limit", "1000").stdout.splitlines())
    return [(row["run_id"], row["awaits"]) for row in rows]


def test_a_second_decision_is_judged_by_the_first_though_no_worker_has_heard_of_it(home: Home, left: Left) -> None:
    run_id = left(WRITE, says("Done."))

    told(home.run("approve", run_id, "t1s1c1"), "approved t1s1c1 write_file", "No worker serves the run now")
    failed(home.run("deny", run_id, "t1s1c1"), 2, "t1s1c1 does not wait for a human", "t1s1c1 was approved")
    failed(home.run("approve", run_id), 2, "Nothing waits for approval. t1s1c1 was approved")
    until(lambda: (run_id, DECIDED) in awaited(home))
    assert run_id not in home.run("inbox").stdout


def test_a_message_to_a_run_that_nobody_serves_has_its_id_and_can_be_changed(home: Home, left: Left) -> None:
    run_id = left(WRITE, says("Done."))

    told(home.run("send", run_id, "In May."), f"sent {run_id} (u2)")
    told(home.run("edit", run_id, "u2", "In June."), f"changed {run_id} (u2)")
    told(home.run("withdraw", run_id, "u2"), f"withdrawn {run_id} (u2)")
    failed(home.run("edit", run_id, "u2", "In July."), 2, "There is no message u2")


def test_what_is_remembered_in_a_run_that_nobody_serves_is_not_said_to_be_done(home: Home, left: Left) -> None:
    run_id = left(WRITE, says("Done."))

    told(home.run("approve", run_id, "--remember", "run"), f"To be remembered for the run {run_id}", "once it is")
    failed(home.run("approve", run_id, "--remember", "run", "--for", "999999999d"), 2, "too long: at most 36500d")


def test_arguments_that_say_something_twice_approve_nothing(home: Home, left: Left) -> None:
    run_id = left(WRITE, says("Done."))
    doubled = '{"path": "a.txt", "content": "x", "path": "../../b.txt"}'

    failed(home.run("approve", run_id, "t1s1c1", "--arguments", doubled), 2, "'path' twice", "Nothing was approved")
    assert status(home, run_id) == "waiting_approval"


def test_arguments_that_lead_out_of_the_workspace_are_judged_again_and_ask(
    home: Home, left: Left, serve: Serve
) -> None:
    run_id = left(WRITE, says("Done."))
    serve()
    outside = json.dumps({"path": "~/.bashrc", "content": "x"})

    told(home.run("approve", run_id, "t1s1c1", "--arguments", outside), "approved t1s1c1")
    failed_again = home.run("follow", run_id)

    assert failed_again.returncode == 4
    assert ".bashrc" in home.run("inbox").stdout


@pytest.mark.parametrize("order", [["cancel"], ["show"], ["send", "Hi"], ["approve"], ["close"], ["export"]])
def test_a_book_of_grants_is_no_run(home: Home, left: Left, serve: Serve, order: list[str]) -> None:
    agent = unique("clerk")
    run_id = left(WRITE, says("Done."), agent=agent)
    serve()
    home.run("approve", run_id, "--remember", "agent")
    assert home.run("follow", run_id).returncode == 0
    until(lambda: f"{run_id}/g1" in home.run("grants").stdout)

    name, *rest = order
    failed(home.run(name, f"perdure-grants:agent:{agent}", *rest), 2, "book of grants", "perdure grants")
    assert f"{run_id}/g1" in home.run("grants").stdout


TWO_PEOPLE = """---
policy: {write_file: {then: ask, needed: 2}}
---
You help.
"""


def test_two_people_who_share_an_account_say_who_they_are(home: Home, left: Left) -> None:
    (home.path / "pair.md").write_text(TWO_PEOPLE)
    run_id = left(WRITE, says("Done."), options=("--agent", "pair.md"))

    told(home.run("approve", run_id, "t1s1c1", PERDURE_ACTOR="ana"), "approved t1s1c1")
    failed(home.run("approve", run_id, "t1s1c1", PERDURE_ACTOR="ana"), 2, "ana has approved t1s1c1 already")
    told(home.run("approve", run_id, "t1s1c1", PERDURE_ACTOR="bo"), "approved t1s1c1")

    shown = home.run("show", run_id)
    assert "t1s1c1 was approved by ana." in shown.stdout
    assert "t1s1c1 was approved by bo." in shown.stdout
    assert "warning" not in shown.stderr
