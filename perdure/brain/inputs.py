"""What work is given, from the state: the same for an activity of a real run and for the engine in process."""

from __future__ import annotations

from datetime import datetime

from perdure.contracts.activities import AgentQuery, JudgeRequest, Notification, ProposedCall
from perdure.contracts.approvals import ApprovalRequest, Question
from perdure.contracts.ids import idempotency_key
from perdure.contracts.instructions import AskHumans
from perdure.contracts.state import Call, State
from perdure.contracts.tools import CallContext


def agent_query(state: State) -> AgentQuery:
    """Which agent the run asks for, and what its start request lays over it."""
    request = state.request
    return AgentQuery(
        run_id=state.run_id,
        agent=request.agent,
        model=request.model,
        fallbacks=request.fallbacks,
        models=request.models,
        limits=request.limits,
        output=request.output,
        workspace=request.workspace,
    )


def judge_request(state: State, call_ids: tuple[str, ...], at: datetime) -> JudgeRequest:
    """What authority must know to judge these calls of the open batch."""
    assert state.agent is not None
    assert state.turn is not None
    return JudgeRequest(
        run_id=state.run_id,
        calls=tuple(
            ProposedCall(
                part=call.part,
                response=call.response,
                approvers=tuple(approval.actor for approval in call.approvals),
                round=_judging_round(call),
            )
            for call in state.turn.batch
            if call.call_id in call_ids
        ),
        tools=state.agent.tools,
        scope=state.agent.scope,
        policy=state.agent.policy,
        house_policy=state.agent.house_policy,
        grants=state.grants,
        at=at,
        agent=state.agent.name,
        user=state.request.user,
        mode=state.request.mode,
        humans=state.request.humans,
        workspace=state.agent.workspace,
    )


def _judging_round(call: Call) -> int:
    """The round that a verdict must name. A call that is judged already is so in an execution that handed over."""
    return call.round if call.status == "judging" else call.round + 1


def call_context(state: State, call: Call) -> CallContext:
    """What the tool of a call is told beside its arguments."""
    assert state.agent is not None
    return CallContext(
        run_id=state.run_id,
        call_id=call.call_id,
        tool=call.tool,
        idempotency_key=idempotency_key(state.run_id, call.call_id),
        workspace=state.agent.workspace,
        agent=state.agent.name,
    )


def notifications(state: State, instruction: AskHumans) -> tuple[Notification, ...]:
    """What is to be told about each request and question of the instruction; the key is the same in every replay."""
    about: list[tuple[str, ApprovalRequest | None, Question | None]] = [
        *((request.request_id, request, None) for request in instruction.requests),
        *((question.question_id, None, question) for question in instruction.questions),
    ]
    return tuple(
        Notification(
            key=f"{state.run_id}/{item_id}/{instruction.stage}",
            stage=instruction.stage,
            run_id=state.run_id,
            agent=state.agent.name if state.agent else "",
            user=state.request.user,
            request=request,
            question=question,
        )
        for item_id, request, question in about
    )
