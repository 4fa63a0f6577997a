from __future__ import annotations

from collections.abc import Iterable

import pytest
from pydantic import JsonValue

from perdure.cli.ask import SHOWN_LINES, Desk, Response, chosen, shown_call
from perdure.cli.lines import Span
from perdure.cli.waiting import Asked
from perdure.contracts.requests import Answer, Approve, Deny
from tests.cli.happenings import asked, question


class Typist:
    """A person who types these lines, and then Ctrl-D. Counts what was typed before the question."""

    def __init__(self, *lines: str) -> None:
        self._lines = list(lines)
        self.forgot = 0

    async def next(self) -> str | None:
        return self._lines.pop(0) if self._lines else None

    def forget(self) -> None:
        self.forgot += 1


async def asking(about: Asked, *lines: str) -> tuple[Response | None, str]:
    told: list[str] = []

    def write(spans: Iterable[Span]) -> None:
        told.extend(span.text for span in spans)

    response = await Desk(Typist(*lines), write, "ana").ask(about)
    return response, "".join(told)


WRITE = asked("t1s1c1", path="SUMMARY.md", content="# Summary\n- one")


@pytest.mark.parametrize("line", ["a", "approve", "y", " Yes "])
async def test_an_approval_is_bound_to_the_arguments_that_were_shown(line: str) -> None:
    response, _ = await asking(WRITE, line)

    assert response == Approve(call_id="t1s1c1", digest=WRITE.digest, actor="ana")


@pytest.mark.parametrize("line", ["d", "deny", "n", "no"])
async def test_a_denial_carries_the_reason(line: str) -> None:
    response, _ = await asking(WRITE, line, " too long ")

    assert response == Deny(call_id="t1s1c1", digest=WRITE.digest, reason="too long", actor="ana")


async def test_a_denial_needs_no_reason() -> None:
    response, _ = await asking(WRITE, "d")

    assert response == Deny(call_id="t1s1c1", digest=WRITE.digest, actor="ana")


@pytest.mark.parametrize("line", ["", "  ", "ok do it", "approve it", "1", "l"])
async def test_nothing_but_a_word_that_says_so_approves(line: str) -> None:
    response, _ = await asking(WRITE, line)

    assert response is None


async def test_a_typing_error_asks_again() -> None:
    response, told = await asking(WRITE, "x", "a")

    assert isinstance(response, Approve)
    assert told.count("[a]pprove, [d]eny") == 2


async def test_what_was_typed_before_the_question_is_dropped() -> None:
    typist = Typist("a")

    await Desk(typist, lambda spans: None, "ana").ask(WRITE)

    assert typist.forgot == 1


async def test_the_question_shows_exactly_what_would_run_and_why_it_asks() -> None:
    _, told = await asking(WRITE, "a")

    assert told == (
        "\nMay this run? write_file (t1s1c1)\n"
        "  path: SUMMARY.md\n"
        "  content:\n    # Summary\n    - one\n"
        "  why it asks: write_file changes data [effect]\n"
        "[a]pprove, [d]eny, [l]eave it waiting? "
    )


async def test_a_long_argument_is_cut_and_can_be_viewed_whole() -> None:
    content = "\n".join(f"line {number}" for number in range(SHOWN_LINES + 30))

    response, told = await asking(asked("c1", content=content), "v", "a")
    before, after = told.split("[v]iew all", 1)

    assert isinstance(response, Approve)
    assert "line 49" not in before
    assert "… 30 more lines: v shows all" in before
    assert "line 49" in after


def test_an_argument_cannot_hide_what_would_run() -> None:
    arguments: dict[str, JsonValue] = {"command": "ls\x1b[2K\rrm -rf x", "deep\nwhy": {"\u202e": "\x07"}}
    call = asked("c1", tool="execute_command").model_copy(update={"arguments": arguments})

    text = "".join(span.text for span in shown_call(call, everything=True))

    assert "  command: ls\\x1b[2K\\x0drm -rf x\n" in text
    assert "deep why" in text
    assert not set(text) & set("\x1b\r\x07\u202e")


def test_a_call_without_arguments_says_so() -> None:
    assert "(no arguments)" in "".join(span.text for span in shown_call(asked("c1"), everything=False))


@pytest.mark.parametrize(
    ("line", "answer"),
    [("red", "red"), (" BLUE ", "blue"), ("1", "red"), ("2", "blue"), ("3", None), ("0", None), ("green", None)],
)
def test_an_option_is_chosen_by_number_or_text(line: str, answer: str | None) -> None:
    assert chosen(line, ("red", "blue")) == answer


def test_any_text_answers_a_question_without_options_but_an_empty_one() -> None:
    assert chosen(" forty-two ", ()) == "forty-two"
    assert chosen("  ", ()) is None


def test_an_option_that_is_a_number_is_taken_by_its_text() -> None:
    assert chosen("2", ("2", "4")) == "2"


async def test_a_question_is_answered_from_its_options() -> None:
    response, told = await asking(question("c1", "Which one?", "red", "blue"), "green", "2")

    assert response == Answer(call_id="c1", answer="blue", actor="ana")
    assert "  1. red\n  2. blue\n" in told
    assert "Type a number from 1 to 2" in told


async def test_several_options_are_chosen_with_commas() -> None:
    several = question("c1", "Which ones?", "red", "blue", "green").model_copy(update={"multiple": True})

    response, told = await asking(several, "1, purple", "3, Red, 1")

    assert response == Answer(call_id="c1", answer=("green", "red"), actor="ana")
    assert "several with commas" in told


async def test_a_question_can_be_left_waiting() -> None:
    response, told = await asking(question("c1", "Which one?"))

    assert response is None
    assert told.endswith("Left waiting.\n")


async def test_the_next_message_is_what_was_typed() -> None:
    assert await Desk(Typist("", "and then?"), lambda spans: None, "ana").message() == "and then?"
    assert await Desk(Typist(), lambda spans: None, "ana").message() is None
