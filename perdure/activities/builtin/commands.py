"""Running a shell command in the workspace."""

from __future__ import annotations

import os
import signal
from datetime import timedelta
from typing import Annotated

from pydantic import Field

from perdure.activities.builtin.environment import without_secrets
from perdure.activities.builtin.processes import DRAIN, GRACE, Ended, run_shell
from perdure.activities.builtin.workspace import workspace_of
from perdure.activities.declaration import tool
from perdure.contracts.errors import ToolError
from perdure.contracts.tools import CallContext, ToolOutput

LONGEST = timedelta(minutes=10)
"""The longest time that a model may give a command."""


@tool(effect="execute", deadline=LONGEST + GRACE + 5 * DRAIN, command_argument="command")
async def execute_command(
    command: str,
    context: CallContext,
    timeout_seconds: Annotated[float, Field(gt=0, le=LONGEST.total_seconds())] = 120,
) -> ToolOutput:
    """Run a shell command in the workspace folder and return its exit code and output.

    It gets no input, long output is shown by its head and tail, and every process that it leaves in the background is
    ended with it.

    Args:
        command: The command line, for bash.
        timeout_seconds: How long it may run before it is stopped.
    """
    folder = workspace_of(context.workspace)
    environment = {**without_secrets(os.environ), "PERDURE_IDEMPOTENCY_KEY": context.idempotency_key}
    try:
        ended = await run_shell(
            command, folder=folder, environment=environment, limit=timedelta(seconds=timeout_seconds)
        )
    except (OSError, ValueError) as error:
        raise ToolError(f"The command cannot be started: {error}.") from None
    return ToolOutput(
        status="error" if ended.timed_out else "ok", text=_report(ended, timeout_seconds), data=_facts(ended)
    )


def _report(ended: Ended, timeout_seconds: float) -> str:
    if ended.timed_out:
        first = f"Stopped: it did not end within {timeout_seconds:g} s."
    elif ended.exit_code is None:
        first = "Abandoned: it could not be ended."
    elif ended.exit_code < 0:
        first = f"Ended by signal {_signal(-ended.exit_code)}."
    else:
        first = f"Exit code {ended.exit_code}."
    errors = f"[stderr]\n{ended.errors}" if ended.errors else ""
    return "\n".join(part for part in (first, ended.output.rstrip("\n"), errors.rstrip("\n")) if part)


def _facts(ended: Ended) -> dict[str, int | bool | None]:
    return {"exit_code": ended.exit_code, "timed_out": ended.timed_out}


def _signal(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return str(number)
