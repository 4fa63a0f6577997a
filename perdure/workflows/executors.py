"""The executors: how each instruction is carried out with Temporal's activities.

Every executor awaits exactly one activity and returns exactly one outcome. That keeps the order in which outcomes are
fed equal to the order of the events in the history, which the projection of a history relies on.
"""

from __future__ import annotations

import json
from datetime import timedelta
from typing import Any

from pydantic import ValidationError
from temporalio import workflow
from temporalio.common import RetryPolicy
from temporalio.exceptions import ActivityError
from temporalio.workflow import ActivityCancellationType, ActivityHandle

from perdure.contracts.activities import (
    AgentQuery,
    Judgement,
    JudgeRequest,
    ModelCall,
    Patience,
    ProposedCall,
    ResolvedAgent,
)
from perdure.contracts.approvals import CallVerdict, Verdict
from perdure.contracts.ids import idempotency_key, result_message_id
from perdure.contracts.instructions import AuthorizeCalls, CallModel
from perdure.contracts.messages import AssistantMessage, ToolMessage
from perdure.contracts.names import AUTHORIZE, CALL_MODEL, RESOLVE_AGENT
from perdure.contracts.outcomes import AgentRejected, AnyOutcome, CallsJudged, CallsSettled, ModelFailure, ModelReply
from perdure.contracts.state import Call, State
from perdure.contracts.tools import CallContext, ToolOutput, ToolSpec
from perdure.workflows.failures import failure_of, lost_result, result, was_stopped

LOCAL_DEADLINE = timedelta(seconds=10)
"""Of local activities: updates and queries of the run wait for them, so they do short work only."""

ARGUMENT_BYTES = 400 * 1024
"""Bytes of one call's arguments at most. More than 4 MB in one workflow task would end the run at once."""


def resolve_agent(state: State) -> ActivityHandle[ResolvedAgent]:
    """Start finding and freezing the run's agent."""
    request = state.request
    query = AgentQuery(
        run_id=state.run_id,
        agent=request.agent,
        model=request.model,
        limits=request.limits,
        workspace=request.workspace,
    )
    return workflow.start_local_activity(
        RESOLVE_AGENT,
        query,
        result_type=ResolvedAgent,
        start_to_close_timeout=LOCAL_DEADLINE,
        retry_policy=RetryPolicy(maximum_attempts=5),
    )


def rejected(error: ActivityError) -> AnyOutcome:
    """The outcome of an agent that could not be resolved."""
    return AgentRejected(at=workflow.now(), failure=failure_of(error))


def call_model(state: State, instruction: CallModel, patience: Patience) -> ActivityHandle[AssistantMessage]:
    """Start a model call. Its input holds references only: every message stands in the history once."""
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
    )
    step = f"turn {instruction.turn}, step {instruction.step}"
    return workflow.start_activity(
        CALL_MODEL,
        call,
        result_type=AssistantMessage,
        start_to_close_timeout=patience.model_call,
        heartbeat_timeout=patience.heartbeat,
        retry_policy=RetryPolicy(maximum_attempts=patience.model_attempts),
        cancellation_type=ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
        summary=f"{step}: {instruction.model}" + (" (last step)" if instruction.forced else ""),
    )


async def model_outcome(instruction: CallModel, handle: ActivityHandle[AssistantMessage]) -> AnyOutcome:
    """What the model call gave: its message, or why there is none."""
    try:
        message = await handle
    except ActivityError as error:
        if not was_stopped(error):
            return ModelFailure(at=workflow.now(), message_id=instruction.message_id, failure=failure_of(error))
        # Stopped before any attempt could return what it had.
        message = AssistantMessage(
            message_id=instruction.message_id, parts=(), model=instruction.model, finish="interrupted"
        )
    return ModelReply(at=workflow.now(), message=message)


def authorize(state: State, instruction: AuthorizeCalls) -> ActivityHandle[Judgement]:
    """Start judging calls. A local activity: its one marker is the recorded verdict, its input is not recorded."""
    assert state.agent is not None
    assert state.turn is not None
    named = tuple(call for call in state.turn.batch if call.call_id in instruction.call_ids)
    request = JudgeRequest(
        run_id=state.run_id,
        calls=tuple(ProposedCall(part=call.part, response=call.response) for call in named),
        tools=state.agent.tools,
        scope=state.agent.scope,
        policy=state.agent.policy,
        mode=state.request.mode,
        humans=state.request.humans,
        workspace=state.agent.workspace,
    )
    return workflow.start_local_activity(
        AUTHORIZE,
        request,
        result_type=Judgement,
        start_to_close_timeout=LOCAL_DEADLINE,
        retry_policy=RetryPolicy(maximum_attempts=5),
    )


async def judged_outcome(state: State, instruction: AuthorizeCalls, handle: ActivityHandle[Judgement]) -> AnyOutcome:
    """The verdicts. Where judging itself failed, nothing is allowed: a human is asked, or the call is denied."""
    try:
        verdicts = (await handle).verdicts
    except ActivityError as error:
        decision = "ask" if state.request.humans == "available" else "deny"
        reason = f"Authority could not judge this call: {failure_of(error).message}"
        verdict = Verdict.model_validate({"decision": decision, "rule": "error", "reason": reason})
        verdicts = tuple(CallVerdict(call_id=call_id, verdict=verdict) for call_id in instruction.call_ids)
    return CallsJudged(at=workflow.now(), verdicts=verdicts)


def call_tool(state: State, call: Call, spec: ToolSpec, patience: Patience) -> ActivityHandle[Any]:
    """Start the activity of a call. It carries a recorded allow; a tool that is not idempotent has one attempt."""
    assert state.agent is not None
    part = call.part
    context = CallContext(
        run_id=state.run_id,
        call_id=part.call_id,
        tool=spec.name,
        idempotency_key=idempotency_key(state.run_id, part.call_id),
        workspace=state.agent.workspace,
        agent=state.agent.name,
    )
    foreign = spec.task_queue is not None
    return workflow.start_activity(
        spec.name,
        args=[part.arguments or {}, context],
        task_queue=spec.task_queue,
        # The tool's own deadline ends it with a result; this bound is for a worker that hangs.
        start_to_close_timeout=spec.deadline + patience.heartbeat,
        heartbeat_timeout=None if foreign else patience.heartbeat,
        retry_policy=RetryPolicy(maximum_attempts=patience.tool_attempts if spec.idempotent else 1),
        cancellation_type=ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
        summary=f"{part.call_id}: {_glance(part.arguments_text)}",
    )


def too_large(call: Call) -> ToolMessage | None:
    """The result of a call whose arguments are too large to send, or None."""
    size = len(call.part.arguments_text.encode("utf-8", "surrogatepass"))
    if size <= ARGUMENT_BYTES:
        return None
    text = f"The arguments are too large: {size} bytes, at most {ARGUMENT_BYTES}. Send less, or in several calls."
    return result(call.part, "invalid", text)


async def tool_outcome(call: Call, handle: ActivityHandle[Any]) -> AnyOutcome:
    """The one result of a call."""
    try:
        message = _message(call, await handle)
    except ActivityError as error:
        message = lost_result(call.part, error)
    return CallsSettled(at=workflow.now(), results=(message,))


def _message(call: Call, returned: Any) -> ToolMessage:
    part = call.part
    try:
        output = ToolOutput.model_validate(returned)
    except ValidationError:
        # A foreign worker's result: any JSON.
        text = returned if isinstance(returned, str) else json.dumps(returned, ensure_ascii=False)
        output = ToolOutput(text=text, data=returned)
    return ToolMessage(
        message_id=result_message_id(part.call_id),
        call_id=part.call_id,
        tool=part.tool,
        status=output.status,
        text=output.text,
        data=output.data,
    )


def _glance(text: str) -> str:
    return text if len(text) <= 120 else text[:119] + "…"
