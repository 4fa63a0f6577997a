"""Where a run stands: its status, what stopped it, what it took, and which messages it has yet to read."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from perdure.cli.lines import Span
from perdure.cli.text import counted, one_line, plain, taken
from perdure.contracts.events import DurableEvent, OrderReceived, RunClosed, TurnBegan
from perdure.contracts.messages import UserMessage
from perdure.contracts.requests import Cancel, Close, Interrupt
from perdure.contracts.state import State

Stop = Interrupt | Close | Cancel
STOPPED = {"interrupt": "interrupted", "close": "closed", "cancel": "canceled"}


def standing(run_id: str, state: State | None, events: Iterable[DurableEvent]) -> Iterator[Span]:
    """The lines, most of a name and a value. ``events`` are those of the run's newest execution.

    The last event of a run that is closed knows of ends that the run itself did not bring about.
    """
    events = tuple(events)
    closed = next((event for event in events if isinstance(event, RunClosed)), None)
    status = closed.status if closed else state.status if state else "unknown"
    last = state.last_turn if state else None
    end = f" (last turn: {last.end})" if last and last.end not in ("completed", status) else ""
    yield Span(f"run     {run_id}\n", "strong")
    yield Span(f"status  {status}{end}\n")
    stop = stop_in(events)
    if stop and (stop.actor or stop.reason):
        by = f" by {plain(stop.actor)}" if stop.actor else ""
        yield Span(f"stop    {STOPPED[stop.kind]}{by}{f': {one_line(stop.reason, 500)}' if stop.reason else ''}\n")
    failure = (closed.failure if closed else None) or (state.failure if state else None) or (last and last.failure)
    if failure:
        yield Span(f"cause   {one_line(failure.message, 1_000)}\n", "bad")
    if state is None:
        return
    if state.agent:
        yield Span(f"agent   {plain(state.agent.name)}, model {plain(state.agent.model)}\n")
    steps = f"{counted(state.turns, 'turn')}, {counted(state.steps, 'step')}"
    yield Span(f"took    {steps}, {taken(state.usage, state.cost)}\n")


def stop_in(events: Iterable[DurableEvent]) -> Stop | None:
    """What stopped the last turn, or the run; None when nobody did."""
    stop: Stop | None = None
    for event in events:
        match event:
            case OrderReceived(refused="", order=Interrupt() | Close() | Cancel() as order):
                stop = order
            case TurnBegan() if isinstance(stop, Interrupt):
                stop = None
            case _:
                pass
    return stop


def undelivered(messages: Iterable[UserMessage], *, over: bool) -> Iterator[Span]:
    """The messages that the agent has not read, one a line, and whether it is going to."""
    for number, message in enumerate(messages):
        if not number:
            yield Span("\nnever delivered:\n" if over else "\nwaits for delivery:\n")
        yield queued(message)


def queued(message: UserMessage) -> Span:
    """A message in one line: its id, which `perdure edit` takes, who sent it, and what it says."""
    by = f" from {plain(message.sender)}" if message.sender else ""
    parts = (part.text if part.kind == "text" else f"({part.kind}, {part.media_type})" for part in message.parts)
    return Span(f"  {message.message_id}{by}: {one_line(' '.join(parts), 500)}\n")
