from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import product
from pathlib import Path
from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import JsonValue

from perdure.authority.judge import judge
from perdure.contracts.activities import ProposedCall
from perdure.contracts.agent import ApprovalRule, Humans, Mode, PolicyWord, ToolPolicy
from perdure.contracts.approvals import CallVerdict, Verdict
from perdure.contracts.digests import digest_of
from perdure.contracts.messages import CallPart
from perdure.contracts.tools import Effect, ToolSpec
from tests.authority.calls import (
    ASK,
    FACTS,
    READ,
    REQUEST,
    TOOLS,
    WRITE,
    approval_of,
    approved,
    calls,
    decided,
    granted,
    says,
    verdict_on,
    with_policy,
)

DOCUMENT = Path(__file__).parents[2] / "docs" / "authority.md"
BROKEN = ToolSpec(name="broken", effect="read", parameters={"type": "object", "properties": {"a": {"type": "strange"}}})


def documented(head: str, any_of: Sequence[str]) -> dict[tuple[str, str, str, str], tuple[str, str]]:
    """The table of the document that begins so: (first column, second, mode, humans) -> (decision, rule)."""
    text = DOCUMENT.read_text(encoding="utf-8")
    rows = [
        [cell.strip() for cell in line.strip().strip("|").split("|")]
        for line in text[text.index(head) :].partition("\n\n")[0].splitlines()
    ]
    heads = [tuple(head.split(", ")) for head in rows[0][2:]]
    table: dict[tuple[str, str, str, str], tuple[str, str]] = {}
    for first, second, *cells in rows[2:]:
        for one in any_of if second == "any" else [second]:
            for (mode, humans), cell in zip(heads, cells, strict=True):
                decision, rule = re.fullmatch(r"(\w+) `(\w+)`", cell).groups()  # type: ignore[union-attr]  # a test: let it fail
                table[first, one, mode, humans] = (decision, rule)
    return table


def test_the_documented_table_is_what_is_decided() -> None:
    decisions: dict[tuple[str, str, str, str], tuple[str, str]] = {}
    words: tuple[PolicyWord | None, ...] = (None, *get_args(PolicyWord))
    effects: tuple[Effect | None, ...] = (None, *get_args(Effect))
    modes: tuple[Mode, ...] = get_args(Mode)
    humans: tuple[Humans, ...] = get_args(Humans)
    for word, effect, mode, people in product(words, effects, modes, humans):
        tool = ToolSpec(name="write_note", effect=effect)
        request = with_policy(word, tools=(tool,), mode=mode, humans=people)
        decisions[word or "", effect or "undeclared", mode, people] = decided(verdict_on(calls("write_note"), request))

    assert len(decisions) == 100
    assert decisions == documented("| policy | effect |", [*get_args(Effect), "undeclared"])


def test_the_documented_table_of_people_and_grants_is_what_is_decided() -> None:
    said: dict[str, PolicyWord] = {"allow": "allow", "ask": "ask", "firm ask": "always_ask", "deny": "deny"}
    part = calls("write_note", text="a")
    less = Verdict(decision="allow", rule="policy")
    modes: tuple[Mode, ...] = get_args(Mode)
    humans: tuple[Humans, ...] = get_args(Humans)
    decisions: dict[tuple[str, str, str, str], tuple[str, str]] = {}
    for (name, word), mode, people in product(said.items(), modes, humans):
        request = with_policy(word, mode=mode, humans=people)
        bound = ToolPolicy(tool="write_note", word=word, approval=ApprovalRule(approvers=("ada",)))
        shown = verdict_on(part, request.model_copy(update={"mode": "manual", "humans": "available"}))
        heard: dict[str, CallVerdict] = {
            "nothing": verdict_on(part, request),
            "grant": verdict_on(part, request.model_copy(update={"grants": (granted(),)})),
            "approval": verdict_on(part, request, response=approval_of(shown, "ada")),
            "approval of less": verdict_on(part, request, response=approved(shown.digest, "ada", seen=less)),
            "approval by the wrong person": verdict_on(
                part, request.model_copy(update={"policy": (bound,)}), response=approval_of(shown, "bob")
            ),
            "approval by deadline": verdict_on(
                part, request, response=approved(shown.digest, seen=shown.verdict, by_deadline=True)
            ),
        }
        decisions |= {(name, one, mode, people): decided(verdict) for one, verdict in heard.items()}

    assert len(decisions) == 96
    assert decisions == documented("| said | heard |", list(heard))


def test_every_call_of_a_reply_gets_its_own_verdict_in_order() -> None:
    parts = [
        calls(tool).model_copy(update={"call_id": f"t1s1c{number}"})
        for number, tool in enumerate(["read_note", "write_note", "nothing"], 1)
    ]
    verdicts = judge(
        REQUEST.model_copy(update={"calls": tuple(ProposedCall(part=part) for part in parts)}), FACTS
    ).verdicts
    assert [verdict.call_id for verdict in verdicts] == ["t1s1c1", "t1s1c2", "t1s1c3"]
    assert [decided(verdict) for verdict in verdicts] == [
        ("allow", "effect"),
        ("ask", "effect"),
        ("deny", "unknown_tool"),
    ]


def test_an_unknown_tool_is_denied_with_the_names_of_the_declared_ones() -> None:
    verdict = verdict_on(calls("write_notes"))
    assert decided(verdict) == ("deny", "unknown_tool")
    assert 'Did you mean "write_note"?' in verdict.verdict.reason
    assert "Declared tools: read_note, write_note, ask_human." in verdict.verdict.reason


def test_a_bare_name_is_judged_as_the_declared_tool() -> None:
    request = REQUEST.model_copy(update={"tools": (ToolSpec(name="notes__search", effect="read"),)})
    verdict = verdict_on(calls("search", text="a"), request)
    assert decided(verdict) == ("allow", "effect")
    assert verdict.tool == "notes__search"
    assert verdict.digest == digest_of({"tool": "notes__search", "arguments": {"text": "a"}})


def test_a_full_name_is_not_told_again() -> None:
    assert verdict_on(calls("read_note")).tool == ""


def test_a_tool_out_of_scope_is_denied_and_its_siblings_are_not() -> None:
    request = REQUEST.model_copy(update={"scope": ("read_note",)})
    assert decided(verdict_on(calls("write_note"), request)) == ("deny", "scope")
    assert decided(verdict_on(calls("read_note"), request)) == ("allow", "effect")


def test_an_empty_scope_denies_every_call() -> None:
    request = REQUEST.model_copy(update={"scope": ()})
    for name in ("read_note", "write_note", "ask_human", "nothing"):
        assert decided(verdict_on(calls(name), request)) == ("deny", "scope")
    assert decided(verdict_on(calls("read_note"), request.model_copy(update={"tools": ()}))) == ("deny", "scope")


def test_scope_comes_before_arguments() -> None:
    request = REQUEST.model_copy(update={"scope": ("read_note",)})
    assert decided(verdict_on(says("write_note", "{"), request)) == ("deny", "scope")


def test_bad_arguments_are_denied_whatever_the_policy_and_the_mode_say() -> None:
    assert decided(verdict_on(says("write_note", '{"a": '), with_policy("allow", mode="auto"))) == ("deny", "arguments")


def test_the_first_policy_of_a_tool_counts() -> None:
    policy = (ToolPolicy(tool="write_note", word="deny"), ToolPolicy(tool="write_note", word="allow"))
    assert decided(verdict_on(calls("write_note"), REQUEST.model_copy(update={"policy": policy}))) == ("deny", "policy")


@pytest.mark.parametrize("word", [None, "ask", "always_ask"])
def test_an_approved_call_runs(word: PolicyWord | None) -> None:
    request = with_policy(word)
    asked = verdict_on(calls("write_note", text="a"), request)
    assert asked.verdict.decision == "ask"
    verdict = verdict_on(calls("write_note", text="a"), request, response=approval_of(asked, "ada"))
    assert decided(verdict) == ("allow", "approved")
    assert verdict.verdict.reason.startswith("Approved by ada: ")


def test_an_approval_of_other_arguments_counts_for_nothing() -> None:
    other = verdict_on(calls("write_note", text="a")).digest
    assert decided(verdict_on(calls("write_note", text="b"), response=approved(other))) == ("ask", "effect")
    assert decided(verdict_on(calls("write_note", text="b"), response=approved(""))) == ("ask", "effect")


def test_an_approval_of_another_tool_counts_for_nothing() -> None:
    request = REQUEST.model_copy(update={"tools": (WRITE, ToolSpec(name="drop_note", effect="write"))})
    other = verdict_on(calls("drop_note"), request).digest
    assert decided(verdict_on(calls("write_note"), request, response=approved(other))) == ("ask", "effect")


def test_an_approval_lifts_no_denial() -> None:
    digest = verdict_on(calls("write_note")).digest
    assert decided(verdict_on(calls("write_note"), with_policy("deny"), response=approved(digest))) == (
        "deny",
        "policy",
    )


def test_a_refusal_is_no_approval() -> None:
    refused = approved(verdict_on(calls("write_note")).digest).model_copy(update={"decision": "deny"})
    assert decided(verdict_on(calls("write_note"), response=refused)) == ("ask", "effect")


def test_a_tool_that_asks_a_person_needs_no_approval() -> None:
    assert decided(verdict_on(calls("ask_human"))) == ("allow", "question")
    always = REQUEST.model_copy(update={"policy": (ToolPolicy(tool="ask_human", word="always_ask"),)})
    assert decided(verdict_on(calls("ask_human"), always)) == ("allow", "question")


def test_a_tool_that_asks_a_person_is_denied_where_there_is_none() -> None:
    alone = REQUEST.model_copy(update={"humans": "none", "mode": "auto"})
    verdict = verdict_on(calls("ask_human"), alone)
    assert decided(verdict) == ("deny", "no_human")
    assert "Nobody can be asked" in verdict.verdict.reason


def test_the_policy_can_deny_asking_a_person() -> None:
    request = REQUEST.model_copy(update={"policy": (ToolPolicy(tool="ask_human", word="deny"),)})
    assert decided(verdict_on(calls("ask_human"), request)) == ("deny", "policy")


def test_without_a_person_the_model_is_told_why_the_call_would_have_asked() -> None:
    verdict = verdict_on(calls("write_note"), REQUEST.model_copy(update={"humans": "none"}))
    assert decided(verdict) == ("deny", "no_human")
    assert '"write_note" changes data' in verdict.verdict.reason


def test_a_call_that_cannot_be_judged_asks_in_every_mode() -> None:
    for mode in get_args(Mode):
        request = REQUEST.model_copy(update={"tools": (BROKEN,), "mode": mode})
        verdict = verdict_on(calls("broken", a=1), request)
        assert decided(verdict) == ("ask", "error")
        assert "UnknownType" in verdict.verdict.reason


def test_a_call_that_does_more_than_can_be_looked_at_asks_only_where_a_rule_speaks_of_its_tool() -> None:
    copy = ToolSpec(name="copy", effect="read", path_arguments=("source", "target"))
    many: list[JsonValue] = [f"f{number}" for number in range(40)]
    request = REQUEST.model_copy(update={"tools": (copy,)})
    assert decided(verdict_on(calls("copy", source=many, target=many), request)) == ("allow", "effect")
    ruled = request.model_copy(update={"policy": (ToolPolicy(tool="copy", word="allow"),)})
    assert decided(verdict_on(calls("copy", source=many, target=many), ruled)) == ("ask", "error")


def test_a_call_that_cannot_be_judged_is_denied_where_nobody_can_be_asked() -> None:
    request = REQUEST.model_copy(update={"tools": (BROKEN,), "mode": "auto", "humans": "none"})
    assert decided(verdict_on(calls("broken", a=1), request)) == ("deny", "no_human")


def test_a_call_that_cannot_be_judged_runs_once_a_person_approved_it() -> None:
    request = REQUEST.model_copy(update={"tools": (BROKEN,)})
    asked = verdict_on(calls("broken", a=1), request)
    assert decided(verdict_on(calls("broken", a=1), request, response=approval_of(asked))) == ("allow", "approved")


@given(
    names=st.one_of(st.sampled_from([tool.name for tool in TOOLS]), st.text(max_size=200)),
    text=st.text(max_size=200),
    arguments=st.one_of(st.none(), st.dictionaries(st.text(), st.one_of(st.text(), st.integers(), st.none()))),
    scope=st.one_of(st.none(), st.just(()), st.just(("read_note",))),
    humans=st.sampled_from(get_args(Humans)),
    mode=st.sampled_from(get_args(Mode)),
)
def test_any_call_gets_a_verdict_with_a_reason_and_nobody_is_asked_where_nobody_is(
    names: str,
    text: str,
    arguments: dict[str, Any] | None,
    scope: tuple[str, ...] | None,
    humans: Humans,
    mode: Mode,
) -> None:
    part = CallPart(call_id="t1s1c1", tool=names, arguments_text=text, arguments=arguments)
    request = REQUEST.model_copy(update={"scope": scope, "humans": humans, "mode": mode})
    verdict = verdict_on(part, request)
    assert verdict.call_id == part.call_id
    assert verdict.digest
    assert verdict.verdict.reason
    assert not (humans == "none" and verdict.verdict.decision == "ask")
    if verdict.verdict.decision == "allow":
        assert names in {READ.name, WRITE.name, ASK.name}
        assert scope is None or names in scope
