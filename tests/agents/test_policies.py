from __future__ import annotations

from typing import Any

import pytest

from perdure.agents.policies import MisfitError, misfit, read_policy
from perdure.contracts.agent import ApprovalRule, ArgumentRule, ToolPolicy

WORDS = "'allow', 'ask', 'always_ask' or 'deny'"


def conditions(when: Any) -> list[tuple[str, str, str]]:
    (rule,) = read_policy({"run": {"when": when, "then": "allow"}})
    return [(test.argument, test.match, test.value) for test in rule.when]


def test_a_word_is_a_rule_for_every_call() -> None:
    assert read_policy({"a": "allow", "b*": "deny"}) == (
        ToolPolicy(tool="a", word="allow"),
        ToolPolicy(tool="b*", word="deny"),
    )


def test_one_rule_needs_no_list() -> None:
    assert read_policy({"a": {"then": "deny"}}) == read_policy({"a": [{"then": "deny"}]})


def test_a_plain_value_must_be_equal_and_is_kept_as_text() -> None:
    assert conditions({"a": "x", "b": 3, "c": True, "d": None, "e": ["y"]}) == [
        ("a", "exact", "x"),
        ("b", "exact", "3"),
        ("c", "exact", "true"),
        ("d", "exact", "null"),
        ("e", "exact", '["y"]'),
    ]


def test_every_way_to_compare_can_be_written_and_several_at_once() -> None:
    ways = {"exact": 5, "prefix": "p", "wildcard": "w*", "regex": "r+"}
    assert conditions({"a": ways}) == [
        ("a", "exact", "5"),
        ("a", "prefix", "p"),
        ("a", "wildcard", "w*"),
        ("a", "regex", "r+"),
    ]


def test_who_may_approve_is_read_only_where_it_is_said() -> None:
    (plain, starter) = read_policy({"a": [{"then": "ask"}, {"then": "ask", "not_starter": True}]})
    assert (plain.approval, starter.approval) == (None, ApprovalRule(not_starter=True))


def test_what_was_read_can_do_what_it_says() -> None:
    for rule in read_policy({"a": {"when": {"b": {"regex": "x*"}}, "then": "ask", "approvers": ["ada"]}}):
        assert misfit(rule) == ""
    assert misfit(ToolPolicy(tool="a", when=(ArgumentRule(argument="b", match="regex", value="["),)))


@pytest.mark.parametrize(
    ("policy", "path", "said"),
    [
        ("deny", (), "should be lines of `tool: word`"),
        ({"a": None}, ("a",), f"should be {WORDS}, or a list of rules"),
        ({"a": ["allow"]}, ("a", 0), "should be a rule, such as"),
        ({"a": [{"then": "allow"}, {}]}, ("a", 1), "should have either `then` or `resolver`"),
        ({"a": {"then": "ask", "resolver": "m:f"}}, ("a",), "should have either `then` or `resolver`"),
        ({"a": {"then": True}}, ("a", "then"), f"should be {WORDS}"),
        ({"a": {"resolver": ""}}, ("a", "resolver"), "should be module:function"),
        ({"a": {"whne": {}, "then": "allow"}}, ("a", "whne"), "is unknown: did you mean 'when'?"),
        ({"a": {"when": {}, "then": "allow"}}, ("a", "when"), "should name arguments"),
        ({"a": {"when": "x", "then": "allow"}}, ("a", "when"), "should name arguments"),
        ({"a": {"when": {"b": {}}, "then": "allow"}}, ("a", "when", "b"), "should say 'exact', 'prefix', 'wildcard'"),
        (
            {"a": {"when": {"b": {"starts": "x"}}, "then": "allow"}},
            ("a", "when", "b", "starts"),
            "is unknown: known are exact, prefix, wildcard, regex",
        ),
        ({"a": {"when": {"b": {"prefix": 3}}, "then": "deny"}}, ("a", "when", "b", "prefix"), "should be text"),
        ({"a": {"when": {"b": {"regex": "("}}, "then": "deny"}}, ("a", "when", "b", "regex"), "should be a regular"),
        ({"a": {"then": "allow", "needed": 2}}, ("a", "then"), "says allow, and then nobody is asked"),
        ({"a": {"then": "ask", "approvers": "ada"}}, ("a", "approvers"), "should be a list of people"),
        ({"a": {"then": "ask", "approvers": [1]}}, ("a", "approvers"), "should be a list of people"),
        ({"a": {"then": "ask", "approvers": []}}, ("a", "approvers"), "is empty, so nobody could approve"),
        ({"a": {"then": "ask", "not_starter": "yes"}}, ("a", "not_starter"), "should be true or false"),
        ({"a": {"then": "ask", "needed": 0}}, ("a", "needed"), "should be a whole number"),
        ({"a": {"then": "ask", "needed": True}}, ("a", "needed"), "should be a whole number"),
        ({"a": {"then": "ask", "approvers": ["ada"], "needed": 2}}, ("a", "needed"), "needs 2 people and names 1"),
    ],
)
def test_a_mistake_is_told_with_the_way_that_leads_to_it(policy: Any, path: tuple[Any, ...], said: str) -> None:
    with pytest.raises(MisfitError) as raised:
        read_policy(policy)
    assert raised.value.path == path
    assert str(raised.value).startswith(said)
