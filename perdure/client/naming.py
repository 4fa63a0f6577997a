"""What an order is about whose sender does not name it: the call that waits, the turn that runs, by the run's history.

By the time when an order comes, or comes a second time, something else may wait or run.
"""

from __future__ import annotations

from perdure.brain.refuse import refusal, targets
from perdure.contracts.errors import OrderRefusedError
from perdure.contracts.requests import Answer, Approve, Deny, Interrupt
from perdure.contracts.state import State


def named(state: State | None, order: Approve | Deny | Answer) -> Approve | Deny | Answer:
    """The order with the id of the one call that waits for it, and its digest, unless it names what it is about.

    Raises OrderRefusedError when none or several wait.
    """
    if order.call_id or (order.kind != "answer" and (order.call_ids or order.request_id or order.all)):
        return order
    if state is None:
        raise OrderRefusedError("The run has not begun: nothing waits in it.")
    waiting = targets(state, order if order.kind == "answer" else order.model_copy(update={"all": True}))
    if len(waiting) != 1:
        raise OrderRefusedError(refusal(state, order))
    call = waiting[0]
    if order.kind == "answer":
        return order.model_copy(update={"call_id": call.call_id})
    return order.model_copy(update={"call_id": call.call_id, "digest": order.digest or call.digest})


def of_this_turn(state: State | None, order: Interrupt) -> Interrupt:
    """The order with the number of the turn that runs, if one does."""
    return order if state is None or state.turn is None else order.model_copy(update={"turn": state.turn.number})
