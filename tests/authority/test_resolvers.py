from __future__ import annotations

from typing import Any

from perdure.authority.resolvers import Consultation, consultations
from perdure.contracts.activities import JudgeRequest, ProposedCall
from perdure.contracts.agent import ToolPolicy
from perdure.contracts.messages import CallPart
from tests.authority.calls import FACTS, REQUEST, RUN, calls, says, where

ASKED = ToolPolicy(tool="write_note", resolver="a:f")


def request(*parts: CallPart, **fields: Any) -> JudgeRequest:
    return REQUEST.model_copy(update={"calls": tuple(ProposedCall(part=part) for part in parts), **fields})


def test_the_resolver_of_the_deciding_rule_is_asked_once_for_each_call() -> None:
    asked = request(calls("write_note", text="x"), calls("read_note"), policy=(ASKED,), house_policy=(ASKED,))
    assert consultations(asked, FACTS) == (Consultation("a:f", "t1s1c1", "write_note", {"text": "x"}),)


def test_both_policies_have_their_say() -> None:
    house = ToolPolicy(tool="*", resolver="b:g")
    asked = request(calls("write_note"), policy=(ASKED,), house_policy=(house,))
    assert [one.resolver for one in consultations(asked, FACTS)] == ["a:f", "b:g"]


def test_a_rule_that_does_not_decide_asks_nobody() -> None:
    first = ToolPolicy(tool="write_note", word="allow", when=where(text="x"))
    assert consultations(request(calls("write_note", text="x"), policy=(first, ASKED)), FACTS) == ()
    assert len(consultations(request(calls("write_note", text="y"), policy=(first, ASKED)), FACTS)) == 1


def test_nobody_is_asked_about_a_call_that_is_denied_anyway() -> None:
    policy = (ToolPolicy(tool="*", resolver="a:f"),)
    assert consultations(request(says("write_note", "{"), policy=policy), FACTS) == ()
    assert consultations(request(calls("unknown"), policy=policy), FACTS) == ()
    assert consultations(request(calls("write_note"), policy=policy, scope=("read_note",)), FACTS) == ()


def test_a_call_that_cannot_be_judged_keeps_nobody_from_being_asked_about_the_others() -> None:
    broken = ToolPolicy(tool="run", resolver="a:f", when=where(command=("regex", "(")))
    asked = request(calls("run", command="x"), calls("write_note"), policy=(broken, ASKED), tools=(RUN, *REQUEST.tools))
    assert [one.tool for one in consultations(asked, FACTS)] == ["write_note"]
