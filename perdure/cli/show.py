"""Showing a run, read from its history: no worker is needed, and a run that has ended shows as well."""

from __future__ import annotations

from collections.abc import Iterator

from perdure.brain.ending import ended
from perdure.cli.hints import how_to_converse, how_to_decide, how_to_go_on
from perdure.cli.lines import Span
from perdure.cli.render import Renderer
from perdure.cli.screen import Screen
from perdure.cli.session import Session, reaching, read_settings, said
from perdure.cli.text import counted, one_line, plain, taken
from perdure.cli.waiting import waiting_of
from perdure.contracts.events import AnyEvent, CallEnded, MessageReceived, ModelAnswered, OrderReceived, RunClosed
from perdure.contracts.messages import Message
from perdure.contracts.requests import Answer, Approve, Deny
from perdure.contracts.state import Call, State


async def show_run(run_id: str, *, as_json: bool) -> int:
    """Show transcript, status, cost, and what waits."""
    screen = Screen()
    async with reaching(read_settings(screen).settings, screen) as session:
        async with said(screen, f"Reading the history of {run_id} …"):
            projection = await session.client.history(run_id)
        state = projection.state
        if state is not None and as_json:
            screen.line(state.model_dump_json())
            return 0
        if state is None and not projection.closed:
            screen.write((Span(f"run     {run_id}\nstatus  not begun: no worker has taken it up yet\n"),))
            screen.note(how_to_go_on(run_id), "plain")
            return 0
        closed = await ending(session, run_id) if projection.closed else None
        if state is not None:
            screen.write(story(state))
        screen.write(standing(run_id, state, closed))
        link = session.link(run_id)
        if link:
            screen.write((Span(f"ui      {link}\n"),))
        if state is not None and not projection.closed:
            waits = waiting_of(state)
            hint = how_to_decide(run_id, waits) if waits else how_to_converse(run_id) if state.status == "idle" else ""
            if hint:
                screen.note(hint, "plain")
    return 0


async def ending(session: Session, run_id: str) -> RunClosed | None:
    """The last event of a run that is closed: it knows of ends that the run itself did not bring about."""
    async for event in session.client.events(run_id, live=False):
        if isinstance(event, RunClosed) and not event.path:
            return event
    return None


def story(state: State) -> Iterator[Span]:
    """The transcript, as `perdure run` shows it while it happens."""
    renderer = Renderer(state.agent.model if state.agent else "")
    for message in state.messages:
        yield from renderer.feed(told(message))
    for call in state.turn.batch if state.turn else ():
        for event in happened(call):
            yield from renderer.feed(event)
    if state.turn is None and state.last_turn is not None:
        yield from renderer.data(state.last_turn.data)
    for message in state.inbox:
        yield from renderer.feed(told(message))
    yield Span("\n")


def told(message: Message) -> AnyEvent:
    """The event that brought a message."""
    match message.role:
        case "user":
            return MessageReceived(message=message)
        case "assistant":
            return ModelAnswered(message=message)
        case "tool":
            return CallEnded(result=message)


def happened(call: Call) -> Iterator[AnyEvent]:
    """What happened to a call of the open batch: the transcript has its results once all are there."""
    responses = [*call.approvals, *([call.response] if call.response and call.response not in call.approvals else [])]
    for response in responses:
        about = {"call_id": call.call_id, "actor": response.actor}
        match response.decision:
            case _ if response.by_deadline:
                continue
            case "approve":
                arguments = call.part.arguments if call.edited else None
                yield OrderReceived(order=Approve(**about, reason=response.text, arguments=arguments))
            case "deny":
                yield OrderReceived(order=Deny(**about, reason=response.text))
            case "answer":
                yield OrderReceived(order=Answer(**about, answer=response.text))
    if call.result is not None:
        yield CallEnded(result=call.result)


def standing(run_id: str, state: State | None, closed: RunClosed | None) -> Iterator[Span]:
    """Where the run stands, in lines of a name and a value."""
    status = closed.status if closed else state.status if state else "unknown"
    last = state.last_turn if state else None
    end = f" (last turn: {last.end})" if last and last.end != "completed" else ""
    yield Span(f"run     {run_id}\n", "strong")
    yield Span(f"status  {status}{end}\n")
    failure = (closed.failure if closed else None) or (state.failure if state else None) or (last and last.failure)
    if failure:
        yield Span(f"cause   {one_line(failure.message, 1_000)}\n", "bad")
    if state is None:
        return
    if state.agent:
        yield Span(f"agent   {plain(state.agent.name)}, model {plain(state.agent.model)}\n")
    steps = f"{counted(state.turns, 'turn')}, {counted(state.steps, 'step')}"
    yield Span(f"took    {steps}, {taken(state.usage, state.cost)}\n")
    if state.inbox and not ended(state):
        yield Span(f"queued  {', '.join(message.message_id for message in state.inbox)}\n")
