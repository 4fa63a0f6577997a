from __future__ import annotations

from perdure.brain.transcript import append, turn_output
from perdure.contracts.digests import START, extend_digest
from perdure.contracts.messages import AssistantMessage, ReasoningPart
from perdure.contracts.requests import Send
from tests.brain.agents import a_call, reply
from tests.brain.runs import Led, a_conversation


def test_the_digest_follows_every_message_that_joins() -> None:
    state = Led().state
    one, two = reply("t1s1", "one"), reply("t1s2", "two")

    together = append(state, one, two)

    assert together == append(append(state, one), two)
    assert together.digest == extend_digest(extend_digest(START, one), two)
    assert together.revision == 2


def test_the_digest_tells_apart_messages_in_another_order() -> None:
    state = Led().state
    one, two = reply("t1s1", "one"), reply("t1s2", "two")

    assert append(state, one, two).digest != append(state, two, one).digest


def test_without_a_running_turn_there_is_no_output() -> None:
    assert turn_output(Led().state) == ""


def test_an_answer_in_the_reasoning_channel_only_is_the_output() -> None:
    run = Led()
    run.resolved()
    message = AssistantMessage(message_id="t1s1", parts=(ReasoningPart(text="Paris."),), model="scripted:test")

    assert turn_output(append(run.state, message)) == "Paris."


def test_what_a_model_thought_before_a_call_is_no_output() -> None:
    run = Led()
    run.resolved()
    thinking = ReasoningPart(text="I should look.")
    message = reply("t1s1", a_call("look"))

    state = append(run.state, message.model_copy(update={"parts": (thinking, *message.parts)}))

    assert turn_output(state) == ""


def test_the_text_of_an_earlier_turn_is_not_the_output_of_this_one() -> None:
    run = Led(a_conversation())
    run.resolved()
    run.replied("From the first turn.")
    run.told(Send(message="And now?"))

    assert turn_output(run.state) == ""
