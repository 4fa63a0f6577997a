from __future__ import annotations

from perdure.contracts.messages import ImagePart, UserMessage
from perdure.contracts.requests import Edit, Interrupt, Send, Withdraw
from tests.brain.agents import OVERLOADED, a_call
from tests.brain.runs import Led, a_conversation, asked, kinds


def a_run_with_a_message_waiting() -> Led:
    run = Led(a_conversation())
    run.resolved()
    run.replied(a_call("look"))
    run.judged(t1s1c1="allow")
    run.told(Send(message="first thought"))
    return run


def texts(run: Led) -> list[str]:
    """What the model was told by people."""
    told = [message for message in run.state.messages if isinstance(message, UserMessage)]
    return ["".join(part.text for part in message.parts if part.kind == "text") for message in told]


# Editing


def test_the_model_sees_the_final_form_of_an_edited_message() -> None:
    run = a_run_with_a_message_waiting()
    run.told(Edit(message_id="u2", message="second thought"))
    run.told(Edit(message_id="u2", message="third thought"))
    run.ended("t1s1c1")

    assert texts(run) == ["Hello", "third thought"]


def test_an_edited_message_keeps_its_place_its_attachments_and_its_sender() -> None:
    image = ImagePart(data=b"\x89PNG")
    run = a_run_with_a_message_waiting()
    run.told(Send(message="look at this", attachments=(image,), actor="ada", client_key="k"))
    run.told(Send(message="and that"))
    run.told(Edit(message_id="u3", message="look here"))
    run.ended("t1s1c1")

    assert texts(run) == ["Hello", "first thought", "look here", "and that"]
    edited = run.state.messages[-2]
    assert isinstance(edited, UserMessage)
    assert (edited.parts[1:], edited.sender, edited.client_key) == ((image,), "ada", "k")


def test_a_message_that_was_delivered_cannot_be_edited() -> None:
    run = a_run_with_a_message_waiting()
    run.ended("t1s1c1")

    assert run.refused(Edit(message_id="u2", message="too late")) == "Message u2 was delivered already."
    assert run.refused(Edit(message_id="u9", message="what?")) == "There is no message u9 in this run."


# Withdrawing


def test_a_message_that_is_withdrawn_before_delivery_is_never_seen() -> None:
    run = a_run_with_a_message_waiting()
    run.told(Send(message="another"))
    run.told(Withdraw(message_id="u2", actor="ada"))
    run.ended("t1s1c1")

    assert texts(run) == ["Hello", "another"]
    assert run.refused(Withdraw(message_id="u2")) == "There is no message u2 in this run."
    assert run.refused(Edit(message_id="u2", message="back")) == "There is no message u2 in this run."


def test_a_run_whose_only_waiting_message_was_withdrawn_rests_after_its_turn() -> None:
    run = Led(a_conversation())
    run.resolved()
    run.told(Send(message="one more"))
    run.told(Withdraw(message_id="u2"))
    run.replied("Done.")

    assert run.state.status == "idle"


def test_the_id_of_a_withdrawn_message_is_not_used_again() -> None:
    run = a_run_with_a_message_waiting()
    run.told(Withdraw(message_id="u2"))
    run.told(Send(message="another"))

    assert [message.message_id for message in run.state.inbox] == ["u3"]


def test_a_sender_that_repeats_a_withdrawn_message_does_not_bring_it_back() -> None:
    run = a_run_with_a_message_waiting()
    run.told(Send(message="once", client_key="k"))
    run.told(Withdraw(message_id="u3"))

    assert "received already" in run.refused(Send(message="once", client_key="k"))


def test_a_message_withdrawn_while_the_model_answers_it_ends_the_turn_before_the_next_model_call() -> None:
    run = Led(a_conversation())
    run.resolved()
    assert kinds(run.told(Withdraw(message_id="u1"))) == ["stop_work"]

    assert asked(run.replied("The answer", finish="interrupted")) == []

    assert run.state.last_turn is not None
    assert run.state.last_turn.failure is not None
    assert (run.state.last_turn.end, run.state.last_turn.failure.kind) == ("failed", "message_gone")
    assert run.state.status == "idle"


def test_a_message_withdrawn_while_calls_run_and_wait_settles_them_and_asks_the_model_no_more() -> None:
    run = Led()
    run.resolved()
    run.replied(a_call("look"), a_call("write"))
    run.judged(t1s1c1="allow", t1s1c2="ask")

    assert kinds(run.told(Withdraw(message_id="u1"))) == ["stop_work", "settle_calls", "ask_humans"]
    assert asked(run.ended("t1s1c1", "late", "interrupted")) == []

    assert run.state.status == "failed"
    assert run.state.failure is not None
    assert run.state.failure.kind == "message_gone"
    assert [run.result(call_id)[0] for call_id in ("t1s1c1", "t1s1c2")] == ["interrupted", "interrupted"]


def test_a_message_that_joined_a_running_turn_can_be_withdrawn_as_the_first_one_can() -> None:
    run = a_run_with_a_message_waiting()
    run.ended("t1s1c1")
    run.told(Withdraw(message_id="u2"))
    run.model_failed(OVERLOADED)

    assert run.state.last_turn is not None
    assert run.state.last_turn.failure is not None
    assert run.state.last_turn.failure.kind == "message_gone"


def test_what_waits_while_a_turn_ends_for_a_withdrawn_message_is_answered_in_the_next() -> None:
    run = Led(a_conversation())
    run.resolved()
    run.told(Send(message="something else"))
    run.told(Withdraw(message_id="u1"))

    [call] = asked(run.replied("The", finish="interrupted"))

    assert call.message_id == "t2s1"


def test_a_message_of_an_earlier_turn_cannot_be_withdrawn() -> None:
    run = Led(a_conversation())
    run.resolved()
    run.replied("Hello.")

    assert run.refused(Withdraw(message_id="u1")) == "Message u1 was delivered already."


def test_a_withdrawal_does_not_undo_an_interrupt_that_is_under_way() -> None:
    run = Led(a_conversation())
    run.resolved()
    run.told(Interrupt())
    run.told(Withdraw(message_id="u1"))
    run.replied("The", finish="interrupted")

    assert run.state.last_turn is not None
    assert run.state.last_turn.end == "interrupted"


def test_the_only_message_of_a_run_that_has_not_begun_cannot_be_withdrawn() -> None:
    run = Led()

    assert "cancel the run" in run.refused(Withdraw(message_id="u1"))

    run.told(Send(message="rather this"))
    run.told(Withdraw(message_id="u1"))
    assert "cancel the run" in run.refused(Withdraw(message_id="u2"))
    assert len(asked(run.resolved())) == 1
    assert texts(run) == ["rather this"]


# Replies


def test_a_reply_to_a_message_of_the_run_says_which() -> None:
    run = a_run_with_a_message_waiting()
    run.told(Send(message="to you", reply_to="t1s1"))
    run.told(Send(message="to that", reply_to="u2"))

    assert [message.reply_to for message in run.state.inbox] == ["", "t1s1", "u2"]


def test_a_reply_to_a_message_that_is_gone_is_refused() -> None:
    run = a_run_with_a_message_waiting()
    assert run.refused(Send(message="re", reply_to="t9s9")) == "There is no message t9s9 in this run to reply to."
    run.told(Withdraw(message_id="u2"))

    assert run.refused(Send(message="re", reply_to="u2")) == "There is no message u2 in this run to reply to."


def test_a_message_that_others_reply_to_is_withdrawn_after_them() -> None:
    run = a_run_with_a_message_waiting()
    run.told(Send(message="re", reply_to="u2"))

    assert run.refused(Withdraw(message_id="u2")) == "u3 replies to u2: withdraw that first."
    run.told(Withdraw(message_id="u3"))
    run.told(Withdraw(message_id="u2"))

    assert run.state.inbox == ()
