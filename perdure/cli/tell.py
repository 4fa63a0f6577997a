"""Telling a run something, whatever kind of order it is."""

from __future__ import annotations

from perdure.client.client import Client
from perdure.contracts.requests import Order, Receipt


async def tell(client: Client, run_id: str, order: Order) -> Receipt:
    """Give ``order`` to the run. Raises OrderRefusedError, RunNotFoundError, OperatorError when no worker answers."""
    return await client.tell(run_id, order)
