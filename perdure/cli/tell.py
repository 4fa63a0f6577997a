"""Telling a run something, whatever kind of order it is."""

from __future__ import annotations

from typing import assert_never

from perdure.client.client import Client
from perdure.contracts.requests import Answer, Approve, Close, Deny, Interrupt, Order, Receipt, Send


async def tell(client: Client, run_id: str, order: Order) -> Receipt:
    """Give ``order`` to the run. Raises OrderRefusedError, RunNotFoundError, OperatorError when no worker answers."""
    match order:
        case Send():
            return await client.send(run_id, order.message, client_key=order.client_key, actor=order.actor)
        case Approve():
            return await client.approve(
                run_id, order.call_id, digest=order.digest, reason=order.reason, actor=order.actor
            )
        case Deny():
            return await client.deny(run_id, order.call_id, digest=order.digest, reason=order.reason, actor=order.actor)
        case Answer():
            return await client.answer(run_id, order.answer, call_id=order.call_id, actor=order.actor)
        case Interrupt():
            return await client.interrupt(run_id, turn=order.turn, reason=order.reason, actor=order.actor)
        case Close():
            return await client.close(run_id, reason=order.reason, actor=order.actor)
    assert_never(order)
