from __future__ import annotations

import pytest

from perdure.contracts.messages import (
    AssistantMessage,
    CallPart,
    ImagePart,
    Message,
    ReasoningPart,
    TextPart,
    ToolMessage,
    UserMessage,
)
from perdure.testing.engine import run_in_process
from perdure.testing.record import SHOWN, shown
from perdure.testing.script import asks, says, script


def test_a_transcript_is_shown_line_by_line() -> None:
    messages: tuple[Message, ...] = (
        UserMessage(message_id="u1", parts=(TextPart(text="What is\nthis?"), ImagePart(data=b"png"))),
        AssistantMessage(
            message_id="t1s1",
            parts=(ReasoningPart(text="Hm."), TextPart(text="I look."), CallPart(call_id="t1s1c1", tool="look")),
            model="demo:demo",
        ),
        ToolMessage(message_id="t1s1c1r", call_id="t1s1c1", tool="look", status="error", text="out of order"),
        AssistantMessage(message_id="t1s2", parts=(ImagePart(),), model="demo:demo", finish="length"),
        AssistantMessage(message_id="t1s3", parts=(), model="demo:demo"),
    )

    assert shown(messages).splitlines() == [
        "u1 user: What is⏎this? [image]",
        "t1s1 assistant thinks: Hm.",
        "t1s1 assistant says: I look.",
        "t1s1 assistant asks t1s1c1: look {}",
        "t1s1c1r look error: out of order",
        "t1s2 assistant gives: [image]",
        "t1s2 ended: length",
        "t1s3 assistant said nothing",
    ]


def test_a_long_text_is_cut_and_an_empty_transcript_is_said_so() -> None:
    long = AssistantMessage(message_id="t1s1", parts=(TextPart(text="x" * 10_000),), model="demo:demo")

    assert len(shown([long])) < 2 * SHOWN
    assert shown([]) == "(no messages)"


async def test_the_result_of_a_call_that_did_not_settle_is_asked_for_in_vain() -> None:
    run = await run_in_process("Hello", script=script(says("Hi.")))

    with pytest.raises(AssertionError, match="t1s1c1 has no result in this transcript"):
        run.result("t1s1c1")


async def test_a_record_names_the_calls_in_order() -> None:
    run = await run_in_process("Hello", script=script(asks("one"), asks("two"), says("Hi.")))

    assert [call.tool for call in run.calls] == ["one", "two"]
