"""Every tool as a Temporal activity under the tool's own name: checked, bounded in time and size, never a traceback.

The trap: a stop and a worker's shutdown raise the same CancelledError. Neither is answered with a result here: the
error goes on to the worker, which tells the server "canceled" for the one and hands the call over for the other.
"""

from __future__ import annotations

import asyncio
import inspect
import logging
from collections.abc import Awaitable, Callable, Mapping
from datetime import timedelta

from pydantic import JsonValue
from temporalio import activity

from perdure.activities.functions import Tool
from perdure.activities.heartbeat import Heartbeat
from perdure.activities.results import failed_output, output_of
from perdure.activities.threads import in_thread
from perdure.activities.toolbox import Toolbox
from perdure.contracts.tools import CallContext, ToolOutput

STOP_GRACE = timedelta(seconds=10)
"""How long an asynchronous tool may tidy up after it was stopped, before it is left behind."""

ToolActivity = Callable[[dict[str, JsonValue], CallContext], Awaitable[ToolOutput]]

log = logging.getLogger(__name__)


def tool_activities(toolbox: Toolbox) -> list[ToolActivity]:
    """One activity for each tool that an activity serves, under the tool's own name; humans' tools have none."""
    return [_activity(tool) for tool in toolbox if tool.spec.handler == "activity"]


async def run_tool(tool: Tool, arguments: Mapping[str, JsonValue], context: CallContext) -> ToolOutput:
    """The output of one call; whatever the tool raises is an error output.

    Raises only CancelledError, when the caller is cancelled; an asynchronous tool has then been cancelled too.
    """
    work = asyncio.create_task(_outcome(tool, arguments, context), name=f"{tool.spec.name} {context.call_id}")
    try:
        ended, _ = await asyncio.wait([work], timeout=tool.spec.deadline.total_seconds())
    except asyncio.CancelledError:
        await _stop(work)
        raise
    if ended:
        return work.result()
    stopped = await _stop(work) and inspect.iscoroutinefunction(tool.function)
    seconds = f"{tool.spec.deadline.total_seconds():g} s"
    fate = "was stopped" if stopped else "could not be stopped and may still be at work"
    return ToolOutput(status="error", text=f"{tool.spec.name} did not end within its deadline of {seconds} and {fate}.")


def _activity(tool: Tool) -> ToolActivity:
    @activity.defn(name=tool.spec.name)
    async def call(arguments: dict[str, JsonValue], context: CallContext) -> ToolOutput:
        async with Heartbeat():
            return await run_tool(tool, arguments, context)

    return call


async def _outcome(tool: Tool, arguments: Mapping[str, JsonValue], context: CallContext) -> ToolOutput:
    name = tool.spec.name
    try:
        keywords = tool.keywords(arguments, context)
        if inspect.iscoroutinefunction(tool.function):
            return output_of(name, await tool.function(**keywords))
        # The result is made in the thread too: an iterator among it is only then run.
        made = await in_thread(lambda: _called(tool, keywords), name=f"{name} {context.call_id}")
        return made if isinstance(made, ToolOutput) else output_of(name, await made)
    except (Exception, SystemExit) as error:  # noqa: BLE001 - a tool may raise anything, and the run goes on
        return _failed(name, error)
    except asyncio.CancelledError as error:
        task = asyncio.current_task()
        if task is not None and task.cancelling():
            raise
        return _failed(name, error)


def _called(tool: Tool, keywords: Mapping[str, object]) -> ToolOutput | Awaitable[object]:
    try:
        value: object = tool.function(**keywords)
        return value if inspect.isawaitable(value) else output_of(tool.spec.name, value)
    except BaseException as error:  # noqa: BLE001 - StopIteration and SystemExit must not reach the event loop
        return _failed(tool.spec.name, error)


def _failed(name: str, error: BaseException) -> ToolOutput:
    log.debug("The tool %s raised", name, exc_info=error)
    return failed_output(name, error)


async def _stop(work: asyncio.Task[ToolOutput]) -> bool:
    work.cancel()
    ended, _ = await asyncio.wait([work], timeout=STOP_GRACE.total_seconds())
    return bool(ended)
