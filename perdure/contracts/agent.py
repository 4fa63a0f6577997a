"""An agent: as its author writes it, and as a run freezes it."""

from __future__ import annotations

from datetime import timedelta
from typing import Annotated, ClassVar, Literal

from pydantic import Field, JsonValue, PlainSerializer

from perdure.contracts.record import Record
from perdure.contracts.tools import HostedTool, ToolSpec
from perdure.contracts.written import Written

Decision = Literal["allow", "ask", "deny"]
"""What authority says of a call."""

PolicyWord = Literal["allow", "ask", "always_ask", "deny"]
"""What a tool policy may say. ``always_ask`` cannot be lifted by a grant or a mode."""

Mode = Literal["manual", "auto"]
"""``manual``: what is not cleared by effect or policy asks. ``auto``: what would ask runs, but for always_ask and
safety rules."""

Humans = Literal["available", "none"]
"""Whether anybody can be asked. With ``none`` nothing waits: what would ask is denied and the model is told."""


Match = Literal["exact", "prefix", "wildcard", "regex"]
"""How an argument rule compares: the whole value, its beginning, ``*`` and ``?`` over the whole value, or a regular
expression that must match the whole value."""


class ArgumentRule(Written):
    """One argument's value must match. A value that is no text is compared as its JSON."""

    argument: str
    match: Match = "exact"
    value: str


class ApprovalRule(Written):
    """Who may approve, and how many must.

    ``approvers`` names them; empty means anybody. With ``not_starter`` whoever started the run may not. ``needed``
    different people must approve before the call runs; one denial is enough to deny it.
    """

    approvers: tuple[str, ...] = ()
    not_starter: bool = False
    needed: int = Field(default=1, ge=1)


class ToolPolicy(Written):
    """One rule of a policy. The rules of a tool are read in order and the first that matches counts; none: ask.

    ``tool`` is a name, or a pattern with ``*``. ``when`` must all match. ``word`` says what holds then, unless
    ``resolver`` names a function of the worker that says it for each call. ``approval`` says who may approve.
    """

    tool: str
    word: PolicyWord = "ask"
    when: tuple[ArgumentRule, ...] = ()
    resolver: str = ""
    approval: ApprovalRule | None = None


class Waiting(Written):
    """How long a run waits for people, and what holds when nobody came: ``deny`` or ``approve``.

    ``approve`` at the deadline lifts no safety rule and no always_ask. ``remind`` is how long before the deadline
    people are reminded. None waits for ever.
    """

    deadline: timedelta | None = None
    default: Literal["deny", "approve"] = "deny"
    remind: timedelta | None = None


Purpose = Literal["compression", "subagent"]
"""What a run may use another model for than its own: shortening its transcript, and agents that it starts and that name
no model."""


class Limits(Written):
    """Bounds of one turn.

    With ``steps`` = N, step N is the forced last one: no tools, with guidance to answer. ``feedback_rounds`` bounds the
    steps in a row that call unknown tools or give bad arguments. ``repeats`` bounds the steps in a row that make the
    same calls and get the same results: then the model is told, and after as many more the turn ends. ``concurrency``
    bounds the calls that run at once.
    """

    given_counts: ClassVar[bool] = True

    steps: int = Field(default=50, ge=1)
    feedback_rounds: int = Field(default=3, ge=0)
    repeats: int = Field(default=3, ge=2)
    concurrency: int = Field(default=8, ge=1)


def _given(limits: Limits) -> dict[str, int]:
    return limits.model_dump(exclude_unset=True)


GivenLimits = Annotated[Limits, PlainSerializer(_given)]
"""Limits of which only those count that were given: the rest is the worker's or the agent's. JSON keeps them apart."""


class AgentSpec(Written):
    """An agent as its author gives it: by file or inline.

    ``tools`` is the scope: None is unrestricted (every tool that the worker serves), empty is none, else the named
    ones. ``model`` is ``provider:model``; None leaves the choice to the run or the worker's settings. ``fallbacks`` are
    asked, in order, when that model cannot answer; None leaves them to the worker's settings, empty is none. ``models``
    are those for other purposes. ``output`` is the JSON Schema that a turn's output must fit; None is free text.
    ``hosted`` are tools that the provider runs by itself.
    """

    name: str = "assistant"
    description: str = ""
    prompt: str = ""
    model: str | None = None
    fallbacks: tuple[str, ...] | None = None
    models: dict[Purpose, str] = {}
    tools: tuple[str, ...] | None = None
    hosted: tuple[HostedTool, ...] = ()
    policy: tuple[ToolPolicy, ...] = ()
    waiting: Waiting = Waiting()
    limits: GivenLimits = Limits()
    output: dict[str, JsonValue] | None = None


class FrozenAgent(Record):
    """An agent as one run uses it from start to end, whatever happens to its file. ``digest`` is over all the rest.

    ``house_policy`` is the worker's own; of it and the agent's ``policy`` the stricter counts. ``fallbacks`` are asked,
    in order, when ``model`` cannot answer. ``models`` are those for other purposes, by purpose.
    """

    name: str
    prompt: str = ""
    model: str
    fallbacks: tuple[str, ...] = ()
    models: dict[str, str] = {}
    tools: tuple[ToolSpec, ...] = ()
    hosted: tuple[HostedTool, ...] = ()
    scope: tuple[str, ...] | None = None
    policy: tuple[ToolPolicy, ...] = ()
    house_policy: tuple[ToolPolicy, ...] = ()
    waiting: Waiting = Waiting()
    limits: Limits = Limits()
    output: dict[str, JsonValue] | None = None
    workspace: str = "."
    digest: str = ""

    def tool(self, name: str) -> ToolSpec | None:
        """The declared tool of that name, or None."""
        return next((tool for tool in self.tools if tool.name == name), None)

    def model_for(self, purpose: Purpose) -> str:
        """The model for that purpose: the run's own where none is named."""
        return self.models.get(purpose, self.model)
