"""Tools as a run knows them: name, schema, effect, and what is promised about running one twice."""

from __future__ import annotations

from datetime import timedelta
from typing import Literal

from pydantic import JsonValue

from perdure.contracts.record import Record

Effect = Literal["read", "write", "execute", "network"]
"""What a tool does to the world: reads local data, changes it, runs programs, or talks to other machines."""

Handler = Literal["activity", "human"]
"""Who does the work of a call: a Temporal activity of the tool's name, or a person who is asked."""


class ToolSpec(Record):
    """What the model and the authority are told about a tool; frozen into a run at its start.

    ``parameters`` is a JSON Schema of type object (2020-12). ``effect`` None means undeclared: such a tool asks.
    ``idempotent`` says that running the call again does no harm: only then does a lost attempt run again.
    ``polling`` says that the same call
    with the same result is to be expected. ``task_queue`` names the Temporal task queue of the worker that serves it;
    None is the run's own. ``path_arguments``
    names the arguments that are file paths, ``command_argument`` the one that is a shell command, for the authority.
    """

    name: str
    description: str = ""
    parameters: dict[str, JsonValue] = {"type": "object", "properties": {}}
    effect: Effect | None = None
    idempotent: bool = False
    polling: bool = False
    handler: Handler = "activity"
    task_queue: str | None = None
    deadline: timedelta = timedelta(minutes=5)
    path_arguments: tuple[str, ...] = ()
    command_argument: str | None = None


class CallContext(Record):
    """What a tool's activity is told beside its arguments (second activity input, after the arguments object)."""

    run_id: str
    call_id: str
    tool: str
    idempotency_key: str
    workspace: str = "."
    agent: str = ""


class ToolOutput(Record):
    """What a tool's activity returns. A foreign worker may return any JSON instead: it becomes ``data``."""

    text: str = ""
    data: JsonValue = None
    status: Literal["ok", "error"] = "ok"
