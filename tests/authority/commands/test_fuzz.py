"""Made-up commands: none crashes, none is slow, and a real bash runs nothing more than what was said."""

from __future__ import annotations

import random

import pytest

from perdure.authority.commands import analyse_command, judge_command
from tests.authority.commands.inputs import PIECES, anything
from tests.authority.corpus.lines import FACTS
from tests.bench.commands import SLOW, bash, seconds
from tests.bench.secrets import secrets


def test_no_input_raises_and_what_does_not_parse_asks() -> None:
    source = random.Random(6)
    for _ in range(1500):
        text = anything(source)
        analysis = analyse_command(text, FACTS)
        if analysis.problem:
            assert judge_command(text, FACTS).decision == "ask", text


def test_no_input_takes_long() -> None:
    source = random.Random(7)
    texts = [anything(source) for _ in range(500)]

    assert [text for text in texts if seconds(text) > SLOW] == []


@pytest.mark.parametrize(
    "piece", ["ls;", "ls\n", "x=1 ", "f(){ f1; };", "a|", "echo a ", "$x", "{a,b}", "../", "~", "*"]
)
def test_a_long_command_is_judged_as_fast_as_a_short_one(piece: str) -> None:
    for size in (2_000, 16_000, 1_000_000):
        text = "ls " + piece * (size // len(piece))

        assert seconds(text) < SLOW


@pytest.mark.parametrize("piece", sorted(set(PIECES)))
def test_deep_and_repeated_syntax_is_judged_fast(piece: str) -> None:
    assert seconds(piece * 2_000) < SLOW


def test_functions_that_call_each_other_many_times_over_end() -> None:
    text = "f0() { ls; }\n" + "\n".join(f"f{n}() {{ f{n - 1}; f{n - 1}; }}" for n in range(1, 30)) + "\nf29"

    assert judge_command(text, FACTS).decision == "ask"
    assert seconds(text) < SLOW


def test_bash_runs_nothing_that_the_analysis_did_not_see() -> None:
    assert "0 of them did more" in bash(count=4_000, seed=11)


def test_a_long_file_in_a_here_document_is_still_read() -> None:
    body = "std::cout << \"x\" << 'y' << `z` << $(q) << \\n;\n" * 1500

    assert judge_command(f"cat > main.cpp <<'EOF'\n{body}EOF\n", FACTS).rule == "command:write"
    assert seconds(f"cat > main.cpp <<'EOF'\n{body}EOF\n") < SLOW


def test_bash_reads_no_secret_for_a_command_that_was_allowed() -> None:
    assert "0 of them leak" in secrets(count=600, seed=12)
