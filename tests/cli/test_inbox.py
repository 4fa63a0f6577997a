from __future__ import annotations

import json
from datetime import timedelta

import pytest

from perdure.cli.inbox import Filter, Item, shown_item, who_may
from perdure.contracts.agent import ApprovalRule
from perdure.testing.script import asks, says, together
from tests.cli.conftest import Left
from tests.cli.happenings import NOON, asked, question
from tests.cli.programs import Home
from tests.servers import unique

WRITE = asks("write_file", path="out.txt", content="\n".join(f"line {number}" for number in range(50)))
QUESTION = asks("ask_human", question="Which colour?", options=["red", "blue"])
CALL = Item(run_id="harbour", agent="clerk", user="ana", opened_at=NOON, call=asked("t1s1c1", path="a.md"))


def shown(item: Item, *, full: bool = False) -> str:
    return "".join(span.text for span in shown_item(item, NOON + timedelta(minutes=5), full=full))


def test_an_item_shows_exactly_what_would_run_since_when_and_who_may_approve() -> None:
    assert shown(CALL) == (
        "harbour  t1s1c1 write_file\n"
        "  agent clerk, started by ana; waits 5 min\n"
        "  path: a.md\n"
        "  why it asks: write_file changes data [effect]\n"
        "  who may approve: anybody\n"
        "  perdure approve harbour t1s1c1\n"
        '  perdure deny harbour t1s1c1 --reason "…"\n'
    )


@pytest.mark.parametrize(
    ("minutes", "default", "said"),
    [(65, "deny", "; denied in 1 h ("), (5, "approve", "; approved now ("), (6, "deny", "; denied in 1 min (")],
)
def test_a_deadline_says_what_holds_then(minutes: int, default: str, said: str) -> None:
    until = NOON + timedelta(minutes=minutes)

    assert said in shown(CALL.model_copy(update={"deadline": until, "default": default}))


def test_a_question_shows_its_options_and_how_to_answer() -> None:
    item = Item(run_id="harbour", opened_at=NOON, question=question("t1s1c1", "Which?", "red", "blue"))

    assert item.tool == "ask_human"
    assert "  Which?\n  1. red\n  2. blue\n" in shown(item)
    assert 'perdure answer harbour --call t1s1c1 "…"' in shown(item)


def test_long_arguments_are_cut_unless_they_are_wanted_whole() -> None:
    long = CALL.model_copy(update={"call": asked("t1s1c1", content="\n".join("abcdefghijklmnopqrstuvwxyz"))})

    assert "… 6 more lines: --full shows all" in shown(long)
    assert "    z\n" not in shown(long)
    assert "    z\n" in shown(long, full=True)


@pytest.mark.parametrize(
    ("rule", "said"),
    [
        (ApprovalRule(), "anybody"),
        (ApprovalRule(approvers=("ada", "bob"), needed=2), "ada, bob; 2 people must"),
        (ApprovalRule(not_starter=True), "anybody but ana, who started the run"),
    ],
)
def test_who_may_approve_is_said_in_words(rule: ApprovalRule, said: str) -> None:
    assert who_may(rule, "ana") == said


def test_who_approved_already_is_said_where_several_must() -> None:
    call = asked("t1s1c1").model_copy(update={"approval": ApprovalRule(needed=2)})

    assert "2 people must; so far: ada\n" in shown(CALL.model_copy(update={"call": call, "approved_by": ("ada",)}))


def test_the_inbox_holds_what_waits_in_all_runs_and_no_worker_is_needed(home: Home, left: Left) -> None:
    agent = unique("clerk")
    first = left(together(WRITE, QUESTION), says("Done."), agent=agent)
    second = left(QUESTION, says("Done."), agent=agent)
    left(QUESTION, says("Done."), agent=unique("other"))

    told = home.run("inbox", "--agent", agent)
    asking = home.run("inbox", "--agent", agent, "--tool", "ask_human", "--json")
    (write,) = map(
        json.loads, home.run("inbox", "--agent", agent, "--tool", "write_file", "--json").stdout.splitlines()
    )

    assert told.returncode == 0, told
    heads = [line for line in told.stdout.splitlines() if line and not line.startswith(" ")]
    assert heads == [f"{first}  t1s1c1 write_file", f"{first}  t1s1c2 ask_human", f"{second}  t1s1c1 ask_human"]
    assert "30 more lines: --full shows all" in told.stdout
    assert [json.loads(line)["run_id"] for line in asking.stdout.splitlines()] == [first, second]
    assert (write["agent"], write["call"]["call_id"]) == (agent, "t1s1c1")
    assert write["call"]["arguments"]["content"].endswith("line 49")


def test_an_empty_inbox_says_so(home: Home) -> None:
    told = home.run("inbox", "--agent", "nobody", "--tool", "publish")

    assert (told.returncode, told.stdout) == (0, "")
    assert told.stderr.endswith("Nothing waits for a human of the agent nobody for the tool publish.\n")
    assert str(Filter()) == ""
