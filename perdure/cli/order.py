"""Orders from the command line: approve, deny, answer, send, interrupt, close, cancel.

What a run would refuse is refused here already, by its history, so that the reason comes at once when no worker runs.
"""

from __future__ import annotations

from collections.abc import Sequence

from perdure.brain.refuse import refusal
from perdure.cli.hints import how_to_serve
from perdure.cli.lines import Span
from perdure.cli.screen import Screen
from perdure.cli.session import Session, actor, reaching, read_settings
from perdure.cli.tell import tell
from perdure.cli.text import arguments_line, plain
from perdure.client.delivery import KEPT
from perdure.contracts.errors import InvalidInputError, OrderRefusedError
from perdure.contracts.requests import Answer, Approve, Close, Deny, Interrupt, Order, Receipt, Send
from perdure.contracts.state import State


async def decide(run_id: str, call_ids: Sequence[str], *, approve: bool, reason: str) -> int:
    """Approve or deny these calls, or every call that waits, each bound to the arguments that the history shows."""
    screen = Screen()
    async with reaching(read_settings(screen).settings, screen) as session:
        state = await state_of(session, run_id)
        waiting = {call.call_id: call for request in state.requests for call in request.calls} if state else {}
        receipt: Receipt | None = None
        for call_id in call_ids or waiting or [""]:
            call = waiting.get(call_id)
            digest = call.digest if call else ""
            kind = Approve if approve else Deny
            order = kind(call_id=call_id, digest=digest, reason=reason, actor=actor())
            receipt = await give(session, run_id, order, state)
            shown = f"{call_id} {plain(call.tool)} {arguments_line(call.arguments, '')}" if call else call_id
            screen.write((Span(f"{'approved' if approve else 'denied'} {shown}\n"),))
        tell_what_next(screen, run_id, receipt)
    return 0


async def answer(run_id: str, text: str, call_id: str) -> int:
    """Answer an open question."""
    if not text.strip():
        raise InvalidInputError("The answer is empty.")
    return await simple(run_id, Answer(answer=text, call_id=call_id, actor=actor()), "answered")


async def send(run_id: str, text: str) -> int:
    """Send a further message."""
    if not text.strip():
        raise InvalidInputError('The message is empty. Say what the agent should know or do: perdure send ID "…".')
    return await simple(run_id, Send(message=text, actor=actor()), "sent")


async def interrupt(run_id: str, reason: str) -> int:
    """Stop the turn that is running."""
    return await simple(run_id, Interrupt(reason=reason, actor=actor()), "interrupted")


async def close(run_id: str, reason: str) -> int:
    """End the run after the turn that is running."""
    return await simple(run_id, Close(reason=reason, actor=actor()), "closing")


async def cancel(run_id: str, reason: str) -> int:
    """Cancel the run now."""
    screen = Screen()
    async with reaching(read_settings(screen).settings, screen) as session:
        if (await session.client.history(run_id)).closed:
            raise OrderRefusedError(f"Run {run_id} has ended: there is nothing to cancel.")
        await session.client.cancel(run_id, reason=reason)
        screen.write((Span(f"asked {run_id} to cancel: open calls are stopped and settled first\n"),))
    return 0


async def simple(run_id: str, order: Order, done: str) -> int:
    """Give one order and say ``done``."""
    screen = Screen()
    async with reaching(read_settings(screen).settings, screen) as session:
        receipt = await give(session, run_id, order, await state_of(session, run_id))
        ids = f" ({', '.join(receipt.ids)})" if receipt.ids else ""
        screen.write((Span(f"{done} {run_id}{ids}\n"),))
        tell_what_next(screen, run_id, receipt)
    return 0


async def state_of(session: Session, run_id: str) -> State | None:
    """What the history says of the run; None when no worker has taken it up yet. Raises RunNotFoundError."""
    return (await session.client.history(run_id)).state


async def give(session: Session, run_id: str, order: Order, state: State | None) -> Receipt:
    """Give the order unless the run would refuse it. Raises OrderRefusedError."""
    refused = refusal(state, order) if state else ""
    if refused:
        raise OrderRefusedError(refused)
    return await tell(session.client, run_id, order)


def tell_what_next(screen: Screen, run_id: str, receipt: Receipt | None) -> None:
    """Say so when no worker could take the order yet, and what to do then."""
    if receipt is not None and receipt.reason == KEPT:
        screen.note(f"{KEPT}\n{how_to_serve(run_id)}", "plain")
