"""Showing a run, read from its history: no worker is needed, and a run that has ended shows as well."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import zip_longest

from perdure.brain.ending import ended
from perdure.brain.outputs import read_output
from perdure.cli.hints import how_to_converse, how_to_decide, how_to_go_on, unserved
from perdure.cli.lines import Span
from perdure.cli.past import sentence
from perdure.cli.render import Renderer
from perdure.cli.screen import Screen
from perdure.cli.session import Session, reaching, read_settings, said
from perdure.cli.standing import standing, undelivered
from perdure.cli.waiting import waiting_of
from perdure.client.feed import read_execution
from perdure.client.kinds import check_is_run
from perdure.client.projection import Projection
from perdure.client.rpc import rpc_errors
from perdure.client.serving import lacks_worker
from perdure.contracts.approvals import Response
from perdure.contracts.events import (
    AnyEvent,
    CallEnded,
    DurableEvent,
    MessageReceived,
    ModelAnswered,
    ModelCalled,
    OrderReceived,
)
from perdure.contracts.messages import Message
from perdure.contracts.requests import Answer, Approve, Deny
from perdure.contracts.state import Call, State


async def show_run(run_id: str, *, as_json: bool) -> int:
    """Show transcript, status, cost, and what waits."""
    screen = Screen()
    async with reaching(read_settings(screen).settings, screen) as session:
        async with said(screen, f"Reading the history of {run_id} …"):
            projection, events = await newest(session, run_id)
        state = projection.state
        if state is not None and as_json:
            screen.line(state.model_dump_json())
            return 0
        if state is None and not projection.closed:
            screen.write((Span(f"run     {run_id}\nstatus  not begun: no worker has taken it up yet\n"),))
            screen.write((Span(f"\n{how_to_go_on(run_id)}\n"),))
            return 0
        if state is not None:
            screen.write(story(state))
        screen.write(standing(run_id, state, events))
        link = session.link(run_id)
        if link:
            screen.write((Span(f"ui      {link}\n"),))
        if state is not None:
            screen.write(undelivered(state.inbox, over=projection.closed))
        if state is not None and not projection.closed:
            foreseen = await projection.foreseen() or state
            waits = waiting_of(foreseen)
            resting = how_to_converse(run_id) if foreseen.status == "idle" else ""
            with rpc_errors(session.client.address, run_id):
                alone = unserved(run_id) if await lacks_worker(session.temporal, run_id) else ""
            hints = (not_taken_in(state, foreseen), how_to_decide(run_id, waits) if waits else resting, alone)
            screen.write(Span(f"\n{hint}\n") for hint in hints if hint)
    return 0


def not_taken_in(state: State, foreseen: State) -> str:
    """What people decided, or a deadline, and no worker has taken in yet; empty when there is nothing."""
    lines = []
    for asked in waiting_of(state):
        before = state.turn.call(asked.call_id) if state.turn else None
        after = foreseen.turn.call(asked.call_id) if foreseen.turn else None
        known = before.approvals if before else ()
        for response in responses(after) if after else ():
            if response not in known:
                late = f"Nobody responded about {asked.call_id} in time."
                said = sentence(asked.call_id, response.decision, response.actor, response.text)
                lines.append(f"  {late if response.by_deadline else said}")
    if not lines and ended(foreseen):
        lines.append(f"  The run is {foreseen.status}.")
    return "\n".join(("Recorded, and not taken in by a worker yet:", *lines)) if lines else ""


async def newest(session: Session, run_id: str) -> tuple[Projection, list[DurableEvent]]:
    """What the newest execution of the run says: its state is that of the whole run."""
    with rpc_errors(session.client.address, run_id):
        described = await session.temporal.get_workflow_handle(run_id).describe()
        check_is_run(run_id, described.workflow_type)
        return await read_execution(session.temporal, run_id, described.run_id)


def story(state: State) -> Iterator[Span]:
    """The transcript, as `perdure run` shows it while it happens."""
    renderer = Renderer(state.agent.model if state.agent else "")
    for message, following in zip_longest(state.messages, state.messages[1:]):
        yield from renderer.feed(told(message))
        if asked := asked_again(state, message, following):
            yield from renderer.feed(asked)
    for call in state.turn.batch if state.turn else ():
        for event in happened(call):
            yield from renderer.feed(event)
    if state.turn is None and state.last_turn is not None:
        yield from renderer.data(state.last_turn.data)
    yield Span("\n")


def asked_again(state: State, message: Message, following: Message | None) -> ModelCalled | None:
    """The event that asked for ``following`` because ``message`` does not fit the output schema; None for others."""
    schema = state.agent.output if state.agent else None
    if schema is None or message.role != "assistant" or message.calls:
        return None
    if following is None or following.role != "assistant":
        return None
    _, problem = read_output(message.text, schema)
    return ModelCalled(message_id=following.message_id, turn=state.turns, step=state.steps, problem=problem)


def told(message: Message) -> AnyEvent:
    """The event that brought a message."""
    match message.role:
        case "user":
            return MessageReceived(message=message)
        case "assistant":
            return ModelAnswered(message=message)
        case "tool":
            return CallEnded(result=message)


def responses(call: Call) -> tuple[Response, ...]:
    """What people said of a call, or its deadline."""
    last = (call.response,) if call.response and call.response not in call.approvals else ()
    return (*call.approvals, *last)


def happened(call: Call) -> Iterator[AnyEvent]:
    """What happened to a call of the open batch: the transcript has its results once all are there."""
    for response in responses(call):
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
