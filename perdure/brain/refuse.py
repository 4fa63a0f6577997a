"""Why an order has no effect: asked by validators before an update is accepted, and again when any order is applied."""

from __future__ import annotations

from typing import assert_never

from pydantic import JsonValue

from perdure.brain.ending import ended
from perdure.brain.humans import TOO_LATE, restricted
from perdure.brain.inbox import of_this_turn, waits
from perdure.contracts.fitting import unfit
from perdure.contracts.requests import (
    Answer,
    Approve,
    Close,
    Deny,
    Edit,
    Interrupt,
    Order,
    Revoke,
    Send,
    Withdraw,
)
from perdure.contracts.state import Call, State

_LATE = ": the deadline for a response has passed"


def refusal(state: State, order: Order) -> str:
    """Why ``order`` would have no effect on ``state``, as a sentence for its sender; empty when it has one."""
    if ended(state):
        return f"The run has ended ({state.status})."
    match order:
        case Send():
            return _send_refusal(state, order)
        case Edit():
            return _waiting_refusal(state, order.message_id)
        case Withdraw():
            return _withdraw_refusal(state, order)
        case Revoke():
            known = any(grant.grant_id == order.grant_id for grant in state.grants)
            return "" if known else f"There is no grant {order.grant_id} in this run."
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
    if order.kind != "answer" and order.call_ids:
        return tuple(call for call in waiting if call.call_id in order.call_ids)
    if order.kind != "answer" and order.request_id:
        named = next((request for request in state.requests if request.request_id == order.request_id), None)
        members = {call.call_id for call in named.calls} if named else set()
        return tuple(call for call in waiting if call.call_id in members)
    found = tuple(waiting)
    # Nothing is approved by saying nothing: what comes late would decide whatever waits by then.
    return found if order.kind == "answer" or order.all else ()


def _send_refusal(state: State, order: Send) -> str:
    if state.closing:
        return "The run is closing and takes no more messages."
    if order.reply_to and not _knows(state, order.reply_to):
        return f"There is no message {order.reply_to} in this run to reply to."
    return ""


def _knows(state: State, message_id: str) -> bool:
    return any(message.message_id == message_id for message in (*state.messages, *state.inbox))


def _waiting_refusal(state: State, message_id: str) -> str:
    if waits(state, message_id):
        return ""
    if _knows(state, message_id):
        return f"Message {message_id} was delivered already."
    return f"There is no message {message_id} in this run."


def _withdraw_refusal(state: State, order: Withdraw) -> str:
    replies = [message.message_id for message in state.inbox if message.reply_to == order.message_id]
    if replies:
        return f"{', '.join(replies)} replies to {order.message_id}: withdraw that first."
    if of_this_turn(state, order.message_id):
        return ""
    if state.agent is None and [message.message_id for message in state.inbox] == [order.message_id]:
        return f"Message {order.message_id} is all that the run was started for: cancel the run instead."
    return _waiting_refusal(state, order.message_id)


def _response_refusal(state: State, order: Approve | Deny) -> str:
    found = targets(state, order)
    missing = [call_id for call_id in order.call_ids if call_id not in {call.call_id for call in found}]
    if missing and not order.call_id:
        return _why_not_waiting(state, missing[0], "approval")
    if not found:
        if order.call_id:
            return _why_not_waiting(state, order.call_id, "approval")
        if order.request_id:
            return f"Request {order.request_id} is unknown or closed."
        waiting = _ids(targets(state, order.model_copy(update={"all": True})))
        if not waiting:
            return "Nothing waits for approval."
        return f"The response names no call. Waiting for approval: {waiting}. Give its call_id, or say all."
    if order.request_id and order.call_id:
        named = next((request for request in state.requests if request.request_id == order.request_id), None)
        if named is None or order.call_id not in {call.call_id for call in named.calls}:
            return f"Call {order.call_id} does not wait in request {order.request_id}."
    if order.digest and any(call.digest != order.digest for call in found):
        return "The response was made for other arguments than the recorded ones. Look at the request again."
    return _approval_refusal(state, order, found) if isinstance(order, Approve) else ""


def _approval_refusal(state: State, order: Approve, found: tuple[Call, ...]) -> str:
    if order.arguments is not None and len(found) != 1:
        return f"Arguments can be changed for one call at a time: name one of {_ids(found)}."
    if order.arguments is not None and (fault := _fault(state, found[0], order.arguments)):
        return f"{found[0].call_id} still waits: the changed arguments {fault}"
    if order.remember is not None:
        firm = [call for call in found if call.verdict is not None and call.verdict.firm]
        if firm:
            return f"An approval of {_ids(tuple(firm))} cannot be remembered: this always asks."
        shared = next((call for call in found if call.approval.needed > 1), None)
        if shared:
            many = f"{shared.approval.needed} people must approve each call"
            return f"An approval of {shared.call_id} cannot be remembered: {many}."
        if order.remember.level == "user" and not state.request.user:
            return "The run has no user whose approval could be remembered."
    return next((why for call in found if (why := _approver_refusal(state, order.actor, call))), "")


def _fault(state: State, call: Call, arguments: dict[str, JsonValue]) -> str:
    tool = state.agent.tool(call.tool) if state.agent else None
    try:
        return unfit(arguments, tool.parameters) if tool else ""
    except Exception:  # noqa: BLE001 - a foreign schema may break its validator; the judging of the call tells of it
        return ""


def _approver_refusal(state: State, actor: str, call: Call) -> str:
    rule = call.approval
    if restricted(rule) and not actor:
        return f"Say who approves {call.call_id}: its approvers are checked."
    if rule.approvers and actor not in rule.approvers:
        return f"{actor} may not approve {call.call_id}. Its approvers: {', '.join(rule.approvers)}."
    if rule.not_starter and actor == state.request.user:
        return f"{actor} started this run and may not approve {call.call_id}."
    if any(approval.actor == actor for approval in call.approvals):
        return f"{actor} has approved {call.call_id} already; somebody else must."
    return ""


def _ids(calls: tuple[Call, ...]) -> str:
    return ", ".join(call.call_id for call in calls)


def _answer_refusal(state: State, order: Answer) -> str:
    found = targets(state, order)
    if not found:
        return _why_not_waiting(state, order.call_id, "answer") if order.call_id else "No question is open."
    if len(found) > 1:
        return f"{len(found)} questions are open: name one of {', '.join(call.call_id for call in found)}."
    question = next(question for question in state.questions if question.call_id == found[0].call_id)
    chosen = (order.answer,) if isinstance(order.answer, str) else order.answer
    if not question.multiple and len(chosen) != 1:
        return "The question takes one answer."
    if question.options and (not chosen or any(answer not in question.options for answer in chosen)):
        return f"The answer must be {'some' if question.multiple else 'one'} of: {', '.join(question.options)}."
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
        texts = [m.text for m in state.messages if m.role == "tool" and m.call_id == call_id]
        if not texts:
            return f"There is no call {call_id} in this run."
        return f"Call {call_id} is settled already{_LATE if TOO_LATE in texts[0] else ''}."
    late = _LATE if call.response is not None and call.response.by_deadline else ""
    match call.status:
        case "settled":
            return f"Call {call_id} is settled already{late}."
        case "waiting":
            other = "an answer" if what == "approval" else "an approval"
            return f"Call {call_id} waits for {other}."
        case "proposed" | "judging" | "authorized" | "running":
            return f"Call {call_id} does not wait for a human: it is {call.status}{late}."
    assert_never(call.status)
