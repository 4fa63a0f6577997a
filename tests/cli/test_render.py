from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import JsonValue

from perdure.cli.render import Renderer
from perdure.contracts.events import (
    AnyEvent,
    DeadlinePassed,
    MessageReceived,
    ModelCalled,
    ModelGaveUp,
    Retrying,
    RunBegan,
    RunClosed,
    StatusChanged,
    TurnBegan,
    TurnEnded,
)
from perdure.contracts.failures import Failure
from perdure.contracts.messages import FilePart, ImagePart, TextPart, UserMessage
from perdure.contracts.requests import Answer, Approve, Deny
from perdure.contracts.usage import Cost, Usage
from tests.cli.happenings import NOON, answered, asked, call, ended, opened, ordered, piece, started, wonders


def shown(*events: AnyEvent) -> str:
    renderer = Renderer()
    return "".join(span.text for event in events for span in renderer.feed(event))


def test_live_text_and_the_recorded_message_are_written_once() -> None:
    assert shown(piece("Hel"), piece("lo wor", 3), answered("Hello world")) == "Hello world\n"


def test_a_message_without_live_text_is_written_whole() -> None:
    assert shown(answered("Hello")) == "Hello\n"


def test_a_piece_that_comes_twice_or_overlaps_adds_only_what_is_new() -> None:
    assert shown(piece("Hello"), piece("Hello"), piece("lo you", 3), answered("Hello you")) == "Hello you\n"


def test_a_piece_that_comes_after_the_recorded_message_is_left_out() -> None:
    assert shown(answered("Hello"), piece("lo", 3)) == "Hello\n"


def test_a_second_attempt_is_seen_to_start_again() -> None:
    text = shown(piece("Once upon"), piece("Twice", attempt=2), answered("Twice told", attempt=2))

    assert text == "Once upon\n(attempt 1 broke off and is void; attempt 2 starts again)\nTwice told\n"


def test_a_second_attempt_that_is_only_seen_when_it_is_recorded_starts_again_too() -> None:
    text = shown(piece("Once upon"), answered("Twice told", attempt=2))

    assert text == "Once upon\n(attempt 1 broke off and is void; attempt 2 starts again)\nTwice told\n"


def test_a_late_piece_of_an_earlier_attempt_is_left_out() -> None:
    assert shown(piece("Two", attempt=2), piece("One", attempt=1), answered("Two", attempt=2)) == "Two\n"


def test_an_attempt_that_wrote_nothing_needs_no_word() -> None:
    assert shown(piece("", attempt=1), piece("Two", attempt=2), answered("Two", attempt=2)) == "Two\n"


def test_reasoning_stands_on_lines_of_its_own() -> None:
    text = shown(
        piece("First the folder.", thought=True), piece("I look."), answered("I look.", thought="First the folder.")
    )

    assert text == "(thinking) First the folder.\nI look.\n"


def test_pieces_of_two_messages_do_not_run_into_each_other() -> None:
    text = shown(
        piece("One ", message="t1s1"),
        piece("Uno ", message="t1s1m2"),
        piece("two", 4, message="t1s1"),
        answered("One two", message="t1s1"),
        answered("Uno dos", message="t1s1m2"),
    )

    assert text == "One \nUno \ntwo\ndos\n"


def test_after_missed_live_text_the_whole_answer_follows() -> None:
    text = shown(piece("begin"), piece("end", 100), answered("begin" + "-" * 95 + "end"))

    assert text.startswith("begin…end\n(some of the live text was missed; the whole answer:)\nbegin---")
    assert text.endswith("-end\n")


def test_a_recorded_text_that_differs_from_the_live_one_is_written_whole() -> None:
    assert shown(piece("Hxllo"), answered("Hello")).endswith("the whole answer:)\nHello\n")


def test_calls_and_their_results_show_arguments_and_first_lines() -> None:
    text = shown(
        answered("I read.", call("t1s1c1", path="a.md"), call("t1s1c2", "list_dir")),
        started("t1s1c1"),
        ended("t1s1c2", "one\ntwo\nthree\nfour", tool="list_dir"),
        ended("t1s1c1", "no such file", status="error"),
    )

    assert text.splitlines() == [
        "I read.",
        '  call    t1s1c1 read_file {"path": "a.md"}',
        "  call    t1s1c2 list_dir {}",
        "  done    t1s1c2 list_dir: one",
        "          two",
        "          three",
        "          (+1 line)",
        "  failed  t1s1c1 read_file: no such file",
    ]


def test_an_answer_of_a_fallback_says_whose_it_is() -> None:
    began = RunBegan(agent="assistant", model="demo:first")

    text = shown(began, piece("I re"), answered("I read.", call("t1s1c1")))

    assert text.splitlines() == [
        "agent assistant, model demo:first",
        "I read.",
        "(answered by the fallback demo:demo)",
        "  call    t1s1c1 read_file {}",
    ]


def test_calls_of_an_interrupted_answer_are_not_shown_as_calls() -> None:
    text = shown(piece("I wri"), answered("I wri", call("t1s1c1"), finish="interrupted"))

    assert text == "I wri\n(interrupted)\n"


def test_a_long_argument_is_bounded() -> None:
    text = shown(answered("", call("t1s1c1", "write_file", content="x" * 100_000)))

    assert len(text) < 400
    assert "characters)" in text


def test_what_asks_is_shown_with_the_reason_and_the_rule() -> None:
    text = shown(opened(asked("t1s1c1")), wonders("t1s1c2", "Which one?", "red", "blue"))

    assert text.splitlines() == [
        "  asks    t1s1c1 write_file waits for approval: write_file changes data [effect]",
        "  asks    t1s1c2 Which one? (red / blue)",
    ]


def test_a_deadline_is_shown_with_what_holds_after_it() -> None:
    asks = opened(asked("t1s1c1"))
    bounded = asks.model_copy(update={"request": asks.request.model_copy(update={"deadline": NOON})})

    text = shown(bounded, DeadlinePassed(call_id="t1s1c1", decision="deny"))

    assert text.splitlines() == [
        "  asks    t1s1c1 write_file waits for approval: write_file changes data [effect]"
        " (until 2024-05-14 12:00:00 UTC, then deny)",
        "  (nobody responded about t1s1c1 in time: deny)",
    ]


def test_responses_say_who_gave_them_and_why_one_had_no_effect() -> None:
    text = shown(
        ordered(Approve(call_id="t1s1c1", actor="ana")),
        ordered(Deny(call_id="t1s1c2", reason="too much")),
        ordered(Answer(answer="blue")),
        ordered(Approve(), refused="Nothing waits for approval."),
    )

    assert text.splitlines() == [
        "  (approval of t1s1c1 by ana)",
        "  (denial of t1s1c2: too much)",
        "  (answer: blue)",
        "  (no effect: approval of what waits: Nothing waits for approval.)",
    ]


def test_a_message_of_several_lines_and_its_attachments_are_shown() -> None:
    image, file = ImagePart(url="https://example.org/a.png"), FilePart(name="a.csv", media_type="text/csv", data=b"x")
    message = UserMessage(message_id="u1", parts=(TextPart(text="Look\nhere"), image, file), sender="ana")

    said = "ana> Look\n  here\nana> (image, image/png)\nana> (file a.csv, text/csv)\n"
    assert shown(MessageReceived(message=message)) == said


def test_an_answer_that_does_not_fit_is_told_with_what_is_wrong_with_it() -> None:
    told = shown(ModelCalled(message_id="t1s2", turn=1, step=2, forced=True, problem="It is no JSON: NaN is no JSON."))

    assert told == "(the answer does not fit: It is no JSON: NaN is no JSON. Asked again)\n"


def test_a_whole_run_reads_as_one_story() -> None:
    message = UserMessage(message_id="u1", parts=(TextPart(text="Read a.md"),))
    usage, cost = Usage(input_tokens=20, output_tokens=10), Cost(nano_dollars=30_000_000)

    text = shown(
        MessageReceived(message=message),
        RunBegan(agent="assistant", model="demo:demo"),
        TurnBegan(turn=1),
        ModelCalled(message_id="t1s1", turn=1, step=1),
        piece("I read."),
        answered("I read.", call("t1s1c1", path="a.md")),
        started("t1s1c1"),
        ended("t1s1c1", "text of a"),
        ModelCalled(message_id="t1s2", turn=1, step=2, forced=True),
        Retrying(activity="call_model", attempt=2, reason="overloaded.", until=NOON),
        answered("It says: text of a.", message="t1s2", attempt=2),
        TurnEnded(turn=1, end="completed", output="It says: text of a.", usage=usage, cost=cost),
        StatusChanged(status="completed"),
        RunClosed(status="completed", output="It says: text of a.", usage=usage, cost=cost),
    )

    assert text.splitlines() == [
        "> Read a.md",
        "agent assistant, model demo:demo",
        "I read.",
        '  call    t1s1c1 read_file {"path": "a.md"}',
        "  done    t1s1c1 read_file: text of a",
        "(last step: the model must answer now)",
        "(model call failed: overloaded; attempt 2 follows at 12:00:00 UTC)",
        "It says: text of a.",
        "turn 1 completed - 30 tokens (20 in, 10 out), $0.0300",
    ]


def test_an_output_that_was_not_the_last_text_is_written_at_the_end() -> None:
    assert shown(answered("", thought="Forty-two."), RunClosed(status="completed", output="Forty-two.")) == (
        "Forty-two.\n"
    )


SUM: dict[str, JsonValue] = {"sum": 3}
SUM_SHOWN = '{\n  "sum": 3\n}\n'


@pytest.mark.parametrize(
    ("said", "shown_before"),
    [
        (answered('{"sum":3}'), '{"sum":3}\n'),
        (answered("", thought='{"sum":3}'), ""),
        (answered(SUM_SHOWN.rstrip()), ""),
    ],
)
def test_an_output_that_is_data_is_shown_once_as_json_that_people_read(said: AnyEvent, shown_before: str) -> None:
    ends = TurnEnded(turn=1, end="completed", output='{"sum":3}', data=SUM)
    text = shown(said, ends, RunClosed(status="completed", output='{"sum":3}'))

    assert text == f"{shown_before}{SUM_SHOWN}turn 1 completed - 0 tokens (0 in, 0 out), $0.00\n"


def test_the_data_of_a_child_is_not_the_output() -> None:
    assert "sum" not in shown(TurnEnded(turn=1, end="completed", data=SUM, path=("run/researcher",)))


def test_failures_are_shown_in_one_line() -> None:
    failure = Failure(kind="quota", message="openai: no credit\nleft")

    text = shown(piece("I st"), ModelGaveUp(message_id="t1s1", failure=failure), TurnEnded(turn=1, end="refused"))

    assert text.splitlines() == [
        "I st",
        "model call failed: openai: no credit left",
        "turn 1 refused - 0 tokens (0 in, 0 out), $0.00",
    ]


def test_what_children_say_carries_their_path() -> None:
    text = shown(
        piece("Child", path=("run/researcher",)),
        answered("Child", call("t1s1c1"), path=("run/researcher",)),
        answered("Parent", message="t1s2"),
    )

    assert text.splitlines() == [
        "[run/researcher] Child",
        "[run/researcher]   call    t1s1c1 read_file {}",
        "Parent",
    ]


def test_nothing_that_a_model_or_a_tool_says_commands_the_terminal() -> None:
    evil = "\x1b]0;title\x07\x9b2J\r"

    text = shown(
        piece(evil),
        answered(evil, call("t1s1c1", evil, **{evil: evil})),
        ended("t1s1c1", evil, tool=evil),
        wonders("t1s1c2", evil, evil),
        ordered(Deny(reason=evil, actor=evil)),
        Retrying(activity=evil, attempt=2, reason=evil),
        RunClosed(status="completed", output=evil + evil),
    )

    assert not set(text) & set("\x1b\x07\x9b\r")


@given(
    text=st.text(alphabet="abc ", min_size=1, max_size=40),
    cuts=st.lists(st.integers(0, 40), max_size=8),
    overlap=st.integers(0, 3),
    missed=st.booleans(),
)
def test_however_the_text_is_cut_every_character_is_written_once(
    text: str, cuts: list[int], overlap: int, missed: bool
) -> None:
    edges = sorted({0, *(min(cut, len(text)) for cut in cuts), *([] if missed else [len(text)])})
    pieces = [
        piece(text[max(0, start - overlap) : end], max(0, start - overlap)) for start, end in itertools.pairwise(edges)
    ]

    assert shown(*pieces, answered(text)) == text + "\n"
