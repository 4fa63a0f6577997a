"""Every tool as a Temporal activity under the tool's own name.

The trap: a stop and a worker's shutdown raise the same CancelledError. Neither is answered with a result here: the
error goes on to the worker, which tells the server "canceled" for the one and hands the call over for the other.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from pydantic import JsonValue

from perdure.activities.calling import run_tool
from perdure.activities.functions import Tool
from perdure.activities.heartbeat import Heartbeat
from perdure.activities.inputs import activity_named
from perdure.activities.redaction import KnownSecrets
from perdure.activities.toolbox import Toolbox
from perdure.contracts.tools import CallContext, ToolOutput

ToolActivity = Callable[[dict[str, JsonValue], CallContext], Awaitable[ToolOutput]]


def tool_activities(toolbox: Toolbox, secrets: KnownSecrets | None = None) -> list[ToolActivity]:
    """One activity for each tool that an activity serves, under the tool's own name; humans' tools have none.

    ``secrets`` are hidden in what the tools return.
    """
    hidden = secrets or KnownSecrets()
    return [_activity(tool, hidden) for tool in toolbox if tool.spec.handler == "activity"]


def _activity(tool: Tool, secrets: KnownSecrets) -> ToolActivity:
    @activity_named(tool.spec.name)
    async def call(arguments: dict[str, JsonValue], context: CallContext) -> ToolOutput:
        async with Heartbeat():
            return secrets.hide(await run_tool(tool, arguments, context))

    return call
