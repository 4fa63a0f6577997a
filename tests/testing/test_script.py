from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest

from perdure.contracts.usage import Usage
from perdure.providers.scripted import Pause, Reply, Script, ScriptedCall
from perdure.testing.script import (
    asks,
    asks_badly,
    fails,
    held,
    refuses,
    save,
    says,
    script,
    slowly,
    thinks,
    together,
    unless_forced,
)


def test_a_line_is_one_reply() -> None:
    played = script(
        says("in ", "pieces"), thinks("hm"), asks("add", a=1, b=2), asks_badly("add", '{"a": '), refuses("No.")
    )

    assert played.replies == (
        Reply(text=("in ", "pieces")),
        Reply(reasoning=("hm",)),
        Reply(calls=(ScriptedCall(tool="add", arguments={"a": 1, "b": 2}),)),
        Reply(calls=(ScriptedCall(tool="add", arguments_text='{"a": '),)),
        Reply(text=("No.",), finish="refused"),
    )


def test_an_argument_may_have_any_name() -> None:
    assert asks("add", tool="x", self=1).calls[0].arguments == {"tool": "x", "self": 1}


def test_lines_together_are_one_reply_with_everything_in_it() -> None:
    reply = together(thinks("Two."), says("I look at both."), asks("look", at="a"), asks("look", at="b"))

    assert (reply.reasoning, reply.text) == (("Two.",), ("I look at both.",))
    assert [call.arguments for call in reply.calls] == [{"at": "a"}, {"at": "b"}]


def test_nothing_together_is_no_reply() -> None:
    with pytest.raises(ValueError, match="at least one reply"):
        together()


def test_failures_are_attempts_at_the_reply_below_them() -> None:
    played = script(says("first"), fails("rate_limited"), fails("overloaded", after=1), says("second"), says("third"))

    assert [[failure.kind for failure in reply.failures if failure] for reply in played.replies] == [
        [],
        ["rate_limited", "overloaded"],
        [],
    ]


def test_failures_with_no_reply_below_them_last_for_good() -> None:
    [reply] = script(fails("network"), fails("overloaded")).replies

    kinds = [failure.kind for failure in reply.failures if failure]
    assert kinds[:3] == ["network", "overloaded", "overloaded"]
    assert len(kinds) > 50


def test_a_reply_may_take_its_time_wait_and_take_tokens(tmp_path: Path) -> None:
    reply = slowly(held(says("a", "b", usage=Usage(input_tokens=7)), tmp_path / "gate", after=1), timedelta(seconds=1))

    assert (reply.pace, reply.usage) == (timedelta(seconds=1), Usage(input_tokens=7))
    assert reply.pauses == (Pause(gate=str(tmp_path / "gate"), after=1),)


def test_a_saved_script_is_played_by_the_model_of_its_name(tmp_path: Path) -> None:
    played = script(
        unless_forced(asks("look"), says("I must answer.")), fails("timeout"), says("Done."), repeat_last=True
    )

    model = save(played, str(tmp_path / "script.json"))

    assert model == f"scripted:{tmp_path / 'script.json'}"
    assert Script.load(model.removeprefix("scripted:")) == played
