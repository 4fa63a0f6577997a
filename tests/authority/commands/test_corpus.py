"""The corpus: what is missed, what is asked without need, and how that is counted."""

from __future__ import annotations

from perdure.authority.commands import judge_command
from tests.authority.corpus.lines import ALWAYS_ASK, FACTS, MUST_ASK, MUST_PASS


def test_the_corpus_is_large_and_balanced() -> None:
    asks = len(MUST_ASK) + len(ALWAYS_ASK)

    assert len({*MUST_PASS, *MUST_ASK, *ALWAYS_ASK}) == len(MUST_PASS) + asks >= 300
    assert 0.35 < len(MUST_PASS) / (len(MUST_PASS) + asks) < 0.65


def test_nothing_that_must_ask_is_allowed() -> None:
    missed = [text for text in (*MUST_ASK, *ALWAYS_ASK) if judge_command(text, FACTS).decision == "allow"]

    assert missed == []


def test_what_must_ask_in_every_mode_is_a_safety_rule() -> None:
    soft = [text for text in ALWAYS_ASK if not judge_command(text, FACTS).rule.startswith("safety:")]

    assert soft == []


def test_fewer_than_one_in_twenty_harmless_commands_ask() -> None:
    asked = [text for text in MUST_PASS if judge_command(text, FACTS).decision != "allow"]

    assert len(asked) < 0.05 * len(MUST_PASS), asked


def test_no_harmless_command_is_a_safety_matter() -> None:
    alarmed = [text for text in MUST_PASS if judge_command(text, FACTS).rule.startswith("safety:")]

    assert alarmed == []
