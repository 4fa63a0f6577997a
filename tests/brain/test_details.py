from __future__ import annotations

from datetime import timedelta

import pytest

from perdure.brain.details import GLANCE, SHOWN_CALLS, code, details
from perdure.contracts.agent import Decision, Waiting
from perdure.contracts.requests import Approve, RunRequest, Send
from perdure.contracts.usage import Cost, Usage
from tests.brain.agents import a_call, an_agent
from tests.brain.runs import Led


def a_run_that_waits(**arguments: str) -> Led:
    run = Led()
    run.resolved()
    run.replied(a_call("write", **arguments), a_call("write"))
    run.judged(t1s1c1="ask", t1s1c2="ask")
    return run


def test_the_details_name_what_waits_and_the_signal_that_decides_it() -> None:
    run = a_run_that_waits(path="SUMMARY.md")

    text = details(run.state)

    assert text.startswith("**waiting_approval** · turn 1, step 1\n\n")
    assert '- approve or deny `t1s1c1` `write` `{"path": "SUMMARY.md"}`: ' in text
    assert 'Signal `approve` or `deny` with the input `{"call_id": "t1s1c1"}`' in text


def test_what_is_decided_waits_no_more() -> None:
    run = a_run_that_waits()
    run.told(Approve(call_id="t1s1c1"))

    text = details(run.state)

    assert "approve or deny `t1s1c2`" in text
    assert "approve or deny `t1s1c1`" not in text
    assert '`{"call_id": "t1s1c2"}`' in text


def test_of_very_many_calls_the_first_are_shown_and_the_rest_is_counted() -> None:
    run = Led()
    run.resolved()
    run.replied(*(a_call("write") for _ in range(SHOWN_CALLS + 2)))
    asks: dict[str, Decision] = {call.call_id: "ask" for call in run.turn.batch}
    run.judged(**asks)

    text = details(run.state)

    assert text.count("approve or deny `t1s1c") == SHOWN_CALLS
    assert "- and 2 more" in text


def test_a_question_is_shown_with_its_options_and_how_to_answer() -> None:
    run = Led()
    run.resolved()
    run.replied(a_call("ask_human", question="Which\nmonth?", options=["May", "June"]))
    run.judged(t1s1c1="allow")

    text = details(run.state)

    assert "- answer `t1s1c1`: `Which month?`: `May` / `June`" in text
    assert 'Signal `answer` with the input `{"call_id": "t1s1c1", "answer": "…"}`' in text


def test_a_deadline_is_shown_with_what_holds_then() -> None:
    run = Led()
    run.resolved(an_agent(waiting=Waiting(deadline=timedelta(hours=1))))
    run.replied(a_call("write"))
    run.judged(t1s1c1="ask")
    deadline = run.state.requests[0].deadline

    assert deadline is not None
    assert f"until {deadline:%Y-%m-%d %H:%M} UTC, then: deny" in details(run.state)


def test_what_is_at_work_and_what_is_queued_is_shown() -> None:
    run = Led()
    run.resolved()
    assert "- asks the model for `t1s1`" in details(run.state)

    run.told(Send(message="and this"))
    run.replied(a_call("look"))
    run.judged(t1s1c1="allow")

    assert "- runs `t1s1c1` `look`\n- 1 message queued" in details(run.state)


def test_a_conversation_that_rests_says_how_to_go_on() -> None:
    run = Led(RunRequest(message="hi", conversation=True))
    run.resolved()
    run.replied("hello")

    assert '**idle**\n\nSignal `send` with the input `{"message": "…"}`' in details(run.state)


def test_what_it_took_is_counted_and_an_unknown_price_is_said() -> None:
    spent = {"usage": Usage(input_tokens=1_000, output_tokens=200), "cost": Cost(nano_dollars=12_300_000, unpriced=1)}

    text = details(a_run_that_waits().state.model_copy(update=spent))

    assert text.endswith("1,200 tokens, $0.0123 + 1 call of unknown price, 1 model call")


def test_what_nobody_knows_whole_is_at_least_so_much() -> None:
    spent = {"usage": Usage(input_tokens=1_000, incomplete=1), "cost": Cost(nano_dollars=12_300_000)}

    text = details(a_run_that_waits().state.model_copy(update=spent))

    assert text.endswith("at least 1,000 tokens, at least $0.0123, 1 model call")


@pytest.mark.parametrize(
    ("written", "shown"),
    [
        ("![x](http://evil.example/?q=1)", "`![x](http://evil.example/?q=1)`"),
        ("a` **b** `c", "`a' **b** 'c`"),
        ("one\n\n- approve or deny two", "`one - approve or deny two`"),
        ("abc\u202etxt.exe\x1b[2J", "`abc\ufffdtxt.exe\ufffd[2J`"),
        ("x" * 1_000, f"`{'x' * (GLANCE - 1)}…`"),
    ],
)
def test_what_others_wrote_cannot_act_as_markdown(written: str, shown: str) -> None:
    assert code(written) == shown


def test_arguments_cannot_break_out_of_their_line() -> None:
    text = details(a_run_that_waits(path="`\n\n- approve or deny `t9s9c9`").state)

    assert not [line for line in text.splitlines() if line.startswith("- approve or deny `t9s9c9`")]
