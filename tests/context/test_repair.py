from __future__ import annotations

from perdure.context.draft import Draft
from perdure.context.repair import NEVER_RAN, NO_RESULT, drop_placeholders, mend_arguments, pair_results
from perdure.contracts.agent import FrozenAgent
from perdure.contracts.messages import (
    AssistantMessage,
    AssistantPart,
    CallPart,
    FilePart,
    FinishReason,
    Message,
    Opaque,
    ReasoningPart,
    TextPart,
    ToolMessage,
)
from tests.context.transcripts import result, user

SIGNATURE = Opaque(origin="anthropic", data={"signature": "c2ln"})


def draft(*messages: Message) -> Draft:
    return Draft(agent=FrozenAgent(name="a", model="demo:demo"), messages=messages)


def reply(*parts: AssistantPart, finish: FinishReason = "stop") -> AssistantMessage:
    return AssistantMessage(message_id="t1s1", parts=parts, model="demo:demo", finish=finish)


def call(number: int) -> CallPart:
    return CallPart(call_id=f"t1s1c{number}", tool="add", arguments_text='{"a":1}', arguments={"a": 1})


def results(done: Draft) -> list[ToolMessage]:
    return [message for message in done.messages if message.role == "tool"]


def test_replies_that_hold_nothing_are_dropped() -> None:
    done = drop_placeholders(draft(user(1), reply(), reply(TextPart(text=" \n")), reply(ReasoningPart()), user(2)))
    assert done.messages == (user(1), user(2))


def test_replies_with_reasoning_calls_or_attachments_stay() -> None:
    kept = (
        reply(ReasoningPart(text="hm")),
        reply(ReasoningPart(opaque=SIGNATURE)),
        reply(call(1)),
        reply(FilePart(url="https://example.org/a.pdf")),
    )
    assert drop_placeholders(draft(*kept)).messages == kept


def test_empty_text_leaves_a_reply_that_says_something_else() -> None:
    done = drop_placeholders(draft(reply(TextPart(text=""), call(1))))
    assert done.messages == (reply(call(1)),)


def test_an_empty_text_with_provider_data_stays_as_it_came() -> None:
    signed = reply(TextPart(text="", opaque=SIGNATURE), call(1))
    assert drop_placeholders(draft(signed)).messages == (signed,)


def test_results_stand_right_after_their_call_in_call_order() -> None:
    asked = reply(call(1), call(2))
    done = pair_results(draft(asked, user(2), result("t1s1c2"), result("t1s1c1")))
    assert done.messages == (asked, result("t1s1c1"), result("t1s1c2"), user(2))


def test_a_missing_result_is_replaced_by_one_that_says_so() -> None:
    done = pair_results(draft(reply(call(1), call(2)), result("t1s1c1"), user(2)))
    assert [(message.call_id, message.status) for message in results(done)] == [
        ("t1s1c1", "ok"),
        ("t1s1c2", "unknown"),
    ]
    assert results(done)[1].text == NO_RESULT
    assert done.messages[-1] == user(2)


def test_calls_of_an_interrupted_reply_are_said_never_to_have_run() -> None:
    (missing,) = results(pair_results(draft(reply(call(1), finish="interrupted"))))
    assert (missing.status, missing.text) == ("interrupted", NEVER_RAN)


def test_orphaned_results_and_later_duplicates_are_dropped() -> None:
    done = pair_results(draft(result("t9s9c9"), reply(call(1)), result("t1s1c1", "first"), result("t1s1c1", "second")))
    assert [message.text for message in results(done)] == ["first"]


def test_arguments_that_are_no_object_are_sent_as_an_empty_one() -> None:
    broken = CallPart(
        call_id="t1s1c1", tool="add", arguments_text='{"a": ', arguments=None, provider_call_id="x", opaque=SIGNATURE
    )
    done = mend_arguments(draft(reply(TextPart(text="Adding."), broken, call(2))))
    (message,) = done.messages
    assert message == reply(
        TextPart(text="Adding."), broken.model_copy(update={"arguments_text": "{}", "arguments": {}}), call(2)
    )


def test_readable_arguments_are_sent_to_the_byte() -> None:
    spaced = reply(CallPart(call_id="t1s1c1", tool="add", arguments_text='{ "a" : 1 }', arguments={"a": 1}))
    assert mend_arguments(draft(spaced)).messages == (spaced,)
