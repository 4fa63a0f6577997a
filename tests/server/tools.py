"""Tools for runs on a real server: each leaves a line in a file when it takes effect, so that effects are counted."""

from __future__ import annotations

from pathlib import Path

from perdure import CallContext, ToolError, tool
from perdure.providers.gate import Gate

EFFECTS = "effects.txt"


def note_effect(context: CallContext, what: str) -> None:
    """Add a line to the run's list of effects."""
    with (Path(context.workspace) / EFFECTS).open("a") as file:
        file.write(f"{what}\n")


def effects(workspace: Path) -> list[str]:
    """What took effect so far, in order."""
    file = workspace / EFFECTS
    return file.read_text().splitlines() if file.exists() else []


@tool(effect="read", idempotent=True)
async def look(name: str, context: CallContext, size: int = 20) -> str:
    """Look something up; gives `size` characters."""
    note_effect(context, f"look {name}")
    return (name * size)[:size]


@tool(name="harbour__tide", effect="read", idempotent=True)
async def tide(context: CallContext) -> str:
    """The tide in the harbour."""
    note_effect(context, "tide")
    return "high"


@tool(effect="read", idempotent=True)
async def wait_then_look(name: str, gate: str, context: CallContext) -> str:
    """Look something up when the gate opens."""
    await Gate(Path(context.workspace) / gate).wait()
    note_effect(context, f"look {name}")
    return f"{name} at last"


@tool(effect="read")
async def push_once(name: str, gate: str, context: CallContext) -> str:
    """Take effect, say so by opening the gate `pushed`, then wait for the gate. Not idempotent."""
    note_effect(context, f"push {name}")
    Gate(Path(context.workspace) / "pushed").open()
    await Gate(Path(context.workspace) / gate).wait()
    return f"{name} pushed"


@tool(effect="read", idempotent=True)
async def push_again(name: str, gate: str, context: CallContext) -> str:
    """Take effect, say so by opening the gate `pushed`, then wait for the gate. Idempotent."""
    note_effect(context, f"push {name}")
    Gate(Path(context.workspace) / "pushed").open()
    await Gate(Path(context.workspace) / gate).wait()
    return f"{name} pushed"


@tool(effect="write")
async def publish(text: str, context: CallContext) -> str:
    """Publish something; asks."""
    note_effect(context, f"publish {text}")
    return "published"


@tool(effect="read")
def stumble(how: str) -> str:
    """Always fails."""
    if how == "kindly":
        raise ToolError("There is nothing here to find.")
    raise KeyError(how)
