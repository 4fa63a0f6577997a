"""What was said of a call before: for somebody who comes too late with a decision of their own."""

from __future__ import annotations

import asyncio
import contextlib
from typing import Literal

from perdure.brain.ending import ended
from perdure.cli.session import Session
from perdure.cli.text import one_line, plain
from perdure.client.feed import read_execution
from perdure.contracts.events import AnyEvent, DeadlinePassed, OrderReceived, RequestOpened
from perdure.contracts.requests import Answer, Approve, Deny, Order
from perdure.contracts.state import State

Decision = Literal["approve", "deny", "answer"]
WORDS: dict[Decision, str] = {"approve": "approved", "deny": "denied", "answer": "answered"}
ENDING = 5.0
"""Seconds that the last events of a run that has ended may take to come."""


async def decided(session: Session, run_id: str, order: Order, state: State | None) -> str:
    """A sentence about who decided what ``order`` is about, with a blank before it; empty when nobody did.

    Without a call the last decision is meant.
    """
    if not isinstance(order, Approve | Deny | Answer) or state is None:
        return ""
    past = Past(order.call_id)
    if not ended(state):
        # What is recorded and was not taken in stands in no event yet.
        batch = state.turn.batch if state.turn else ()
        found = next((call for call in reversed(batch) if call.response and order.call_id in ("", call.call_id)), None)
        if found and found.response:
            return f" {sentence(found.call_id, found.response.decision, found.response.actor)}"
        execution = (await session.temporal.get_workflow_handle(run_id).describe()).run_id
        _, events = await read_execution(session.temporal, run_id, execution)
        for recorded in events:
            past.feed(recorded)
        return f" {past.said}" if past.said else ""
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(ENDING):
            async for event in session.client.events(run_id, live=False):
                past.feed(event)
    return f" {past.said}" if past.said else ""


def sentence(what: str, decision: Decision, actor: str, reason: str = "") -> str:
    """``t1s1c1 was approved by ana: fine.``"""
    by = f" by {plain(actor)}" if actor else ""
    return f"{what} was {WORDS[decision]}{by}{f': {one_line(reason, 200)}' if reason else ''}."


class Past:
    """What was decided of ``call_id``, or last of all when it is empty. Feed it the events of a run in order."""

    def __init__(self, call_id: str) -> None:
        self.said = ""
        self._call_id = call_id
        self._open: dict[str, str] = {}

    def feed(self, event: AnyEvent) -> None:
        """Take in one event."""
        if event.path:
            return
        match event:
            case RequestOpened():
                self._open |= {call.call_id: event.request.request_id for call in event.request.calls}
            case OrderReceived(refused="", order=Approve() | Deny() | Answer() as order):
                self._take(order)
            case DeadlinePassed() if self._call_id in ("", event.call_id):
                self.said = f"Nobody responded about {event.call_id} in time."
            case _:
                pass

    def _take(self, order: Approve | Deny | Answer) -> None:
        named = {order.call_id, *(() if isinstance(order, Answer) else order.call_ids)} - {""}
        if not named and not isinstance(order, Answer):
            named = {call for call, request in self._open.items() if order.request_id in ("", request)}
        self._open = {call: request for call, request in self._open.items() if call not in named}
        if self._call_id and self._call_id not in named:
            return
        what = self._call_id or ", ".join(sorted(named)) or "The question"
        self.said = sentence(what, order.kind, order.actor, "" if isinstance(order, Answer) else order.reason)
