"""What starts a run, and what people send to one that is running. Each is plain JSON for any Temporal client."""

from __future__ import annotations

from datetime import timedelta
from typing import Annotated, Literal

from pydantic import BeforeValidator, Field, JsonValue, StrictBool

from perdure.contracts.agent import AgentSpec, ArgumentRule, GivenLimits, Humans, Mode, Purpose
from perdure.contracts.approvals import GrantLevel
from perdure.contracts.durations import Span
from perdure.contracts.messages import UserPart
from perdure.contracts.record import Record
from perdure.contracts.written import Written

DEFAULT_IDLE_TIMEOUT = timedelta(hours=24)


def _no_type(output: object) -> object:
    if isinstance(output, type):
        raise ValueError("this is a JSON Schema; a type goes into Client.start(…, output=…)")
    return output


class RunRequest(Written):
    """The one input of the workflow ``AgentRun``; only ``message`` is required.

    ``agent`` is the name of an agent that the worker knows, or a whole agent inline. A run with ``conversation`` rests
    after each turn and takes further messages until it is closed or ``idle_timeout`` passes; without, it ends with its
    first turn. ``model``, ``fallbacks`` and ``models`` count before the agent's own; see `AgentSpec`. ``output`` is the
    JSON Schema that each turn's output must fit, in place of the agent's. ``workspace`` is the folder that file tools
    work in, as seen by the worker; None is the worker's own. ``user`` is who the run is for: approvals and grants may
    depend on it. ``trigger`` and ``metadata`` are the starter's own words and change nothing.
    """

    message: str = Field(min_length=1)
    attachments: tuple[UserPart, ...] = ()
    agent: str | AgentSpec = "assistant"
    model: str | None = None
    fallbacks: tuple[str, ...] | None = None
    models: dict[Purpose, str] = {}
    limits: GivenLimits | None = None
    output: Annotated[dict[str, JsonValue] | None, BeforeValidator(_no_type)] = None
    mode: Mode = "manual"
    humans: Humans = "available"
    conversation: bool = False
    idle_timeout: Span = DEFAULT_IDLE_TIMEOUT
    workspace: str | None = None
    user: str = ""
    trigger: str = ""
    metadata: dict[str, JsonValue] = {}


class Send(Written):
    """A further message. ``client_key`` is the sender's own key: the same key twice is one message. ``reply_to`` names
    a message of the run that this one answers."""

    kind: Literal["send"] = "send"
    message: str = Field(min_length=1)
    attachments: tuple[UserPart, ...] = ()
    client_key: str = ""
    reply_to: str = ""
    actor: str = ""


class Edit(Written):
    """Change a message that waits for delivery."""

    kind: Literal["edit"] = "edit"
    message_id: str
    message: str = Field(min_length=1)
    actor: str = ""


class Withdraw(Written):
    """Take back a message. One that waits is never delivered; one of the turn that runs ends the turn before its next
    model call."""

    kind: Literal["withdraw"] = "withdraw"
    message_id: str
    reason: str = ""
    actor: str = ""


class Remember(Written):
    """Remember an approval as a grant for further calls of the same tool.

    ``when`` says which; None means the very same arguments, empty means any. ``expires_in`` None: until revoked.
    """

    level: GrantLevel = "run"
    when: tuple[ArgumentRule, ...] | None = None
    expires_in: Span | None = None
    children: StrictBool = False


class Approve(Written):
    """Let waiting calls run: ``call_id`` names one, ``call_ids`` some, ``request_id`` all of a request, ``all`` all.

    One of these must be given: what names no call might come late, and approve whatever waits by then. ``digest``, when
    given, must be the recorded arguments' digest.

    ``arguments`` replace those of the one call that is named: what its tool does not take is refused, and the edited
    call is judged again before it runs.
    ``remember`` makes a grant of the approval.
    """

    kind: Literal["approve"] = "approve"
    call_id: str = ""
    call_ids: tuple[str, ...] = ()
    request_id: str = ""
    all: StrictBool = False
    digest: str = ""
    arguments: dict[str, JsonValue] | None = None
    remember: Remember | None = None
    reason: str = ""
    actor: str = ""


class Deny(Written):
    """Refuse waiting calls, named as in `Approve`. The model is told ``reason``."""

    kind: Literal["deny"] = "deny"
    call_id: str = ""
    call_ids: tuple[str, ...] = ()
    request_id: str = ""
    all: StrictBool = False
    digest: str = ""
    reason: str = ""
    actor: str = ""


class Answer(Written):
    """Answer the question of the call ``call_id``; without it the only open question is meant, whichever that is by the
    time when the answer comes.

    A list is for a question that takes several options.
    """

    kind: Literal["answer"] = "answer"
    answer: str | tuple[str, ...]
    call_id: str = ""
    actor: str = ""


class Interrupt(Written):
    """Stop the turn that is running. ``turn``, when given, must be that turn's number: a stale one is harmless."""

    kind: Literal["interrupt"] = "interrupt"
    turn: int | None = None
    reason: str = ""
    actor: str = ""


class Close(Written):
    """End the run after the turn that is running, or at once when it rests."""

    kind: Literal["close"] = "close"
    reason: str = ""
    actor: str = ""


class Revoke(Written):
    """Take a grant of this run back: later calls ask again."""

    kind: Literal["revoke"] = "revoke"
    grant_id: str
    reason: str = ""
    actor: str = ""


class Cancel(Record):
    """Temporal's own cancel: end the run now. It is asked of the server, not told to the run.

    Temporal records one text with it, which holds both fields: ``str(cancel)``, read by `parse`.
    """

    kind: Literal["cancel"] = "cancel"
    reason: str = ""
    actor: str = ""

    def __str__(self) -> str:
        return f"{self.reason} (by {self.actor})".lstrip() if self.actor else self.reason

    @classmethod
    def parse(cls, text: str) -> Cancel:
        """Read what ``str(cancel)`` wrote; any other text is a reason."""
        reason, named, actor = text.rpartition("(by ")
        if not named or not actor.endswith(")"):
            return cls(reason=text)
        return cls(reason=reason.rstrip(), actor=actor.removesuffix(")"))


Order = Annotated[
    Send | Edit | Withdraw | Approve | Deny | Answer | Revoke | Interrupt | Close, Field(discriminator="kind")
]
"""All that people may tell a running run."""


class Receipt(Record):
    """What an update answers: whether the run took it, the ids that it touched, and why not when it did not."""

    accepted: bool
    ids: tuple[str, ...] = ()
    reason: str = ""
