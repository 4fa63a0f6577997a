"""A tool and a resolver that take their worker down with them, exactly where a test wants the worker to die."""

from __future__ import annotations

import os
import signal
from pathlib import Path
from typing import Any

from perdure import CallContext, PolicyContext, tool
from tests.server.tools import note_effect


def doom(workspace: Path, where: str) -> None:
    """Let the next worker that comes to that place die there, once."""
    (workspace / f"die {where}").touch()


def _pass(workspace: str, where: str) -> None:
    marker = Path(workspace) / f"die {where}"
    if marker.exists():
        marker.unlink()
        os.kill(os.getpid(), signal.SIGKILL)


@tool(effect="write")
async def launch(name: str, context: CallContext) -> str:
    """Take effect once. Not idempotent."""
    _pass(context.workspace, "before the effect")
    note_effect(context, f"launch {name}")
    _pass(context.workspace, "after the effect")
    return f"{name} launched"


def ask_first(tool: str, arguments: dict[str, Any], context: PolicyContext) -> str:
    """Says that a person must be asked; the worker may die while it is judging."""
    _pass(context.workspace, "while judging")
    return "ask"
