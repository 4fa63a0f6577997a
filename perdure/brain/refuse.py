"""Why an order has no effect: asked by validators before an update is accepted, and again when any order is applied."""

from __future__ import annotations

from typing import assert_never

from perdure.brain.ending import ended
from perdure.contracts.requests import Answer, Approve, Close, Deny, Interrupt, Order, Send
from perdure.contracts.state import Call, State


def refusal(state: State, order: Order) -> str:
    """Why ``order`` would have no effect on ``state``, as a sentence for its sender; empty when it has one."""
    if ended(state):
        return f"The run has ended ({state.status})."
    match order:
        case Send():
            return "The run is closing and takes no more messages." if state.closing else ""
        case Approve() | Deny():
            return _response_refusal(state, order)
        case Answer():
            return _answer_refusal(state, order)
        case Interrupt():
            return _interrupt_refusal(state, order)
        case Close():
            return ""
    assert_never(order)


def targets(state: State, order: Approve | Deny | Answer) -> tuple[Call, ...]:
    """The waiting calls that a response means, in call order."""
    if state.turn is None:
        return ()
    asked = {question.call_id for question in state.questions}
    wants_question = order.kind == "answer"
    waiting = (
        call for call in state.turn.batch if call.status == "waiting" and (call.call_id in asked) == wants_question
    )
    if order.call_id:
        return tuple(call for call in waiting if call.call_id == order.call_id)
    if order.kind != "answer" and order.request_id:
        named = next((request for request in state.requests if request.request_id == order.request_id), None)
        members = {call.call_id for call in named.calls} if named else set()
        return tuple(call for call in waiting if call.call_id in members)
    return tuple(waiting)


def _response_refusal(state: State, order: Approve | Deny) -> str:
    found = targets(state, order)
    if not found:
        if order.call_id:
            return _why_not_waiting(state, order.call_id, "approval")
        if order.request_id:
            return f"Request {order.request_id} is unknown or closed."
        return "Nothing waits for approval."
    if order.request_id and order.call_id:
        named = next((request for request in state.requests if request.request_id == order.request_id), None)
        if named is None or order.call_id not in {call.call_id for call in named.calls}:
            return f"Call {order.call_id} does not wait in request {order.request_id}."
    if order.digest and any(call.digest != order.digest for call in found):
        return "The response was made for other arguments than the recorded ones. Look at the request again."
    return ""


def _answer_refusal(state: State, order: Answer) -> str:
    found = targets(state, order)
    if not found:
        return _why_not_waiting(state, order.call_id, "answer") if order.call_id else "No question is open."
    if len(found) > 1:
        return f"{len(found)} questions are open: name one of {', '.join(call.call_id for call in found)}."
    options = next(question.options for question in state.questions if question.call_id == found[0].call_id)
    if options and order.answer not in options:
        return f"The answer must be one of: {', '.join(options)}."
    return ""


def _interrupt_refusal(state: State, order: Interrupt) -> str:
    if state.turn is None:
        return "No turn is running: there is nothing to interrupt."
    if order.turn is not None and order.turn != state.turn.number:
        return f"Turn {order.turn} is not running: turn {state.turn.number} is."
    return ""


def _why_not_waiting(state: State, call_id: str, what: str) -> str:
    call = state.turn.call(call_id) if state.turn else None
    if call is None:
        settled = any(message.role == "tool" and message.call_id == call_id for message in state.messages)
        return f"Call {call_id} is settled already." if settled else f"There is no call {call_id} in this run."
    match call.status:
        case "settled":
            return f"Call {call_id} is settled already."
        case "waiting":
            other = "an answer" if what == "approval" else "an approval"
            return f"Call {call_id} waits for {other}."
        case "proposed" | "judging" | "authorized" | "running":
            return f"Call {call_id} does not wait for a human: it is {call.status}."
    assert_never(call.status)
