"""The calls of a batch: proposed -> judging -> authorized -> (waiting) -> running -> settled, each exactly once."""

from __future__ import annotations

from datetime import datetime
from typing import assert_never

from perdure.contracts.approvals import ApprovalRequest, CallVerdict, Question, RequestedCall, Response
from perdure.contracts.ids import question_id, request_id
from perdure.contracts.messages import AssistantMessage, ToolMessage
from perdure.contracts.outcomes import CallsJudged
from perdure.contracts.phases import CallsAuthorized, HumanResponded, Phase, Unchanged
from perdure.contracts.requests import Answer, Approve, Deny
from perdure.contracts.state import Call, State


def open_batch(message: AssistantMessage) -> tuple[Call, ...]:
    """The calls of a reply, all proposed."""
    return tuple(Call(part=part, tool=part.tool) for part in message.calls)


def judged(state: State, outcome: CallsJudged) -> tuple[State, Phase]:
    """Record verdicts: allowed calls may start, asking ones wait for a human, denied ones are to be settled."""
    verdicts = {verdict.call_id: verdict for verdict in outcome.verdicts}
    if state.turn is None:
        return state, Unchanged(reason="No turn is running.")
    asking: list[Call] = []
    questions: list[Question] = []
    denied: list[str] = []
    batch: list[Call] = []
    for call in state.turn.batch:
        verdict = verdicts.get(call.call_id)
        if verdict is None or call.status != "judging":
            batch.append(call)
            continue
        call = _with_verdict(call, verdict)
        match verdict.verdict.decision:
            case "allow" if _is_question(state, call):
                call = call.model_copy(update={"status": "waiting"})
                questions.append(_question(call, outcome.at))
            case "allow":
                call = call.model_copy(update={"status": "authorized"})
            case "ask":
                call = call.model_copy(update={"status": "waiting", "response": None})
                asking.append(call)
            case "deny":
                call = call.model_copy(update={"status": "proposed"})
                denied.append(call.call_id)
            case _:
                assert_never(verdict.verdict.decision)
        batch.append(call)
    version = state.turn.requests_opened + 1
    request = _request(asking, version, outcome.at)
    opened = version if request else state.turn.requests_opened
    state = state.model_copy(
        update={
            "turn": state.turn.model_copy(update={"batch": tuple(batch), "requests_opened": opened}),
            "requests": (*state.requests, request) if request else state.requests,
            "questions": (*state.questions, *questions),
        }
    )
    return state, CallsAuthorized(
        denied=tuple(denied),
        request_id=request.request_id if request else None,
        questions=tuple(question.question_id for question in questions),
    )


def responded(
    state: State, order: Approve | Deny | Answer, calls: tuple[Call, ...], at: datetime
) -> tuple[State, Phase]:
    """Record what a human said of waiting calls. They wait no longer: an approved one is judged again."""
    assert state.turn is not None
    match order:
        case Approve():
            decision, text = "approve", order.reason
        case Deny():
            decision, text = "deny", order.reason
        case Answer():
            decision, text = "answer", order.answer
        case _:
            assert_never(order)
    named = {call.call_id for call in calls}
    batch = tuple(
        call.model_copy(
            update={
                "status": "proposed",
                "response": Response.model_validate(
                    {
                        "call_id": call.call_id,
                        "decision": decision,
                        "text": text,
                        "actor": order.actor,
                        "digest": call.digest,
                        "at": at,
                    }
                ),
            }
        )
        if call.call_id in named
        else call
        for call in state.turn.batch
    )
    state = state.model_copy(update={"turn": state.turn.model_copy(update={"batch": batch})})
    return _drop_closed(state), HumanResponded(call_ids=tuple(call.call_id for call in calls))


def settled(state: State, results: tuple[ToolMessage, ...]) -> tuple[State, tuple[str, ...]]:
    """Give calls their results; a call that has one keeps it. Also the ids of the calls that settled just now."""
    if state.turn is None:
        return state, ()
    by_call = {result.call_id: result for result in results}
    fresh = tuple(call.call_id for call in state.turn.open_calls if call.call_id in by_call)
    batch = tuple(
        call.model_copy(update={"status": "settled", "result": by_call[call.call_id]})
        if call.call_id in fresh
        else call
        for call in state.turn.batch
    )
    state = state.model_copy(update={"turn": state.turn.model_copy(update={"batch": batch})})
    return _drop_closed(state), fresh


def _with_verdict(call: Call, verdict: CallVerdict) -> Call:
    return call.model_copy(
        update={"verdict": verdict.verdict, "digest": verdict.digest, "tool": verdict.tool or call.part.tool}
    )


def _is_question(state: State, call: Call) -> bool:
    spec = state.agent.tool(call.tool) if state.agent else None
    return spec is not None and spec.handler == "human"


def _question(call: Call, at: datetime) -> Question:
    arguments = call.part.arguments or {}
    options = arguments.get("options")
    return Question(
        question_id=question_id(call.call_id),
        call_id=call.call_id,
        text=str(arguments.get("question", "")),
        options=tuple(str(option) for option in options) if isinstance(options, list) else (),
        opened_at=at,
    )


def _request(calls: list[Call], version: int, at: datetime) -> ApprovalRequest | None:
    if not calls:
        return None
    message_id = calls[0].call_id.rpartition("c")[0]
    return ApprovalRequest(
        request_id=request_id(message_id, version),
        version=version,
        message_id=message_id,
        calls=tuple(
            RequestedCall(
                call_id=call.call_id,
                tool=call.tool,
                arguments=call.part.arguments or {},
                digest=call.digest,
                verdict=call.verdict,
            )
            for call in calls
            if call.verdict is not None
        ),
        opened_at=at,
    )


def _drop_closed(state: State) -> State:
    """Keep only requests and questions of calls that still wait, and of a request only those calls.

    A call that is asked again then stands in its new request alone: a response to the old one cannot mean it.
    """
    assert state.turn is not None
    waiting = {call.call_id for call in state.turn.batch if call.status == "waiting"}
    requests = (
        request.model_copy(update={"calls": tuple(call for call in request.calls if call.call_id in waiting)})
        for request in state.requests
    )
    return state.model_copy(
        update={
            "requests": tuple(request for request in requests if request.calls),
            "questions": tuple(question for question in state.questions if question.call_id in waiting),
        }
    )
