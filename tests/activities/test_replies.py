from __future__ import annotations

from perdure.activities.replies import KEPT_ARGUMENTS, REPLY_BYTES, bounded_reply
from perdure.brain.results import ARGUMENT_BYTES
from perdure.contracts.messages import AssistantMessage, AssistantPart, CallPart, ImagePart, ReasoningPart, TextPart


def a_reply(*parts: AssistantPart) -> AssistantMessage:
    return AssistantMessage(message_id="t1s1", parts=parts, model="m")


def test_an_answer_of_a_megabyte_is_recorded_whole() -> None:
    reply = a_reply(TextPart(text="x" * 1_000_000))
    assert bounded_reply(reply) == reply


def test_arguments_that_are_too_large_leave_and_say_how_large_they_were() -> None:
    large = CallPart(
        call_id="t1s1c1", tool="write", arguments_text="a" * 3_000_000, arguments={"text": "a" * 3_000_000}
    )
    small = CallPart(call_id="t1s1c2", tool="write", arguments_text='{"text":"b"}', arguments={"text": "b"})
    cut, kept = bounded_reply(a_reply(large, small)).calls
    assert cut.arguments is None
    assert "3000000 bytes" in cut.arguments_text
    assert len(cut.arguments_text) < KEPT_ARGUMENTS + 100
    assert kept == small


def test_a_text_that_no_payload_holds_is_cut_and_says_so() -> None:
    reply = bounded_reply(a_reply(ReasoningPart(text="hm"), TextPart(text="é" * 2_000_000), TextPart(text="end")))
    assert len(reply.model_dump_json().encode()) <= REPLY_BYTES
    assert "cut: the model wrote 2000000 characters" in reply.text
    assert reply.text.endswith("end")


def test_a_reply_of_ordinary_size_is_untouched() -> None:
    reply = a_reply(TextPart(text="x" * (ARGUMENT_BYTES // 2)))
    assert bounded_reply(reply) is reply


def test_an_image_that_is_too_large_becomes_a_line_that_says_so() -> None:
    small, large = ImagePart(data=b"x" * 1000), ImagePart(data=b"x" * REPLY_BYTES)
    message = AssistantMessage(message_id="t1s1", parts=(TextPart(text="Look"), large), model="gemini:x")
    look, told = bounded_reply(message).parts
    assert look == TextPart(text="Look")
    assert told == TextPart(text=f"[An image of {REPLY_BYTES} bytes (image/png), more than a run can record.]")
    kept = message.model_copy(update={"parts": (small,)})
    assert bounded_reply(kept) == kept
