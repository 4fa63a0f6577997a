"""The calls of a batch: proposed -> judging -> authorized -> (waiting) -> running -> settled, each exactly once.

A call is judged again when it was approved, and while it waits when a grant was made that may cover it. Verdicts carry
the round that they answer, so that one that comes late decides nothing.
"""

from __future__ import annotations

import json
from typing import assert_never

from perdure.brain.humans import drop_closed, question_for, request_for
from perdure.contracts.agent import Waiting
from perdure.contracts.approvals import CallVerdict
from perdure.contracts.digests import digest_of
from perdure.contracts.messages import AssistantMessage, ToolMessage
from perdure.contracts.outcomes import CallsJudged, WorkOpened
from perdure.contracts.phases import CallsAuthorized, Phase, Unchanged
from perdure.contracts.state import Call, State


def open_batch(message: AssistantMessage) -> tuple[Call, ...]:
    """The calls of a reply, all proposed."""
    return tuple(Call(part=part, tool=part.tool) for part in message.calls)


def opened(call: Call, outcome: WorkOpened) -> Call:
    """The call after work on it was opened: a waiting call that is judged again goes on waiting meanwhile."""
    if call.call_id in outcome.judging:
        status = call.status if call.status == "waiting" else "judging"
        return call.model_copy(update={"status": status, "round": call.round + 1})
    return call.model_copy(update={"status": "running"}) if call.call_id in outcome.running else call


def judged(state: State, outcome: CallsJudged) -> tuple[State, Phase]:
    """Record verdicts: allowed calls may start, asking ones wait for a human, denied ones are to be settled."""
    if state.turn is None:
        return state, Unchanged(reason="No turn is running.")
    verdicts = {verdict.call_id: verdict for verdict in outcome.verdicts}
    batch = tuple(_judged(state, call, verdicts.get(call.call_id)) for call in state.turn.batch)
    changed = [(before, call) for before, call in zip(state.turn.batch, batch, strict=True) if call is not before]
    waiting = state.agent.waiting if state.agent else Waiting()
    fresh = [call for before, call in changed if call.status == "waiting" and before.status != "waiting"]
    questions = tuple(question_for(call, waiting, outcome.at) for call in fresh if is_question(state, call))
    asking = [call for call in fresh if not is_question(state, call)]
    number = state.turn.requests_opened + 1
    request = request_for(asking, number, waiting, outcome.at)
    turn = state.turn.model_copy(
        update={"batch": batch, "requests_opened": number if request else state.turn.requests_opened}
    )
    state = state.model_copy(
        update={
            "turn": turn,
            "requests": (*state.requests, request) if request else state.requests,
            "questions": (*state.questions, *questions),
        }
    )
    return drop_closed(state), CallsAuthorized(
        denied=tuple(call.call_id for _, call in changed if call.status == "proposed"),
        request_id=request.request_id if request else None,
        questions=tuple(question.question_id for question in questions),
    )


def settled(state: State, results: tuple[ToolMessage, ...]) -> tuple[State, tuple[str, ...]]:
    """Give calls their results; a call that has one keeps it. Also the ids of the calls that settled just now."""
    if state.turn is None:
        return state, ()
    by_call = {result.call_id: result for result in results}
    fresh = tuple(call.call_id for call in state.turn.open_calls if call.call_id in by_call)
    batch = tuple(
        call.model_copy(update={"status": "settled", "result": _told(call, by_call[call.call_id])})
        if call.call_id in fresh
        else call
        for call in state.turn.batch
    )
    state = state.model_copy(update={"turn": state.turn.model_copy(update={"batch": batch})})
    return drop_closed(state), fresh


def batch_digest(state: State, batch: tuple[Call, ...]) -> str:
    """What a batch is recognised by when it comes again: its calls and their results; empty when all of it polls."""
    telling = [call for call in batch if not _polls(state, call)]
    return (
        digest_of(
            [
                [call.tool, call.part.arguments, call.result.status, call.result.text]
                for call in telling
                if call.result is not None
            ]
        )
        if telling
        else ""
    )


def is_question(state: State, call: Call) -> bool:
    """Whether the call asks a person instead of running."""
    spec = state.agent.tool(call.tool) if state.agent else None
    return spec is not None and spec.handler == "human"


def _judged(state: State, call: Call, verdict: CallVerdict | None) -> Call:
    awaited = call.status in ("judging", "waiting") and verdict is not None and verdict.round in (0, call.round)
    if verdict is None or not awaited:
        return call
    decision = verdict.verdict.decision
    # One of several approvers may have changed the arguments of a waiting call while those before were judged.
    if call.status == "waiting" and (verdict.round == 0 or decision == "ask" or verdict.digest != call.digest):
        return call
    tool = verdict.tool or call.part.tool
    call = call.model_copy(
        update={
            "verdict": verdict.verdict,
            "digest": verdict.digest or digest_of({"tool": tool, "arguments": call.part.arguments}),
            "tool": tool,
            "approval": verdict.approval,
        }
    )
    match decision:
        case "allow" if is_question(state, call):
            return call.model_copy(update={"status": "waiting"})
        case "allow":
            return call.model_copy(update={"status": "authorized"})
        case "ask":
            return call.model_copy(update={"status": "waiting", "response": None, "approvals": ()})
        case "deny":
            return call.model_copy(update={"status": "proposed"})
    assert_never(decision)


def _told(call: Call, result: ToolMessage) -> ToolMessage:
    """The result of an edited call tells of the edit: the model knows only what it asked for."""
    if not call.edited:
        return result
    ran = call.status == "running" and result.status != "unavailable"
    changed = json.dumps(call.part.arguments, ensure_ascii=False)
    note = f"[A human changed the arguments{' before this ran' if ran else ''}: {changed}]"
    return result.model_copy(
        update={"ran_with": call.part.arguments if ran else None, "text": f"{note}\n{result.text}"}
    )


def _polls(state: State, call: Call) -> bool:
    spec = state.agent.tool(call.tool) if state.agent else None
    return spec is not None and spec.polling
