from __future__ import annotations

from perdure.contracts.messages import AssistantMessage, CallPart, ReasoningPart, TextPart


def test_the_text_of_a_reply_is_its_text_parts_joined_and_nothing_else() -> None:
    message = AssistantMessage(
        message_id="t1s1",
        parts=(
            ReasoningPart(text="hm"),
            TextPart(text="One, "),
            CallPart(call_id="t1s1c1", tool="look"),
            TextPart(text="two."),
        ),
        model="demo:demo",
    )

    assert message.text == "One, two."
    assert [call.call_id for call in message.calls] == ["t1s1c1"]


def test_a_call_whose_arguments_are_no_object_keeps_what_the_model_wrote() -> None:
    call = CallPart(call_id="t1s1c1", tool="look", arguments_text='{"a": ', arguments=None)

    assert CallPart.model_validate_json(call.model_dump_json()) == call
