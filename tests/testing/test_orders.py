from __future__ import annotations

import pytest

from perdure.activities.declaration import tool
from perdure.contracts.requests import Answer, Approve, Cancel, Close, Deny, Interrupt, RunRequest, Send
from perdure.testing.engine import run_in_process
from perdure.testing.orders import (
    Planned,
    when_asked,
    when_asking_model,
    when_calling,
    when_idle,
    when_said,
    when_waiting,
)
from perdure.testing.script import asks, says, script


@tool(effect="write")
def write() -> str:
    """Write."""
    return "written"


@tool(handler="human")
def ask_human(question: str) -> str:
    """Ask a person."""
    raise AssertionError("a person answers")


async def test_orders_are_given_one_after_the_other_each_at_its_moment() -> None:
    run = await run_in_process(
        RunRequest(message="Go.", conversation=True),
        script=script(asks("write"), asks("ask_human", question="Which?"), says("So ", "far."), says("Bye.")),
        tools=[write, ask_human],
        orders=[
            when_asking_model(1, Send(message="one")),
            when_waiting(Approve(call_id="t1s1c1")),
            when_calling("write", Send(message="two")),
            when_asked(Answer(answer="red")),
            when_said("So", Send(message="three")),
            when_idle(Close()),
        ],
    )

    assert run.status == "completed"
    assert [message.message_id for message in run.messages] == [
        *("u1", "t1s1", "t1s1c1r", "u2", "u3"),
        *("t1s2", "t1s2c1r", "t1s3"),
        *("u4", "t2s1"),
    ]


async def test_an_order_that_the_run_refuses_is_told_as_an_event_and_is_no_error() -> None:
    run = await run_in_process(
        "Go.",
        script=script(asks("write"), says("Done.")),
        tools=[write],
        orders=[
            when_waiting(Deny(call_id="t9s9c9")),
            when_waiting(Interrupt(turn=7)),
            when_waiting(Approve(call_id="t1s1c1")),
        ],
    )

    refused = [event.refused for event in run.events if event.kind == "order_received"]
    assert [bool(reason) for reason in refused] == [True, True, False]


@pytest.mark.parametrize(
    ("planned", "words"),
    [
        (when_waiting(Approve(call_id="t1s1c1", actor="ada")), ("Approve", "ada", "when calls wait for approval")),
        (when_asked(Answer(answer="red")), ("Answer", "red", "when a question is open")),
        (when_idle(Cancel(reason="late")), ("Cancel", "late", "when the run rests")),
        (when_calling("write", Interrupt()), ("Interrupt", "when write runs")),
        (when_asking_model(2, Close()), ("Close", "when the model is asked in step 2")),
        (when_said("upon", Interrupt()), ("Interrupt", "when the model has said 'upon'")),
    ],
)
def test_a_planned_order_says_in_words_what_it_waits_for(planned: Planned, words: tuple[str, ...]) -> None:
    assert all(word in str(planned) for word in words)
