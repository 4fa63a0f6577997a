"""Calling a tool: bounded in time and size, and never a traceback."""

from __future__ import annotations

import asyncio
import inspect
import logging
from collections.abc import Awaitable, Mapping
from datetime import timedelta

from pydantic import JsonValue

from perdure.activities.functions import Tool
from perdure.activities.results import failed_output, output_of
from perdure.activities.threads import in_thread
from perdure.contracts.tools import CallContext, ToolOutput

STOP_GRACE = timedelta(seconds=10)
"""How long an asynchronous tool may tidy up after it was stopped, before it is left behind."""

log = logging.getLogger(__name__)


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


async def _outcome(tool: Tool, arguments: Mapping[str, JsonValue], context: CallContext) -> ToolOutput:
    name = tool.spec.name
    try:
        keywords = tool.keywords(arguments, context)
        if inspect.iscoroutinefunction(tool.function):
            return output_of(name, await tool.function(**keywords))
        # The result is made in the thread too: an iterator among it is only then run.
        made = await in_thread(lambda: _called(tool, keywords), name=f"{name} {context.call_id}")
        return made if isinstance(made, ToolOutput) else output_of(name, await made)
    except BaseException as error:
        # A tool may raise anything, KeyboardInterrupt too, and the run goes on. Only our own cancellation goes through.
        task = asyncio.current_task()
        if isinstance(error, asyncio.CancelledError) and task is not None and task.cancelling():
            raise
        return _failed(name, error)


def _called(tool: Tool, keywords: Mapping[str, object]) -> ToolOutput | Awaitable[object]:
    try:
        value: object = tool.function(**keywords)
        return value if inspect.isawaitable(value) else output_of(tool.spec.name, value)
    except BaseException as error:  # noqa: BLE001 - StopIteration and KeyboardInterrupt must not reach the event loop
        return _failed(tool.spec.name, error)


def _failed(name: str, error: BaseException) -> ToolOutput:
    log.debug("The tool %s raised", name, exc_info=error)
    return failed_output(name, error)


async def _stop(work: asyncio.Task[ToolOutput]) -> bool:
    work.cancel()
    ended, _ = await asyncio.wait([work], timeout=STOP_GRACE.total_seconds())
    return bool(ended)
