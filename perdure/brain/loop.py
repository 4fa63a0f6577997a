"""The loop: decide, apply, decide again after every single outcome. Everything that drives a run drives this one.

Some instructions need nobody's work (`SettleCalls`, `Finish`) and some are noted the moment they are taken in hand
(`CallModel`, `AuthorizeCalls`, `CallTools`). Their outcomes are fed here, first in first out, so that the Temporal
workflow, the in-process engine and the projection of a history see the same outcomes in the same order.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from datetime import datetime
from typing import assert_never

from perdure.brain.apply import apply
from perdure.brain.decide import decide
from perdure.brain.notices import notices
from perdure.contracts.ids import result_message_id, user_message_id
from perdure.contracts.instructions import (
    AskHumans,
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
from perdure.contracts.messages import TextPart, ToolMessage, UserMessage
from perdure.contracts.outcomes import AnyOutcome, CallsSettled, TurnFinished, WorkOpened
from perdure.contracts.phases import Phase, RunStarted
from perdure.contracts.requests import RunRequest
from perdure.contracts.state import State


@dataclass(frozen=True, slots=True)
class Advance:
    """One outcome applied: the states around it, the phase it led to, and the instructions that follow.

    ``outcome`` and ``before`` are None for the first advance, which begins the run.
    """

    before: State | None
    outcome: AnyOutcome | None
    phase: Phase
    state: State
    instructions: tuple[Instruction, ...]
    at: datetime


class Loop:
    """A run's state and the rules that move it.

    ``state`` is the newest state, ``at`` the time of the newest outcome. What has no time of its own in the history
    (what a local activity gave) carries that one: it is the same in every replay, and for whoever reads the history.
    """

    def __init__(self, state: State, at: datetime) -> None:
        self.state = state
        self.at = at

    @classmethod
    def begin(cls, run_id: str, request: RunRequest, at: datetime) -> tuple[Loop, Advance]:
        """A new run of ``request``, and its first advance."""
        first = UserMessage(
            message_id=user_message_id(1),
            parts=(TextPart(text=request.message), *request.attachments),
            sender=request.user,
        )
        loop = cls(State(run_id=run_id, request=request, inbox=(first,), received=1), at)
        phase = RunStarted()
        return loop, Advance(None, None, phase, loop.state, decide(loop.state, phase), at)

    def feed(self, outcome: AnyOutcome) -> tuple[Advance, ...]:
        """Apply ``outcome`` and all that follows from it without anybody's work, in order."""
        self.at = max(self.at, outcome.at)
        waiting = deque([outcome])
        advances = []
        while waiting:
            taken = waiting.popleft()
            before = self.state
            self.state, phase = apply(before, taken)
            instructions = (*decide(self.state, phase), *notices(before, self.state))
            advances.append(Advance(before, taken, phase, self.state, instructions, taken.at))
            for instruction in instructions:
                waiting.extend(self._at_once(instruction, taken.at))
        return tuple(advances)

    def _at_once(self, instruction: Instruction, at: datetime) -> tuple[AnyOutcome, ...]:
        match instruction:
            case CallModel():
                return (WorkOpened(at=at, model_call=instruction.message_id, forced=instruction.forced),)
            case AuthorizeCalls():
                return (WorkOpened(at=at, judging=instruction.call_ids),)
            case CallTools():
                return (WorkOpened(at=at, running=instruction.call_ids),)
            case SettleCalls():
                return (CallsSettled(at=at, results=tuple(map(self._result, instruction.settlements))),)
            case Finish():
                return (TurnFinished(at=at, end=instruction.end, failure=instruction.failure),)
            case ResolveAgent() | AskHumans() | RememberGrant() | StopWork():
                return ()
        assert_never(instruction)

    def _result(self, settlement: Settlement) -> ToolMessage:
        call = self.state.turn.call(settlement.call_id) if self.state.turn else None
        return ToolMessage(
            message_id=result_message_id(settlement.call_id),
            call_id=settlement.call_id,
            tool=call.part.tool if call else "",
            status=settlement.status,
            text=settlement.text,
        )
