from __future__ import annotations

import pytest

from perdure.cli.text import arguments_line, first_lines, money, one_line, plain, taken
from perdure.contracts.usage import NANO, Cost, Usage


@pytest.mark.parametrize(
    ("written", "shown"),
    [
        ("\x1b[2Jgone", "\\x1b[2Jgone"),
        ("a\rb", "a\\x0db"),
        ("safe\u202egnihton", "safe\\u202egnihton"),
        ("in\u200bvisible", "in\\u200bvisible"),
        ("\x9b31m", "\\x9b31m"),
        ("line\r\nline\tcell", "line\nline\tcell"),
        ("grüße 日本 🙂", "grüße 日本 🙂"),
    ],
)
def test_what_would_command_the_terminal_is_shown_as_an_escape(written: str, shown: str) -> None:
    assert plain(written) == shown


def test_a_line_is_cut_and_says_how_much_is_missing() -> None:
    assert one_line("a\nb", 10) == "a b"
    assert one_line("they do not fit:\n- a is 5\n- b is missing\n", 100) == "they do not fit: a is 5; b is missing "
    assert one_line("x" * 1_500, 10) == "x" * 10 + "… (+1,490 characters)"


def test_a_long_text_shows_its_first_lines_and_counts_the_rest() -> None:
    assert first_lines("one\ntwo\nthree\nfour\nfive\n") == ("one", "two", "three", "(+2 lines)")
    assert first_lines("one") == ("one",)
    assert first_lines("") == ("",)


def test_a_line_of_a_long_text_is_bounded_too() -> None:
    (line,) = first_lines("y" * 100_000)

    assert len(line) < 500


def test_arguments_that_are_no_json_are_shown_as_the_model_wrote_them() -> None:
    assert arguments_line(None, '{"path": ') == '{"path": '
    assert arguments_line({"path": "über.md"}, "") == '{"path": "über.md"}'


@pytest.mark.parametrize(
    ("nano_dollars", "unpriced", "shown"),
    [
        (0, 0, "$0.00"),
        (10, 0, "$0.00000001"),
        (2_250, 0, "$0.00000225"),
        (1_234_567, 0, "$0.001235"),
        (12_345_678, 0, "$0.0123"),
        (1_239_000_000, 0, "$1.24"),
        (0, 1, "1 model call of unknown price"),
        (12_345_678, 2, "$0.0123 and 2 model calls of unknown price"),
    ],
)
def test_money_is_rounded_only_in_print_and_an_unknown_price_is_said(
    nano_dollars: int, unpriced: int, shown: str
) -> None:
    assert money(Cost(nano_dollars=nano_dollars, unpriced=unpriced)) == shown


def test_what_a_turn_took_says_tokens_and_money() -> None:
    usage = Usage(input_tokens=1_000, output_tokens=234)

    assert taken(usage, Cost(nano_dollars=20_000_000)) == "1,234 tokens (1,000 in, 234 out), $0.0200"


@pytest.mark.parametrize(
    ("tokens", "cost", "shown"),
    [
        (101, Cost(nano_dollars=NANO), "at least 101 tokens (101 in, 0 out), at least $1.00"),
        (101, Cost(unpriced=2), "at least 101 tokens (101 in, 0 out), 2 model calls of unknown price"),
        (101, Cost(), "at least 101 tokens (101 in, 0 out), $0.00"),
        (0, Cost(unpriced=1), "tokens unknown, 1 model call of unknown price"),
    ],
)
def test_what_nobody_knows_whole_is_not_told_as_exact(tokens: int, cost: Cost, shown: str) -> None:
    assert taken(Usage(requests=1, input_tokens=tokens, incomplete=1), cost) == shown
