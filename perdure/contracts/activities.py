"""The activities of a run: their names, inputs and results, shared by the workflow that schedules and the worker."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Literal

from pydantic import JsonValue

from perdure.contracts.agent import AgentSpec, FrozenAgent, GivenLimits, Humans, Mode, Purpose, ToolPolicy
from perdure.contracts.approvals import ApprovalRequest, CallVerdict, Grant, Question, Response
from perdure.contracts.failures import Failure
from perdure.contracts.messages import CallPart
from perdure.contracts.record import Record
from perdure.contracts.tools import ToolSpec
from perdure.contracts.usage import Cost, Usage


class AgentQuery(Record):
    """Input of ``resolve_agent``: which agent, and what the start request lays over it."""

    run_id: str
    agent: str | AgentSpec
    model: str | None = None
    fallbacks: tuple[str, ...] | None = None
    models: dict[Purpose, str] = {}
    limits: GivenLimits | None = None
    output: dict[str, JsonValue] | None = None
    workspace: str | None = None


class Patience(Record):
    """How long the workflow waits for its activities. Chosen by the worker's settings, frozen at the run's start.

    ``heartbeat`` is the time without a sign of life after which a worker counts as dead. ``model_attempts`` bounds
    the attempts of a model call at each of its models, ``tool_attempts`` those of an idempotent tool; others get one.
    """

    heartbeat: timedelta = timedelta(seconds=30)
    model_call: timedelta = timedelta(hours=1)
    model_attempts: int = 8
    tool_attempts: int = 3


class ResolvedAgent(Record):
    """Result of ``resolve_agent``. ``search_attributes``: whether the server knows ours; an unknown one hangs a run.

    ``notifications``: whether the worker has somebody to notify. ``rules_version``: by which rules the run decides.
    """

    agent: FrozenAgent
    rules_version: int = 1
    search_attributes: bool = False
    notifications: bool = False
    patience: Patience = Patience()


class ModelCall(Record):
    """Input of ``call_model``: references only, so that every message stands in the history once.

    ``fallbacks`` are asked, in order, when ``model`` cannot answer; each model is asked ``tries`` times at most.
    ``deadline`` bounds one attempt.
    """

    run_id: str
    execution_id: str
    message_id: str
    turn: int
    step: int
    model: str
    revision: int
    digest: str
    forced: bool = False
    nudged: bool = False
    problem: str = ""
    fallbacks: tuple[str, ...] = ()
    tries: int = Patience().model_attempts
    deadline: timedelta | None = None
    agent: str = ""
    user: str = ""


class LiveText(Record):
    """Heartbeat details of ``call_model``: what has come so far of ``message_id``.

    Beyond a window of 64 KiB (reasoning: 48 KiB) the oldest text leaves: ``text`` then starts at ``text_offset``
    (characters). ``usage`` and ``cost`` are what all attempts of the call have taken so far.

    ``model`` writes it and was asked ``tries`` times, this one included. ``given_up`` says of each model that is not
    asked any more, in their order, why.
    """

    message_id: str
    attempt: int
    text: str = ""
    text_offset: int = 0
    reasoning: str = ""
    reasoning_offset: int = 0
    usage: Usage = Usage()
    cost: Cost = Cost()
    model: str = ""
    tries: int = 0
    given_up: tuple[Failure, ...] = ()


class Recalled(Record):
    """Result of ``recall``: the last heartbeat of a model call that waits for its next attempt, if there is one."""

    live: LiveText | None = None


class ProposedCall(Record):
    """A call to judge, with what a human said of it, if anything. ``round`` comes back with the verdict.

    ``approvers`` are all who approved it with its present arguments; ``response`` is what the last of them said.
    """

    part: CallPart
    response: Response | None = None
    approvers: tuple[str, ...] = ()
    round: int = 0


class JudgeRequest(Record):
    """Input of ``authorize`` (a local activity: its input is not in the history).

    ``grants`` are the run's own; those of its agent and its user the activity looks up. ``at`` is the time by which
    grants expire.
    """

    run_id: str
    calls: tuple[ProposedCall, ...]
    tools: tuple[ToolSpec, ...]
    scope: tuple[str, ...] | None = None
    policy: tuple[ToolPolicy, ...] = ()
    house_policy: tuple[ToolPolicy, ...] = ()
    grants: tuple[Grant, ...] = ()
    at: datetime | None = None
    agent: str = ""
    user: str = ""
    mode: Mode = "manual"
    humans: Humans = "available"
    workspace: str = "."


class Judgement(Record):
    """Result of ``authorize``."""

    verdicts: tuple[CallVerdict, ...]


class Notification(Record):
    """Input of ``notify``: people have something to do, soon have to, or need not any more.

    ``key`` is equal for every attempt, so that a receiver can tell a repetition.
    """

    key: str
    stage: Literal["opened", "due", "closed"]
    run_id: str
    agent: str = ""
    user: str = ""
    request: ApprovalRequest | None = None
    question: Question | None = None
