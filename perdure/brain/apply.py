"""What an outcome does to the state. Total: an outcome that comes late or makes no sense leaves the state as it was."""

from __future__ import annotations

from typing import assert_never

from pydantic import JsonValue

from perdure.brain import inbox
from perdure.brain.calls import batch_digest, judged, open_batch, opened, settled
from perdure.brain.clock import clock_reached
from perdure.brain.ending import end_after_batch, ended, may_mend_output, open_status, status_after
from perdure.brain.humans import responded
from perdure.brain.inbox import known_message
from perdure.brain.outputs import read_output
from perdure.brain.refuse import refusal, targets
from perdure.brain.transcript import append, turn_output
from perdure.contracts.failures import Failure
from perdure.contracts.instructions import TurnEnd
from perdure.contracts.messages import AssistantMessage
from perdure.contracts.outcomes import (
    AgentRejected,
    AgentResolved,
    AnyOutcome,
    CallsJudged,
    CallsSettled,
    CancelReceived,
    ClockReached,
    ModelFailure,
    ModelReply,
    Received,
    TurnFinished,
    WorkOpened,
)
from perdure.contracts.phases import (
    BatchSettled,
    CallSettled,
    ModelFailed,
    ModelReplied,
    Phase,
    Rested,
    RunEnded,
    StopRequested,
    TurnStarted,
    Unchanged,
)
from perdure.contracts.requests import Answer, Approve, Close, Deny, Edit, Interrupt, Revoke, Send, Withdraw
from perdure.contracts.state import RunStatus, State, Stopping, Turn, TurnSummary
from perdure.contracts.usage import Cost, Usage


def apply(state: State, outcome: AnyOutcome) -> tuple[State, Phase]:
    """The state after ``outcome``, and the phase that says what happened."""
    after, phase = _apply(state, outcome)
    if not ended(after):
        after = after.model_copy(update={"status": open_status(after)})
    return after, phase


def _apply(state: State, outcome: AnyOutcome) -> tuple[State, Phase]:
    if ended(state):
        return state, Unchanged(reason=f"The run has ended ({state.status}).")
    match outcome:
        case AgentResolved():
            if state.agent is not None:
                return state, Unchanged(reason="The agent is resolved already.")
            fixed = {"agent": outcome.agent, "rules_version": outcome.rules_version}
            return _start_turn(state.model_copy(update=fixed))
        case AgentRejected():
            if state.agent is not None:
                return state, Unchanged(reason="The agent is resolved already.")
            return _end(state, "failed", failure=outcome.failure)
        case WorkOpened():
            return _work_opened(state, outcome), Unchanged()
        case ModelReply():
            return _model_reply(state, outcome)
        case ModelFailure():
            if state.turn is None or state.turn.model_call != outcome.message_id:
                return state, Unchanged(reason=f"Message {outcome.message_id} is not awaited.")
            state = _spent(state, state.turn, outcome.bill.usage, outcome.bill.cost)
            return state, ModelFailed(failure=outcome.failure)
        case CallsJudged():
            return judged(state, outcome)
        case CallsSettled():
            return _calls_settled(state, outcome)
        case Received():
            return _received(state, outcome)
        case CancelReceived():
            return _stop(state, "canceled") if state.turn else _end(state, "canceled")
        case ClockReached():
            return clock_reached(state, outcome.at)
        case TurnFinished():
            return _turn_finished(state, outcome)
    assert_never(outcome)


def _start_turn(state: State) -> tuple[State, Phase]:
    number = state.turns + 1
    turn = Turn(number=number, first_message=state.revision)
    delivered = append(state, *state.inbox)
    return delivered.model_copy(update={"turn": turn, "turns": number, "inbox": (), "idle_since": None}), TurnStarted()


def _work_opened(state: State, outcome: WorkOpened) -> State:
    turn = state.turn
    if turn is None:
        return state
    if outcome.model_call:
        turn = turn.model_copy(update={"model_call": outcome.model_call, "forced": outcome.forced})
        state = state.model_copy(update={"steps": state.steps + 1})
    batch = tuple(opened(call, outcome) for call in turn.batch)
    return state.model_copy(update={"turn": turn.model_copy(update={"batch": batch})})


def _model_reply(state: State, outcome: ModelReply) -> tuple[State, Phase]:
    message = outcome.message
    turn = state.turn
    if turn is None or turn.model_call != message.message_id:
        return state, Unchanged(reason=f"Message {message.message_id} is not awaited.")
    turn = turn.model_copy(update={"batch": open_batch(message)})
    state = _spent(append(state, message), turn, message.usage, message.cost)
    state = _with_output_checked(state, message)
    return state, ModelReplied(message_id=message.message_id)


def _spent(state: State, turn: Turn, usage: Usage, cost: Cost) -> State:
    """The state once the model call of ``turn`` has ended, which took so much."""
    turn = turn.model_copy(update={"model_call": None, "usage": turn.usage + usage, "cost": turn.cost + cost})
    return state.model_copy(update={"turn": turn, "usage": state.usage + usage, "cost": state.cost + cost})


def _with_output_checked(state: State, message: AssistantMessage) -> State:
    """Note what is wrong with a final answer that must fit a schema; the next step is for mending it."""
    turn, agent = state.turn, state.agent
    final = not message.calls and message.finish in ("stop", "length")
    if turn is None or agent is None or agent.output is None or turn.stopping or not final:
        return state
    _, problem = read_output(turn_output(state), agent.output)
    rounds = turn.output_rounds + 1 if problem else 0
    turn = turn.model_copy(update={"output_problem": problem, "output_rounds": rounds})
    if problem and may_mend_output(turn, agent.limits):
        turn = turn.model_copy(update={"step": turn.step + 1})
    return state.model_copy(update={"turn": turn})


def _calls_settled(state: State, outcome: CallsSettled) -> tuple[State, Phase]:
    state, fresh = settled(state, outcome.results)
    turn = state.turn
    if turn is None or not fresh:
        return state, Unchanged(reason="The calls are settled already.")
    if turn.open_calls:
        return state, CallSettled(call_ids=fresh)
    results = tuple(call.result for call in turn.batch if call.result is not None)
    invalid = any(call.result.status == "invalid" and not call.edited for call in turn.batch if call.result)
    digest = batch_digest(state, turn.batch)
    turn = turn.model_copy(
        update={
            "batch": (),
            "requests_opened": 0,
            "feedback_rounds": turn.feedback_rounds + 1 if invalid else 0,
            "last_batch": digest,
            "repeats": turn.repeats + 1 if digest and digest == turn.last_batch else 1,
        }
    )
    state = append(state, *results).model_copy(update={"turn": turn})
    if end_after_batch(state) is None:
        # Only a model that is asked again may be told what waits: else nobody would answer it.
        turn = turn.model_copy(update={"step": turn.step + 1})
        state = append(state, *state.inbox).model_copy(update={"turn": turn, "inbox": ()})
    return state, BatchSettled()


def _received(state: State, outcome: Received) -> tuple[State, Phase]:
    order = outcome.order
    refused = refusal(state, order)
    if refused:
        return state, Unchanged(reason=refused)
    match order:
        case Send():
            return _message(state, order)
        case Edit():
            return inbox.edit(state, order), Unchanged()
        case Withdraw():
            return _withdrawn(state, order)
        case Revoke():
            return _revoked(state, order), Unchanged()
        case Approve() | Deny() | Answer():
            return responded(state, order, targets(state, order), outcome.at)
        case Interrupt():
            return _stop(state, "interrupted")
        case Close():
            closing = state.model_copy(update={"closing": True})
            return _end(closing, "completed") if state.status == "idle" else (closing, Unchanged())
    assert_never(order)


def _message(state: State, order: Send) -> tuple[State, Phase]:
    if known_message(state, order.client_key) is not None:
        return state, Unchanged(reason=f"The message {order.client_key} was received already.")
    queued = inbox.receive(state, order)
    return _start_turn(queued) if state.status == "idle" else (queued, Unchanged())


def _withdrawn(state: State, order: Withdraw) -> tuple[State, Phase]:
    if inbox.waits(state, order.message_id):
        return inbox.withdraw(state, order.message_id), Unchanged()
    return _stop(state, "withdrawn")


def _revoked(state: State, order: Revoke) -> State:
    kept = tuple(grant for grant in state.grants if grant.grant_id != order.grant_id)
    return state.model_copy(update={"grants": kept})


def _stop(state: State, why: Stopping) -> tuple[State, Phase]:
    assert state.turn is not None
    if (state.turn.stopping and why != "canceled") or state.turn.stopping == "canceled":
        return state, Unchanged(reason="The turn is stopping already.")
    turn = state.turn.model_copy(update={"stopping": why})
    return state.model_copy(update={"turn": turn}), StopRequested()


def _turn_finished(state: State, outcome: TurnFinished) -> tuple[State, Phase]:
    turn = state.turn
    if turn is None:
        return state, Unchanged(reason="No turn is running.")
    summary = TurnSummary(
        number=turn.number,
        end=outcome.end,
        steps=turn.step,
        output=turn_output(state),
        data=_output_data(state, outcome.end),
        failure=outcome.failure,
        usage=turn.usage,
        cost=turn.cost,
    )
    state = state.model_copy(update={"turn": None, "last_turn": summary, "requests": (), "questions": ()})
    if outcome.end == "canceled":
        return _end(state, "canceled")
    if state.inbox:
        return _start_turn(state)
    if state.request.conversation and not state.closing:
        return state.model_copy(update={"idle_since": outcome.at}), Rested()
    status = "completed" if state.request.conversation else status_after(outcome.end)
    return _end(state, status, failure=outcome.failure if status == "failed" else None)


def _output_data(state: State, end: TurnEnd) -> JsonValue:
    schema = state.agent.output if state.agent else None
    if schema is None or end not in ("completed", "step_limit"):
        return None
    return read_output(turn_output(state), schema)[0]


def _end(state: State, status: RunStatus, failure: Failure | None = None) -> tuple[State, Phase]:
    return state.model_copy(update={"status": status, "failure": failure}), RunEnded()
