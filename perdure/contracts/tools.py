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
    ``idempotent`` says that running the call again does no harm: only then does a lost attempt run again. ``polling``
    says that the same call with the same result is to be expected. ``task_queue`` names the Temporal task queue of the
    worker that serves it; None is the run's own. ``path_arguments`` names the arguments that are file paths,
    ``command_argument`` the one that is a shell command, for the authority.
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


class HostedTool(Record):
    """A tool that the model's provider runs by itself, while it answers; nobody is asked about its single calls.

    ``web_search`` may be bounded by ``max_uses`` and to ``allowed_domains`` or without ``blocked_domains``. ``mcp`` is
    an MCP server at ``url``, which the provider calls ``server``; ``allowed_tools`` bounds what of it may be used. The
    key that such a server wants is a setting of the worker and no part of this.
    """

    tool: Literal["web_search", "code_execution", "mcp"]
    server: str = ""
    url: str = ""
    allowed_tools: tuple[str, ...] = ()
    allowed_domains: tuple[str, ...] = ()
    blocked_domains: tuple[str, ...] = ()
    max_uses: int | None = None

    @property
    def name(self) -> str:
        """What scope and policy call it: ``web_search``, ``code_execution`` or ``mcp:<server>``."""
        return f"mcp:{self.server}" if self.tool == "mcp" else self.tool

    @property
    def given(self) -> tuple[str, ...]:
        """The names of what is said of it."""
        fields = ("server", "url", "allowed_tools", "allowed_domains", "blocked_domains", "max_uses")
        return tuple(field for field in fields if getattr(self, field) not in ("", (), None))
