"""The durable events of an advance: what a subscriber is told, derived from the states and never stored."""

from __future__ import annotations

from typing import assert_never

from perdure.brain.ending import ended
from perdure.brain.loop import Advance
from perdure.brain.views import output
from perdure.contracts.events import (
    CallEnded,
    CallsReviewed,
    CallStarted,
    DeadlinePassed,
    DurableEvent,
    GrantMade,
    MessageReceived,
    ModelAnswered,
    ModelCalled,
    ModelGaveUp,
    OrderReceived,
    QuestionOpened,
    RequestOpened,
    RunBegan,
    RunClosed,
    StatusChanged,
    TurnBegan,
    TurnEnded,
)
from perdure.contracts.messages import ToolMessage
from perdure.contracts.outcomes import (
    AgentRejected,
    AgentResolved,
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
from perdure.contracts.phases import Unchanged
from perdure.contracts.requests import Send
from perdure.contracts.state import State


def narrate(advance: Advance) -> tuple[DurableEvent, ...]:
    """The events of ``advance``, in order, with run and time but without position."""
    before, after = advance.before, advance.state
    events: list[DurableEvent] = []
    if before is None:
        events += [MessageReceived(message=message) for message in after.inbox]
    elif not ended(before):
        events += _of_outcome(advance, before)
        if after.turn and (before.turn is None or before.turn.number != after.turn.number):
            events.append(TurnBegan(turn=after.turn.number))
        if after.status != before.status:
            events.append(StatusChanged(status=after.status))
        if ended(after):
            events.append(_closed(after))
    stamp = {"run_id": after.run_id, "at": advance.at}
    return tuple(event.model_copy(update=stamp) for event in events)


def _of_outcome(advance: Advance, before: State) -> list[DurableEvent]:
    outcome, after = advance.outcome, advance.state
    if outcome is None:
        return []
    refused = advance.phase.reason if isinstance(advance.phase, Unchanged) else ""
    match outcome:
        case AgentResolved():
            return [] if refused else [RunBegan(agent=outcome.agent.name, model=outcome.agent.model)]
        case WorkOpened():
            return _opened(outcome, after)
        case ModelReply():
            return [] if refused else [ModelAnswered(message=outcome.message)]
        case ModelFailure():
            return [] if refused else [ModelGaveUp(message_id=outcome.message_id, failure=outcome.failure)]
        case CallsJudged():
            return _reviewed(outcome, before, after)
        case CallsSettled():
            return [CallEnded(result=result) for result in _fresh_results(before, after)]
        case Received(order=Send()):
            new = [message for message in after.inbox if message not in before.inbox]
            started = after.messages[before.revision :]
            found = [message for message in (*new, *started) if message.role == "user"]
            if found:
                return [MessageReceived(message=message) for message in found]
            return [OrderReceived(order=outcome.order, refused=refused)]
        case CancelReceived():
            return [OrderReceived(order=outcome.order, refused=refused)]
        case Received():
            made = [GrantMade(grant=grant) for grant in after.grants[len(before.grants) :]]
            return [OrderReceived(order=outcome.order, refused=refused), *made]
        case TurnFinished():
            return _turn_ended(before, after)
        case ClockReached():
            return _deadline_passed(before, after)
        case AgentRejected():
            return []
    assert_never(outcome)


def _opened(outcome: WorkOpened, after: State) -> list[DurableEvent]:
    turn = after.turn
    if turn is None:
        return []
    if outcome.model_call:
        called = ModelCalled(
            message_id=outcome.model_call,
            turn=turn.number,
            step=turn.step,
            forced=outcome.forced,
            problem=turn.output_problem,
        )
        return [called]
    return [CallStarted(call=call.part) for call in turn.batch if call.call_id in outcome.running]


def _reviewed(outcome: CallsJudged, before: State, after: State) -> list[DurableEvent]:
    events: list[DurableEvent] = [CallsReviewed(verdicts=outcome.verdicts)]
    known = {request.request_id for request in before.requests}
    asked = {question.question_id for question in before.questions}
    events += [RequestOpened(request=request) for request in after.requests if request.request_id not in known]
    events += [QuestionOpened(question=item) for item in after.questions if item.question_id not in asked]
    return events


def _deadline_passed(before: State, after: State) -> list[DurableEvent]:
    batch = after.turn.batch if after.turn else ()
    waited = {call.call_id for call in before.turn.batch if call.status == "waiting"} if before.turn else set()
    late = [call for call in batch if call.call_id in waited and call.response and call.response.by_deadline]
    return [DeadlinePassed(call_id=call.call_id, decision=call.response.decision) for call in late if call.response]


def _fresh_results(before: State, after: State) -> list[ToolMessage]:
    """What the model is told, which for an edited call is more than what its tool gave."""
    still_open = {call.call_id for call in before.turn.open_calls} if before.turn else set()
    batch = after.turn.batch if after.turn else ()
    held = [call.result for call in batch if call.result is not None]
    joined = [message for message in after.messages[before.revision :] if message.role == "tool"]
    return [result for result in (*held, *joined) if result.call_id in still_open]


def _turn_ended(before: State, after: State) -> list[DurableEvent]:
    turn = after.last_turn
    if turn is None or turn == before.last_turn:
        return []
    ended_turn = TurnEnded(
        turn=turn.number,
        end=turn.end,
        output=turn.output,
        data=turn.data,
        failure=turn.failure,
        usage=turn.usage,
        cost=turn.cost,
    )
    return [ended_turn]


def _closed(state: State) -> RunClosed:
    result = output(state)
    return RunClosed(
        status=state.status,
        output=result.output,
        data=result.data,
        failure=state.failure,
        usage=state.usage,
        cost=state.cost,
    )
