"""What is to be done next: instructions, from what just happened."""

from __future__ import annotations

from typing import assert_never

from perdure.brain.calls import is_question
from perdure.brain.ending import end_after_batch, may_mend_output, misfit_failure, stopped_end, stopped_failure
from perdure.brain.results import cannot_run
from perdure.contracts.ids import model_message_id
from perdure.contracts.instructions import (
    AuthorizeCalls,
    CallModel,
    CallTools,
    Finish,
    Instruction,
    RememberGrant,
    ResolveAgent,
    SettleCalls,
    Settlement,
    StopWork,
)
from perdure.contracts.messages import AssistantMessage, ResultStatus
from perdure.contracts.phases import (
    BatchSettled,
    CallsAuthorized,
    CallSettled,
    HumanResponded,
    ModelFailed,
    ModelReplied,
    Phase,
    Rested,
    RunEnded,
    RunStarted,
    StopRequested,
    TurnStarted,
    Unchanged,
)
from perdure.contracts.state import Call, State, Stopping, Turn

NO_TOOLS_LEFT = "No tool may be called any more: this is the last step of the turn."
INTERRUPTED = "Stopped before it ran."


def decide(state: State, phase: Phase) -> tuple[Instruction, ...]:
    """The instructions that follow from ``phase``. Total: every phase and state has an answer, often an empty one."""
    match phase:
        case RunStarted():
            return (ResolveAgent(),)
        case TurnStarted():
            return (model_call(state),)
        case ModelReplied():
            return _after_reply(state, phase)
        case ModelFailed():
            return _after_failure(state, phase)
        case CallsAuthorized():
            return _after_verdicts(state, phase)
        case CallSettled():
            return _start_calls(state)
        case BatchSettled():
            return (_after_batch(state),)
        case HumanResponded():
            return _after_response(state, phase)
        case StopRequested():
            return _stop(state)
        case Rested() | RunEnded() | Unchanged():
            return ()
    assert_never(phase)


def model_call(state: State) -> CallModel:
    """The model call of the step that the turn is at."""
    turn = _turn(state)
    assert state.agent is not None
    return CallModel(
        message_id=model_message_id(turn.number, turn.step),
        turn=turn.number,
        step=turn.step,
        model=state.agent.model,
        revision=state.revision,
        digest=state.digest,
        forced=turn.step >= state.agent.limits.steps,
        nudged=turn.repeats >= state.agent.limits.repeats,
        problem=turn.output_problem,
    )


def _after_reply(state: State, phase: ModelReplied) -> tuple[Instruction, ...]:
    turn = _turn(state)
    reply = next(message for message in reversed(state.messages) if message.message_id == phase.message_id)
    assert isinstance(reply, AssistantMessage)
    if turn.batch and (turn.stopping or reply.finish == "interrupted"):
        return (_settle(turn.batch, INTERRUPTED, status="interrupted"),)
    if turn.stopping:
        return (_stopped(turn.stopping),)
    if reply.finish == "interrupted":
        return (Finish(end="interrupted"),)
    if turn.batch and turn.forced:
        return (_settle(turn.batch, NO_TOOLS_LEFT, status="denied"),)
    if turn.batch:
        return (AuthorizeCalls(call_ids=tuple(call.call_id for call in turn.batch)),)
    if reply.finish == "refused":
        return (Finish(end="refused"),)
    if turn.output_problem:
        assert state.agent is not None
        if may_mend_output(turn, state.agent.limits):
            return (model_call(state),)
        return (Finish(end="invalid_output", failure=misfit_failure(turn)),)
    return (Finish(end="step_limit" if turn.forced else "completed"),)


def _after_failure(state: State, phase: ModelFailed) -> tuple[Instruction, ...]:
    turn = _turn(state)
    if turn.stopping:
        return (_stopped(turn.stopping),)
    return (Finish(end="refused" if phase.failure.kind == "refused" else "failed", failure=phase.failure),)


def _after_verdicts(state: State, phase: CallsAuthorized) -> tuple[Instruction, ...]:
    turn = _turn(state)
    instructions: list[Instruction] = list(_start_calls(state))
    if phase.denied:
        settlements = tuple(_denial(call) for call in turn.batch if call.call_id in phase.denied)
        instructions.append(SettleCalls(settlements=settlements))
    return tuple(instructions)


def _after_batch(state: State) -> Instruction:
    stopping = _turn(state).stopping
    if stopping:
        return _stopped(stopping)
    end = end_after_batch(state)
    return Finish(end=end) if end else model_call(state)


def _stopped(why: Stopping) -> Finish:
    return Finish(end=stopped_end(why), failure=stopped_failure(why))


def _after_response(state: State, phase: HumanResponded) -> tuple[Instruction, ...]:
    turn = _turn(state)
    approved: list[str] = []
    settlements: list[Settlement] = []
    for call in turn.batch:
        if call.call_id not in phase.call_ids or call.response is None:
            continue
        match call.response.decision:
            case "approve":
                approved.append(call.call_id)
            case "deny" if is_question(state, call):
                settlements.append(Settlement(call_id=call.call_id, status="error", text=call.response.text))
            case "deny":
                settlements.append(_human_denial(call))
            case "answer":
                settlements.append(Settlement(call_id=call.call_id, status="ok", text=call.response.text))
            case _:
                assert_never(call.response.decision)
    instructions: list[Instruction] = []
    if approved or phase.recheck:
        instructions.append(AuthorizeCalls(call_ids=(*approved, *phase.recheck)))
    instructions += [RememberGrant(grant=grant) for grant in phase.grants]
    if settlements:
        instructions.append(SettleCalls(settlements=tuple(settlements)))
    return tuple(instructions)


def _stop(state: State) -> tuple[Instruction, ...]:
    """Settle what does not run, stop what does. The turn ends when the last of it has given what it has."""
    turn = _turn(state)
    running = tuple(call.call_id for call in turn.batch if call.status == "running")
    idle = tuple(call for call in turn.open_calls if call.status != "running")
    instructions: list[Instruction] = []
    if turn.model_call or running:
        instructions.append(StopWork(model_call=turn.model_call, call_ids=running))
    if idle:
        instructions.append(_settle(idle, INTERRUPTED, status="interrupted"))
    if not instructions:
        assert turn.stopping is not None
        instructions.append(_stopped(turn.stopping))
    return tuple(instructions)


def _start_calls(state: State) -> tuple[Instruction, ...]:
    turn = _turn(state)
    assert state.agent is not None
    if turn.stopping:
        return ()
    running = sum(call.status == "running" for call in turn.batch)
    free = max(0, state.agent.limits.concurrency - running)
    startable: list[str] = []
    unrunnable: list[Settlement] = []
    for call in turn.batch:
        if call.status != "authorized":
            continue
        result = cannot_run(state, call)
        if result is not None:
            unrunnable.append(Settlement(call_id=call.call_id, status=result.status, text=result.text))
        elif len(startable) < free:
            startable.append(call.call_id)
    instructions: list[Instruction] = []
    if startable:
        instructions.append(CallTools(call_ids=tuple(startable)))
    if unrunnable:
        instructions.append(SettleCalls(settlements=tuple(unrunnable)))
    return tuple(instructions)


def _settle(calls: tuple[Call, ...], text: str, *, status: ResultStatus) -> SettleCalls:
    return SettleCalls(settlements=tuple(Settlement(call_id=call.call_id, status=status, text=text) for call in calls))


def _denial(call: Call) -> Settlement:
    assert call.verdict is not None
    invalid = call.verdict.rule in {"unknown_tool", "arguments"}
    return Settlement(
        call_id=call.call_id, status="invalid" if invalid else "denied", text=call.verdict.reason or call.verdict.rule
    )


def _human_denial(call: Call) -> Settlement:
    assert call.response is not None
    who = f" by {call.response.actor}" if call.response.actor else ""
    why = f": {call.response.text}" if call.response.text else "."
    return Settlement(call_id=call.call_id, status="denied", text=f"Denied{who}{why}")


def _turn(state: State) -> Turn:
    assert state.turn is not None, "this phase occurs only while a turn runs"
    return state.turn
