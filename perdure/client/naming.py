"""Which call a response is about whose sender names none: the one that waits, as the run's history says.

A run takes no response without a name: by the time when it comes, something else may wait.
"""

from __future__ import annotations

from perdure.brain.refuse import refusal, targets
from perdure.contracts.errors import OrderRefusedError
from perdure.contracts.requests import Answer, Approve, Deny
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
