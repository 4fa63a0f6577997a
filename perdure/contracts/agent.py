"""An agent: as its author writes it, and as a run freezes it."""

from __future__ import annotations

from datetime import timedelta
from typing import Literal

from pydantic import Field

from perdure.contracts.record import Record
from perdure.contracts.tools import ToolSpec

Decision = Literal["allow", "ask", "deny"]
"""What authority says of a call."""

PolicyWord = Literal["allow", "ask", "always_ask", "deny"]
"""What a tool policy may say. ``always_ask`` cannot be lifted by a grant or a mode."""

Mode = Literal["manual", "auto"]
"""``manual``: what is not cleared by effect or policy asks. ``auto``: what would ask runs, but for always_ask and
safety rules."""

Humans = Literal["available", "none"]
"""Whether anybody can be asked. With ``none`` nothing waits: what would ask is denied and the model is told."""


class ToolPolicy(Record):
    """What the policy says of one tool, by name."""

    tool: str
    word: PolicyWord


class Limits(Record):
    """Bounds of one turn.

    With ``steps`` = N, step N is the forced last one: no tools, with guidance to answer. ``feedback_rounds`` bounds the
    steps in a row that call unknown tools or give bad arguments. ``concurrency`` bounds the calls that run at once.
    """

    steps: int = Field(default=50, ge=1)
    feedback_rounds: int = Field(default=3, ge=0)
    concurrency: int = Field(default=8, ge=1)


class AgentSpec(Record):
    """An agent as its author gives it: by file or inline.

    ``tools`` is the scope: None is unrestricted (every tool that the worker serves), empty is none, else the named
    ones. ``model`` is ``provider:model``; None leaves the choice to the run or the worker's settings.
    """

    name: str = "assistant"
    description: str = ""
    prompt: str = ""
    model: str | None = None
    tools: tuple[str, ...] | None = None
    policy: tuple[ToolPolicy, ...] = ()
    limits: Limits = Limits()


class FrozenAgent(Record):
    """An agent as one run uses it from start to end, whatever happens to its file. ``digest`` is over all the rest."""

    name: str
    prompt: str = ""
    model: str
    tools: tuple[ToolSpec, ...] = ()
    scope: tuple[str, ...] | None = None
    policy: tuple[ToolPolicy, ...] = ()
    limits: Limits = Limits()
    workspace: str = "."
    digest: str = ""

    def tool(self, name: str) -> ToolSpec | None:
        """The declared tool of that name, or None."""
        return next((tool for tool in self.tools if tool.name == name), None)


DEFAULT_IDLE_TIMEOUT = timedelta(hours=24)
