"""Orders from the command line: answer, send, edit, withdraw, interrupt, close, cancel.

What a run would refuse is refused here already, by its history, so that the reason comes at once when no worker runs.
"""

from __future__ import annotations

import shlex
from dataclasses import dataclass

from perdure.brain.receipt import receipt_for
from perdure.brain.refuse import refusal
from perdure.cli.hints import how_to_decide, how_to_serve
from perdure.cli.lines import Span
from perdure.cli.past import decided
from perdure.cli.screen import Screen
from perdure.cli.session import Session, actor, reaching, read_settings, said
from perdure.cli.text import plain
from perdure.cli.waiting import waiting_of
from perdure.client.delivery import KEPT
from perdure.contracts.errors import InvalidInputError, OrderRefusedError
from perdure.contracts.requests import Answer, Close, Edit, Interrupt, Order, Receipt, Send, Withdraw
from perdure.contracts.state import State


@dataclass(frozen=True, slots=True)
class Told:
    """What a run was told, what it said, and what its history said before."""

    order: Order
    receipt: Receipt
    state: State | None


async def answer(run_id: str, text: str, call_id: str) -> int:
    """Answer an open question; several options are parted by commas where the question takes several."""
    if not text.strip():
        raise InvalidInputError("The answer is empty.")
    screen = Screen()
    async with reaching(read_settings(screen).settings, screen) as session:
        state = await state_of(session, run_id)
        chosen = answers_in(text, call_id, state) if state else text
        told = await give(session, run_id, Answer(answer=chosen, call_id=call_id, actor=actor()), state, screen)
        screen.write((Span(f"answered {run_id}{_ids(told)}\n"),))
        tell_what_next(screen, run_id, told)
    return 0


def answers_in(text: str, call_id: str, state: State) -> str | tuple[str, ...]:
    """``text`` as the answer to the open question that is meant: a list when that takes several options."""
    meant = [question for question in state.questions if call_id in ("", question.call_id)]
    if len(meant) != 1 or not (meant[0].multiple and meant[0].options) or text in meant[0].options:
        return text
    return tuple(dict.fromkeys(part.strip() for part in text.split(",") if part.strip()))


async def send(run_id: str, text: str) -> int:
    """Send a further message."""
    if not text.strip():
        raise InvalidInputError('The message is empty. Say what the agent should know or do: perdure send ID "…".')
    return await simple(run_id, Send(message=text, actor=actor()), "sent")


async def edit(run_id: str, message_id: str, text: str) -> int:
    """Change a message that waits for delivery."""
    if not text.strip():
        raise InvalidInputError("The new text is empty. `perdure withdraw` takes a message back.")
    return await simple(run_id, Edit(message_id=message_id, message=text, actor=actor()), "changed")


async def withdraw(run_id: str, message_id: str, reason: str) -> int:
    """Take a message back."""
    return await simple(run_id, Withdraw(message_id=message_id, reason=reason, actor=actor()), "withdrawn")


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
        await session.client.cancel(run_id, reason=reason, actor=actor())
        screen.write((Span(f"asked {run_id} to cancel: open calls are stopped and settled first\n"),))
    return 0


async def simple(run_id: str, order: Order, done: str) -> int:
    """Give one order and say ``done``."""
    screen = Screen()
    async with reaching(read_settings(screen).settings, screen) as session:
        told = await give(session, run_id, order, await state_of(session, run_id), screen)
        screen.write((Span(f"{done} {run_id}{_ids(told)}\n"),))
        tell_what_next(screen, run_id, told)
    return 0


async def state_of(session: Session, run_id: str) -> State | None:
    """What the history says of the run, with the orders that wait there to be taken in. Raises RunNotFoundError."""
    return await (await session.client.history(run_id)).foreseen()


async def give(session: Session, run_id: str, order: Order, state: State | None, screen: Screen) -> Told:
    """Give the order unless the run would refuse it. Raises OrderRefusedError."""
    refused = refusal(state, order) if state else ""
    if refused:
        look = f"`perdure show {shlex.quote(run_id)}` shows where the run stands."
        raise OrderRefusedError(
            f"{refused}{_queued(order, state)}{await decided(session, run_id, order, state)} {look}"
        )
    async with said(screen, "Waiting for the run's worker to take it …"):
        return Told(order, await session.client.tell(run_id, order), state)


def tell_what_next(screen: Screen, run_id: str, told: Told) -> None:
    """Say what the run said beside yes: that something else is awaited, or that no worker could take the order yet."""
    kept = told.receipt.reason == KEPT
    reason = told.receipt.reason
    if kept:
        reason = receipt_for(told.state, told.order).reason if told.state else ""
    if reason:
        screen.note(plain(reason), "alert")
    if reason and isinstance(told.order, Send) and told.state and (waits := waiting_of(told.state)):
        screen.note(how_to_decide(run_id, waits), "plain")
    if kept:
        screen.note(f"{KEPT}\n{how_to_serve(run_id)}", "plain")


def _ids(told: Told) -> str:
    return f" ({', '.join(told.receipt.ids)})" if told.receipt.ids else ""


def _queued(order: Order, state: State | None) -> str:
    """Which messages could be meant, when the one that was named cannot."""
    if not isinstance(order, Edit | Withdraw) or state is None:
        return ""
    waiting = ", ".join(message.message_id for message in state.inbox)
    return f" Waiting for delivery: {waiting}." if waiting else " No message waits for delivery."
