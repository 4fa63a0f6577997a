"""From what an activity gave, or why it gave nothing, to the one outcome that the run makes of it.

The workflow and the projection of its history share these, so that both make the same of the same event.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from pydantic import ValidationError
from temporalio.exceptions import ApplicationError, CancelledError
from temporalio.exceptions import TimeoutError as ActivityTimeoutError

from perdure.brain.results import STOPPED, UNAVAILABLE, call_result, tool_result
from perdure.contracts.activities import Judgement, LiveText, ResolvedAgent
from perdure.contracts.agent import Humans
from perdure.contracts.approvals import CallVerdict, Verdict
from perdure.contracts.failures import bounded
from perdure.contracts.messages import AssistantMessage, CallPart, ReasoningPart, TextPart, ToolMessage
from perdure.contracts.outcomes import AgentRejected, AgentResolved, ModelFailure, ModelReply
from perdure.contracts.usage import Bill
from perdure.workflows.failures import failure_of, text_of, why_late

OUTCOME_UNKNOWN = "Nobody knows whether this took effect. {why} It was not run again. Check before you repeat it."


@dataclass(frozen=True, slots=True)
class Lost:
    """An activity gave nothing, and why: the cause of its `ActivityError`, or that its result cannot be read."""

    cause: BaseException | None


def checked(value: Any, kind: Any) -> Any:
    """``value``, or `Lost` when it is not of its kind: no payload at all reads as None, whatever was asked for."""
    return value if kind is Any or isinstance(value, kind) else unreadable(kind)


def unreadable(kind: Any) -> Lost:
    """A result that is not of its kind. What the converter said is left out: it quotes the value."""
    name = getattr(kind, "__name__", "value")
    return Lost(ValueError(f"The activity returned something that cannot be read as {name}."))


def agent_outcome(given: ResolvedAgent | Lost, at: datetime) -> AgentResolved | AgentRejected:
    """What became of the agent."""
    if isinstance(given, Lost):
        return AgentRejected(at=at, failure=failure_of(given.cause))
    return AgentResolved(at=at, agent=given.agent, rules_version=given.rules_version)


def model_outcome(
    message_id: str,
    model: str,
    given: AssistantMessage | Lost,
    at: datetime,
    *,
    stopping: bool,
    recalled: LiveText | None,
) -> ModelReply | ModelFailure:
    """What the model call that was to make ``message_id`` came to.

    A call that was told to stop (``stopping``) and returned nothing had written what its last heartbeat says: that of
    before the stop (``recalled``) when it waited for its next attempt, or that of a worker that died meanwhile.
    """
    if isinstance(given, Lost):
        if not (stopping or isinstance(given.cause, CancelledError)):
            failure = failure_of(given.cause)
            return ModelFailure(at=at, message_id=message_id, failure=failure, bill=_bill(given.cause))
        given = _partial(message_id, model, recalled or _last_words(given.cause))
    if given.message_id != message_id:
        failure = failure_of(ValueError(f"The model call for {message_id} returned the message {given.message_id}."))
        return ModelFailure(at=at, message_id=message_id, failure=failure)
    return ModelReply(at=at, message=given)


def _bill(cause: BaseException | None) -> Bill:
    """What the attempts of a model call took that ended so: its failure says it, or the last heartbeat."""
    if isinstance(cause, ApplicationError) and len(cause.details) > 1:
        try:
            return Bill.model_validate(cause.details[1])
        except ValidationError:
            return Bill()
    live = _last_words(cause)
    return Bill(usage=live.usage, cost=live.cost) if live else Bill()


def _last_words(cause: BaseException | None) -> LiveText | None:
    details = cause.last_heartbeat_details if isinstance(cause, ActivityTimeoutError) else ()
    try:
        return LiveText.model_validate(details[0]) if details else None
    except ValidationError:
        return None


def _partial(message_id: str, model: str, live: LiveText | None) -> AssistantMessage:
    """What is known of a message whose call was stopped before any attempt could return it."""
    if live is None:
        return AssistantMessage(message_id=message_id, parts=(), model=model, finish="interrupted")
    parts = (
        *((ReasoningPart(text=live.reasoning),) if live.reasoning else ()),
        *((TextPart(text=live.text),) if live.text else ()),
    )
    return AssistantMessage(
        message_id=message_id,
        parts=parts,
        model=live.model or model,
        finish="interrupted",
        usage=live.usage,
        cost=live.cost,
        attempt=live.attempt,
    )


def verdicts_of(call_ids: tuple[str, ...], humans: Humans, given: Judgement | Lost) -> tuple[CallVerdict, ...]:
    """One verdict for each call. A call that was not judged is not allowed: a human is asked, or it is denied.

    The ask is firm: no deadline may approve what nobody has looked at, and no approval of it be remembered.
    """
    why = failure_of(given.cause).message if isinstance(given, Lost) else "it gave no verdict"
    judged = {} if isinstance(given, Lost) else {verdict.call_id: verdict for verdict in given.verdicts}
    unjudged = Verdict(
        decision="ask" if humans == "available" else "deny",
        rule="error",
        reason=bounded(f"Authority could not judge this call: {why}"),
        firm=True,
    )
    return tuple(judged.get(call_id) or CallVerdict(call_id=call_id, verdict=unjudged) for call_id in call_ids)


def result_of(part: CallPart, given: Any) -> ToolMessage:
    """The one result of a call: of what its tool returned, or of `Lost`."""
    if not isinstance(given, Lost):
        return tool_result(part, given)
    cause = given.cause
    if isinstance(cause, CancelledError):
        return call_result(part, "interrupted", STOPPED)
    if isinstance(cause, ActivityTimeoutError):
        return call_result(part, "unknown", OUTCOME_UNKNOWN.format(why=why_late(cause.type)))
    if isinstance(cause, ApplicationError) and cause.type == "NotFoundError":
        return call_result(part, "unavailable", UNAVAILABLE)
    if isinstance(cause, ApplicationError) and cause.type == "WorkerShutdown":
        return call_result(part, "unknown", OUTCOME_UNKNOWN.format(why="Its worker was shut down."))
    return call_result(part, "error", bounded(f"The tool failed: {text_of(cause)}"))
