"""What the sender of an accepted order is told: what it touched, and what it did not do."""

from __future__ import annotations

from typing import assert_never

from perdure.brain.humans import approvals_lacking
from perdure.brain.inbox import known_message, waits
from perdure.brain.refuse import targets
from perdure.contracts.ids import user_message_id
from perdure.contracts.requests import (
    Answer,
    Approve,
    Close,
    Deny,
    Edit,
    Interrupt,
    Order,
    Receipt,
    Revoke,
    Send,
    Withdraw,
)
from perdure.contracts.state import Call, State


def receipt_for(state: State, order: Order) -> Receipt:
    """The receipt for an order that ``state`` does not refuse, before it is applied."""
    match order:
        case Send():
            known = known_message(state, order.client_key)
            message_id = known if known is not None else user_message_id(state.received + 1)
            return Receipt(accepted=True, ids=(message_id,) if message_id else (), reason=_hint(state))
        case Approve():
            meant = targets(state, order)
            return Receipt(accepted=True, ids=tuple(call.call_id for call in meant), reason=_lacking(order, meant))
        case Deny() | Answer():
            return Receipt(accepted=True, ids=tuple(call.call_id for call in targets(state, order)))
        case Edit():
            return Receipt(accepted=True, ids=(order.message_id,))
        case Withdraw():
            return Receipt(accepted=True, ids=(order.message_id,), reason=_unanswered(state, order))
        case Revoke():
            return Receipt(accepted=True, ids=(order.grant_id,))
        case Interrupt() | Close():
            return Receipt(accepted=True)
    assert_never(order)


def _lacking(order: Approve, meant: tuple[Call, ...]) -> str:
    lacking = [call.call_id for call in meant if approvals_lacking(call, order)]
    return f"Further approvals are needed for {', '.join(lacking)}." if lacking else ""


def _unanswered(state: State, order: Withdraw) -> str:
    """A turn that a withdrawn message stops answers none of those that it took with that one."""
    if state.turn is None or waits(state, order.message_id):
        return ""
    taken = [each.message_id for each in state.messages[state.turn.first_message :] if each.role == "user"]
    others = ", ".join(message_id for message_id in taken if message_id != order.message_id)
    left = f" It leaves {others} unanswered too: send again what still counts." if others else ""
    return f"The turn stops. What the model has read of {order.message_id} stays in the transcript.{left}"


def _hint(state: State) -> str:
    """Free text is never taken for a response: whoever meant one should know."""
    if state.questions:
        asked = ", ".join(question.call_id for question in state.questions)
        return f"Queued as a message. A question is open ({asked}): answer it to go on."
    if state.requests:
        waiting = ", ".join(call.call_id for request in state.requests for call in request.calls)
        return f"Queued as a message. An approval is awaited ({waiting}): approve or deny to go on."
    return ""
