"""Calling a tool as a worker does, without one."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from perdure.activities.calling import run_tool
from perdure.activities.functions import tool_from
from perdure.contracts.tools import CallContext, ToolOutput


def context(workspace: Path | str = ".", *, tool: str = "tool") -> CallContext:
    return CallContext(
        run_id="run", call_id="t1s1c1", tool=tool, idempotency_key="run/t1s1c1", workspace=str(workspace), agent="anna"
    )


async def called(function: Callable[..., Any], workspace: Path | str = ".", /, **arguments: Any) -> ToolOutput:
    tool = tool_from(function)
    return await run_tool(tool, arguments, context(workspace, tool=tool.spec.name))
