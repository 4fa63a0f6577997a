"""Safety rules: the table in the documentation is what holds."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest

from perdure.authority.commands import (
    CommandPolicy,
    analyse_command,
    judge_capabilities,
    judge_command,
    judge_paths,
)
from perdure.authority.paths import analyse_paths
from perdure.authority.safety import SAFETY_RULES, judge_safety
from tests.authority.corpus.lines import FACTS

TABLE = Path(__file__).parents[2] / "docs" / "safety-rules.md"
CELL = re.compile(r"(?<!\\)\|")


def examples(column: int) -> list[tuple[str, str]]:
    """Each example of one column of the table, with its rule."""
    found = []
    for line in TABLE.read_text(encoding="utf-8").splitlines():
        cells = [cell.strip().replace("\\|", "|") for cell in CELL.split(line)[1:-1]]
        if len(cells) == 4 and cells[0].startswith("`"):
            found += [(cells[0].strip("`"), example) for example in re.findall(r"`([^`]+)`", cells[column])]
    return found


def rules_for(example: str) -> set[str]:
    """The names of all rules that match the example."""
    kind, _, path = example.partition(": ")
    text = (path if kind in ("read", "write") else example).replace("<NUL>", "\x00")
    match kind:
        case "read":
            capabilities = analyse_paths("read", [text], FACTS)
        case "write":
            capabilities = analyse_paths("write", [text], FACTS)
        case _:
            capabilities = analyse_command(text, FACTS).capabilities
    return {rule.name for rule in SAFETY_RULES for capability in capabilities if rule.matches(capability, FACTS)}


def test_the_table_lists_every_rule_in_the_order_in_which_they_are_tried() -> None:
    listed = list(dict.fromkeys(rule for rule, _ in examples(2)))

    assert listed == [rule.name for rule in SAFETY_RULES]
    assert list(dict.fromkeys(rule for rule, _ in examples(3))) == listed


@pytest.mark.parametrize(("rule", "example"), examples(2))
def test_what_the_table_says_matches_does(rule: str, example: str) -> None:
    assert rule in rules_for(example)


@pytest.mark.parametrize(("rule", "example"), examples(3))
def test_what_the_table_says_does_not_match_does_not(rule: str, example: str) -> None:
    assert rule not in rules_for(example)


@pytest.mark.parametrize(("rule", "example"), [pair for pair in examples(2) if pair[0].startswith("delete-")])
def test_a_delete_names_the_right_family(rule: str, example: str) -> None:
    families = {name for name in rules_for(example) if name.startswith("delete-")}

    assert rule in families
    assert "delete-root" not in families or rule == "delete-root"


def test_a_safety_rule_comes_before_every_other_reason_to_ask() -> None:
    capabilities = analyse_command("touch x; cat .env; npm test", FACTS).capabilities

    assert judge_capabilities(capabilities, FACTS).rule == "safety:credentials"


def test_no_allowed_name_lifts_a_safety_rule() -> None:
    capabilities = analyse_command("cat .env", FACTS).capabilities

    assert judge_capabilities(capabilities, FACTS, CommandPolicy(("cat",))).rule == "safety:credentials"


def test_a_verdict_names_what_it_is_about() -> None:
    verdict = judge_safety(analyse_command("cat ~/.ssh/id_rsa", FACTS).capabilities, FACTS)

    assert verdict is not None
    assert verdict.reason.endswith("/home/u/.ssh/id_rsa")


def test_harmless_capabilities_match_no_rule() -> None:
    assert judge_safety(analyse_command("ls -la | head", FACTS).capabilities, FACTS) is None


def test_control_files_are_known_whatever_the_case_of_their_path() -> None:
    facts = replace(
        FACTS, workspace="/Users/Alice/Work", home="/Users/Alice", control_paths=("/Users/Alice/Work/Agents",)
    )

    assert judge_paths("write", ["Agents/me.md"], facts).rule == "safety:control-files"
    assert judge_command("echo x > agents/me.md", facts).rule == "safety:control-files"
    assert judge_command("echo x > A*/me.md", facts).rule == "safety:control-files"


def test_words_beyond_those_that_are_looked_at_hide_nothing() -> None:
    padding = " ".join(f"word{number}" for number in range(1000))

    assert (verdict := judge_safety(analyse_command(f"x {padding} .env", FACTS).capabilities, FACTS)) is not None
    assert verdict.rule == "safety:unparsable"
