"""The whole state of a run: one serialisable value, from which the next instruction follows."""

from __future__ import annotations

from datetime import datetime
from typing import Literal

from pydantic import JsonValue

from perdure.contracts.agent import ApprovalRule, FrozenAgent
from perdure.contracts.approvals import ApprovalRequest, Grant, Question, Response, Verdict
from perdure.contracts.digests import START
from perdure.contracts.failures import Failure
from perdure.contracts.instructions import TurnEnd
from perdure.contracts.messages import CallPart, Message, ToolMessage, UserMessage
from perdure.contracts.record import Record
from perdure.contracts.requests import RunRequest
from perdure.contracts.usage import Cost, Usage

RunStatus = Literal[
    "running",
    "waiting_approval",
    "waiting_answer",
    "waiting_external",
    "waiting_budget",
    "idle",
    "completed",
    "failed",
    "canceled",
]

Stopping = Literal["interrupted", "withdrawn", "canceled"]
"""Why a turn was told to stop: ``withdrawn`` means that a message of it was taken back."""

CallStatus = Literal["proposed", "judging", "authorized", "waiting", "running", "settled"]

RULES_VERSION = 1
"""The rules by which new runs decide. It comes with the agent and stands in the history, so that a run keeps the rules
that it started with whatever release replays it."""


class Call(Record):
    """One call of the open batch.

    ``tool`` is the declared tool, once the name is resolved. ``round`` counts its judgings. ``approvals``
    are those that it has so far, ``response`` what was decided in the end, ``result`` its one result. ``edited``: a
    human changed its arguments.
    """

    part: CallPart
    tool: str
    status: CallStatus = "proposed"
    verdict: Verdict | None = None
    approval: ApprovalRule = ApprovalRule()
    digest: str = ""
    round: int = 0
    approvals: tuple[Response, ...] = ()
    edited: bool = False
    response: Response | None = None
    result: ToolMessage | None = None

    @property
    def call_id(self) -> str:
        return self.part.call_id


class Turn(Record):
    """The turn that is running.

    ``first_message`` is the transcript index of its first message, ``requests_opened`` counts the approval requests
    about the open batch. ``last_batch`` is the digest of the last batch's calls and results, ``repeats`` how often it
    came in a row. ``stopping`` is set once the turn was told to stop.
    """

    number: int
    step: int = 1
    first_message: int = 0
    model_call: str | None = None
    forced: bool = False
    batch: tuple[Call, ...] = ()
    requests_opened: int = 0
    feedback_rounds: int = 0
    last_batch: str = ""
    repeats: int = 0
    output_rounds: int = 0
    output_problem: str = ""
    stopping: Stopping | None = None
    usage: Usage = Usage()
    cost: Cost = Cost()

    def call(self, call_id: str) -> Call | None:
        """The call of the open batch with that id, or None."""
        return next((call for call in self.batch if call.call_id == call_id), None)

    @property
    def open_calls(self) -> tuple[Call, ...]:
        """The calls of the batch that have no result yet."""
        return tuple(call for call in self.batch if call.status != "settled")


class TurnSummary(Record):
    """How a turn ended. ``output`` is its last assistant text, ``data`` the object in it where a schema was given."""

    number: int
    end: TurnEnd
    steps: int
    output: str = ""
    data: JsonValue = None
    failure: Failure | None = None
    usage: Usage = Usage()
    cost: Cost = Cost()


class State(Record):
    """A run. ``messages`` is the transcript, ``digest`` its digest; ``inbox`` holds messages that wait for delivery."""

    rules_version: int = 1
    run_id: str
    request: RunRequest
    status: RunStatus = "running"
    agent: FrozenAgent | None = None
    turn: Turn | None = None
    turns: int = 0
    steps: int = 0
    last_turn: TurnSummary | None = None
    messages: tuple[Message, ...] = ()
    digest: str = START
    inbox: tuple[UserMessage, ...] = ()
    received: int = 0
    client_keys: tuple[str, ...] = ()
    requests: tuple[ApprovalRequest, ...] = ()
    questions: tuple[Question, ...] = ()
    grants: tuple[Grant, ...] = ()
    grants_made: int = 0
    closing: bool = False
    idle_since: datetime | None = None
    usage: Usage = Usage()
    cost: Cost = Cost()
    failure: Failure | None = None

    @property
    def revision(self) -> int:
        """How many messages the transcript holds."""
        return len(self.messages)


class RunOutput(Record):
    """What a run returns: the output of its last turn and what it all took. ``data`` is the output as an object."""

    run_id: str
    status: RunStatus
    end: TurnEnd | None = None
    output: str = ""
    data: JsonValue = None
    turns: int = 0
    steps: int = 0
    usage: Usage = Usage()
    cost: Cost = Cost()


class RunSummary(Record):
    """A run at a glance (query ``summary``)."""

    run_id: str
    status: RunStatus
    agent: str = ""
    model: str = ""
    turn: int = 0
    step: int = 0
    revision: int = 0
    queued: int = 0
    waiting_calls: tuple[str, ...] = ()
    last_turn: TurnSummary | None = None
    usage: Usage = Usage()
    cost: Cost = Cost()
    metadata: dict[str, JsonValue] = {}


class TranscriptPage(Record):
    """Some messages of the transcript (query ``transcript``), bounded in bytes.

    ``messages`` start at index ``start``; ``revision`` is the number of messages there are in all and ``digest`` the
    digest of them all. ``agent`` comes with the page that starts at 0.
    """

    run_id: str
    start: int
    revision: int
    digest: str
    messages: tuple[Message, ...] = ()
    agent: FrozenAgent | None = None
