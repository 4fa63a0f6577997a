"""Exporting a run: messages and events as its history has them, for other programs. No worker is needed."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Literal

from pydantic import JsonValue

from perdure.cli.screen import Screen
from perdure.cli.session import Session, reaching, read_settings, said
from perdure.client.feed import first_execution, read_execution
from perdure.client.rpc import rpc_errors
from perdure.contracts.errors import OperatorError
from perdure.contracts.events import DurableEvent
from perdure.contracts.state import State

Format = Literal["jsonl", "json"]


async def export_run(run_id: str, form: Format) -> int:
    """Write the run, its messages and its durable events: one JSON object, or one a line."""
    screen = Screen()
    settings = read_settings(screen).settings
    async with reaching(settings, screen) as session, said(screen, f"Reading the history of {run_id} …"):
        state, events = await recorded(session, run_id)
    if state is None and not events:
        raise OperatorError(f"Run {run_id} has not begun: no worker has taken it up yet. Start one: `perdure worker`.")
    head: dict[str, JsonValue] = state.model_dump(mode="json", exclude={"messages"}) if state else {"run_id": run_id}
    messages: list[JsonValue] = [message.model_dump(mode="json") for message in state.messages] if state else []
    told: list[JsonValue] = [event.model_dump(mode="json") for event in events]
    if form == "json":
        screen.line(json.dumps({"run": head, "messages": messages, "events": told}, ensure_ascii=False))
        return 0
    for line in lines_of(head, messages, told):
        screen.line(json.dumps(line, ensure_ascii=False))
    return 0


def lines_of(head: JsonValue, messages: list[JsonValue], events: list[JsonValue]) -> Iterator[dict[str, JsonValue]]:
    """The objects of the ``jsonl`` form: each has one key, which says what it is."""
    yield {"run": head}
    yield from ({"message": message} for message in messages)
    yield from ({"event": event} for event in events)


async def recorded(session: Session, run_id: str) -> tuple[State | None, list[DurableEvent]]:
    """The state of the run and all its durable events as they stand now, over all its executions."""
    temporal = session.temporal
    events: list[DurableEvent] = []
    state: State | None = None
    with rpc_errors(session.client.address, run_id):
        execution: str | None = await first_execution(temporal, run_id)
        while execution is not None:
            projection, told = await read_execution(temporal, run_id, execution)
            events += told
            state, execution = projection.state or state, projection.successor
    return state, events
