"""Going on in a new execution: the work that the state calls open is opened again, since nothing was running."""

from __future__ import annotations

from perdure.brain.decide import model_call
from perdure.contracts.instructions import AuthorizeCalls, CallTools, Instruction, ResolveAgent, StopWork
from perdure.contracts.state import State


def resume(state: State) -> tuple[Instruction, ...]:
    """The instructions that open the state's open work.

    What was told to stop meanwhile is opened and stopped at once, so that it settles on the one path there is.
    """
    turn = state.turn
    if turn is None:
        return (ResolveAgent(),) if state.agent is None else ()
    instructions: list[Instruction] = []
    if turn.model_call:
        instructions.append(model_call(state))
    judging = tuple(call.call_id for call in turn.batch if call.status == "judging")
    if judging:
        instructions.append(AuthorizeCalls(call_ids=judging))
    running = tuple(call.call_id for call in turn.batch if call.status == "running")
    if running:
        instructions.append(CallTools(call_ids=running))
    if turn.stopping and (turn.model_call or running):
        instructions.append(StopWork(model_call=turn.model_call, call_ids=running))
    return tuple(instructions)
