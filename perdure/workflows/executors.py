"""The executors: how each instruction is carried out with Temporal's activities.

Every executor awaits exactly one activity and returns exactly one outcome. That keeps the order in which outcomes are
fed equal to the order of the events in the history, which the projection of a history relies on. An activity's id is
the id of the message or the calls that it is about: the projection, and whoever looks at the UI, finds it by that.
"""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from temporalio import workflow
from temporalio.common import RawValue, RetryPolicy
from temporalio.exceptions import ActivityError
from temporalio.workflow import ActivityCancellationType, ActivityHandle

from perdure.brain.inputs import agent_query, call_context, judge_request
from perdure.contracts.activities import LiveText, ModelCall, Notification, Patience, Recalled, ResolvedAgent
from perdure.contracts.approvals import Grant
from perdure.contracts.instructions import AuthorizeCalls, CallModel
from perdure.contracts.names import AUTHORIZE, CALL_MODEL, NOTIFY, RECALL, REMEMBER_GRANT, RESOLVE_AGENT
from perdure.contracts.outcomes import AnyOutcome, CallsSettled
from perdure.contracts.state import Call, State
from perdure.contracts.tools import ToolSpec
from perdure.workflows.given import Lost, checked, result_of, unreadable

LOCAL_DEADLINE = timedelta(seconds=10)
"""Of local activities: updates and queries of the run wait for them, so they do short work only."""

NOTIFY_DEADLINE = timedelta(seconds=30)
NOTIFY_ATTEMPTS = 25
"""With the back-off of activities about ten minutes: a receiver is restarted, or put in order, in less."""


async def resolve_agent(state: State) -> ResolvedAgent | Lost:
    """Find and freeze the run's agent."""
    handle = workflow.start_local_activity(
        RESOLVE_AGENT,
        agent_query(state),
        result_type=RawValue,
        start_to_close_timeout=LOCAL_DEADLINE,
        retry_policy=RetryPolicy(maximum_attempts=5),
    )
    given: ResolvedAgent | Lost = await awaited(handle, ResolvedAgent)
    return given


def call_model(state: State, instruction: CallModel, patience: Patience) -> ActivityHandle[RawValue]:
    """Start a model call. Its input holds references only: every message stands in the history once."""
    assert state.agent is not None
    call = ModelCall(
        run_id=state.run_id,
        execution_id=workflow.info().run_id,
        message_id=instruction.message_id,
        turn=instruction.turn,
        step=instruction.step,
        model=instruction.model,
        revision=instruction.revision,
        digest=instruction.digest,
        forced=instruction.forced,
        nudged=instruction.nudged,
        problem=instruction.problem,
        fallbacks=state.agent.fallbacks,
        tries=patience.model_attempts,
        deadline=patience.model_call,
        agent=state.agent.name,
        user=state.request.user,
    )
    step = f"turn {instruction.turn}, step {instruction.step}"
    return workflow.start_activity(
        CALL_MODEL,
        call,
        activity_id=instruction.message_id,
        result_type=RawValue,
        # The attempt's own deadline ends it with a failure that says so; this bound is for a worker that hangs.
        start_to_close_timeout=patience.model_call + patience.heartbeat,
        heartbeat_timeout=patience.heartbeat,
        retry_policy=RetryPolicy(maximum_attempts=patience.model_attempts * (1 + len(call.fallbacks))),
        cancellation_type=ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
        summary=f"{step}: {instruction.model}" + (" (last step)" if instruction.forced else ""),
    )


async def recall(message_id: str) -> LiveText | None:
    """What a model call has written that waits for its next attempt; None when it runs, or nobody knows."""
    handle = workflow.start_local_activity(
        RECALL,
        message_id,
        activity_id=f"recall {message_id}",
        result_type=RawValue,
        start_to_close_timeout=LOCAL_DEADLINE,
        retry_policy=RetryPolicy(maximum_attempts=2),
    )
    given: Recalled | Lost = await awaited(handle, Recalled)
    return given.live if isinstance(given, Recalled) else None


def authorize(state: State, instruction: AuthorizeCalls) -> ActivityHandle[RawValue]:
    """Start judging calls. A local activity: its one marker is the recorded verdict, its input is not recorded."""
    return workflow.start_local_activity(
        AUTHORIZE,
        judge_request(state, instruction.call_ids, workflow.now()),
        activity_id=_judging_id(state, instruction),
        result_type=RawValue,
        start_to_close_timeout=LOCAL_DEADLINE,
        retry_policy=RetryPolicy(maximum_attempts=5),
        summary=_judged_calls(state, instruction),
    )


def _judging_id(state: State, instruction: AuthorizeCalls) -> str:
    """The calls, and a number that tells two judgings of the same calls apart."""
    assert state.turn is not None
    rounds = [call.round for call in state.turn.batch if call.call_id in instruction.call_ids]
    return f"{','.join(instruction.call_ids)}#{max(rounds, default=0) + 1}"


def _judged_calls(state: State, instruction: AuthorizeCalls) -> str:
    assert state.turn is not None
    judged = [call for call in state.turn.batch if call.call_id in instruction.call_ids]
    return _glance(", ".join(f"{call.call_id} {call.part.tool}" for call in judged))


def call_tool(state: State, call: Call, spec: ToolSpec, patience: Patience) -> ActivityHandle[RawValue]:
    """Start the activity of a call. It carries a recorded allow; a tool that is not idempotent has one attempt."""
    part = call.part
    foreign = spec.task_queue is not None
    return workflow.start_activity(
        spec.name,
        args=[part.arguments or {}, call_context(state, call)],
        activity_id=part.call_id,
        result_type=RawValue,
        task_queue=spec.task_queue,
        # The tool's own deadline ends it with a result; this bound is for a worker that hangs.
        start_to_close_timeout=spec.deadline + patience.heartbeat,
        heartbeat_timeout=None if foreign else patience.heartbeat,
        retry_policy=RetryPolicy(maximum_attempts=patience.tool_attempts if spec.idempotent else 1),
        cancellation_type=ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
        summary=f"{part.call_id}: {_glance(part.arguments_text)}",
    )


async def tool_outcome(call: Call, handle: ActivityHandle[RawValue]) -> AnyOutcome:
    """The one result of a call."""
    given = await awaited(handle, Any)
    return CallsSettled(at=workflow.now(), results=(result_of(call.part, given),))


async def notify(notification: Notification) -> None:
    """Tell whoever is to be told. The run never fails because nobody could be reached."""
    handle = workflow.start_activity(
        NOTIFY,
        notification,
        activity_id=f"notify {notification.key.partition('/')[2]}",
        result_type=RawValue,
        start_to_close_timeout=NOTIFY_DEADLINE,
        retry_policy=RetryPolicy(maximum_attempts=NOTIFY_ATTEMPTS),
        summary=f"{notification.stage}: {notification.key.split('/')[-2]}",
    )
    await awaited(handle, Any)


async def remember_grant(grant: Grant) -> None:
    """Keep a grant for other runs. This run has it in any case."""
    handle = workflow.start_activity(
        REMEMBER_GRANT,
        grant,
        activity_id=f"remember {grant.grant_id}",
        result_type=RawValue,
        start_to_close_timeout=NOTIFY_DEADLINE,
        retry_policy=RetryPolicy(maximum_attempts=5),
        summary=f"{grant.tool} for {grant.level} {grant.subject}",
    )
    await awaited(handle, Any)


def _glance(text: str) -> str:
    return text if len(text) <= 120 else text[:119] + "…"


async def awaited(handle: ActivityHandle[RawValue], kind: Any) -> Any:
    """What an activity gave, read as ``kind``; `Lost` when there is nothing to read.

    Read here and not by the SDK: a result that the SDK cannot read fails the workflow task for ever.
    """
    try:
        raw = await handle
    except ActivityError as error:
        return Lost(error.cause)
    try:
        return checked(workflow.payload_converter().from_payload(raw.payload, kind), kind)
    except Exception:  # noqa: BLE001 - whatever a converter raises: the text is left out, nobody has vouched for it
        return unreadable(kind)
