"""A world around the loop that does anything plausible, in any order, and more than once.

It keeps its own account of the work that instructions opened, as an engine does, and feeds what such work may give:
replies, verdicts, results, orders of people, the clock, a cancel, and all of it again when it comes late. Every choice
is made by ``pick``, so that Hypothesis or a seeded generator can be the one who chooses.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import timedelta
from typing import Any, assert_never

from perdure.brain.clock import wake_at
from perdure.brain.ending import ended
from perdure.brain.loop import Advance, Loop
from perdure.brain.results import call_result
from perdure.contracts.agent import Decision
from perdure.contracts.approvals import CallVerdict
from perdure.contracts.instructions import (
    AskHumans,
    AuthorizeCalls,
    CallModel,
    CallTools,
    Finish,
    Instruction,
    ResolveAgent,
    SettleCalls,
    StopWork,
)
from perdure.contracts.messages import CallPart, FinishReason, ResultStatus
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
)
from perdure.contracts.requests import Answer, Approve, Close, Deny, Interrupt, Order, RunRequest, Send
from perdure.contracts.state import Call, State
from tests.brain.agents import IDLE, OVERLOADED, START, a_call, an_agent, reply, verdict

Pick = Callable[[Sequence[Any]], Any]
Move = Callable[[], AnyOutcome]

TOOL_NAMES = ("look", "write", "ask_human", "nope")
STATUSES: tuple[ResultStatus, ...] = ("ok", "ok", "ok", "error", "unknown", "invalid")


class World:
    """A run, the work that it opened, and everything that was fed. ``advances`` holds every advance so far."""

    def __init__(self, pick: Pick) -> None:
        self.pick = pick
        self.now = START
        self.request = RunRequest(message="hello", conversation=pick((True, True, True, False)), idle_timeout=IDLE)
        self.limits = {
            "steps": pick((1, 2, 4, 4)),
            "feedback_rounds": pick((0, 1)),
            "concurrency": pick((1, 2, 8)),
        }
        self.agent_awaited = False
        self.models: dict[str, CallModel] = {}
        self.judging: list[tuple[str, ...]] = []
        self.running: dict[str, CallPart] = {}
        self.stopped: set[str] = set()
        self.asked_of_model: list[str] = []
        self.started: list[str] = []
        self.proposed: list[str] = []
        self.fed: list[AnyOutcome] = []
        self.loop, first = Loop.begin("run", self.request, START)
        self.advances: list[Advance] = [first]
        self._open(first)

    @property
    def state(self) -> State:
        return self.loop.state

    def step(self) -> tuple[Advance, ...]:
        """Do any one thing that could happen now."""
        return self.feed(self.pick(self._moves())())

    def settle_down(self) -> tuple[Advance, ...]:
        """Do one thing that brings the run nearer to its rest; nothing when it rests, has ended, or waits."""
        if ended(self.state) or self.state.status == "idle":
            return ()
        if self.agent_awaited:
            return self.feed(self._agent_resolved())
        if self.models:
            message_id, _ = self.models.popitem()
            return self.feed(ModelReply(at=self.now, message=reply(message_id, "Done.")))
        if self.judging:
            return self.feed(self._judged("allow"))
        if self.running:
            return self.feed(self._result(next(iter(self.running)), "ok"))
        if self.state.questions:
            return self.feed(self._told(Answer(answer="blue", call_id=self.state.questions[0].call_id)))
        return self.feed(self._told(Deny(reason="no")))

    def feed(self, outcome: AnyOutcome) -> tuple[Advance, ...]:
        """Feed an outcome, and open the work that follows."""
        self.fed.append(outcome)
        advances = self.loop.feed(outcome)
        for advance in advances:
            self.advances.append(advance)
            self._open(advance)
        return advances

    def _open(self, advance: Advance) -> None:
        for instruction in advance.instructions:
            self._execute(advance.state, instruction)

    def _execute(self, state: State, instruction: Instruction) -> None:
        match instruction:
            case ResolveAgent():
                self.agent_awaited = True
            case CallModel():
                self.models[instruction.message_id] = instruction
                self.asked_of_model.append(instruction.message_id)
            case AuthorizeCalls():
                self.judging.append(instruction.call_ids)
                self.proposed += [call for call in instruction.call_ids if call not in self.proposed]
            case CallTools():
                for call_id in instruction.call_ids:
                    self.running[call_id] = _call(state, call_id).part
                    self.started.append(call_id)
            case StopWork():
                self.stopped |= {*instruction.call_ids, instruction.model_call or ""}
            case SettleCalls() | AskHumans() | Finish():
                pass
            case _:
                assert_never(instruction)

    def _moves(self) -> list[Move]:
        moves: list[Move] = [self._order, self._order, self._clock]
        work: list[Move] = []
        if self.agent_awaited:
            work += [self._agent_resolved] * 12 + [self._agent_rejected]
        if self.models:
            work += [self._reply] * 6 + [self._model_failure]
        if self.judging:
            work += [lambda: self._judged(None)] * 4
        if self.running:
            work += [self._any_result] * 3
        moves += work * 2
        moves += [lambda: CancelReceived(at=self.now)] if self.pick(range(12)) == 0 else []
        late = [outcome for outcome in self.fed if not isinstance(outcome, Received | ClockReached | CancelReceived)]
        moves += [lambda: self.pick([*late, AgentRejected(at=self.now, failure=OVERLOADED)])] if late else []
        return moves

    def _agent_resolved(self) -> AnyOutcome:
        self.agent_awaited = False
        return AgentResolved(at=self.now, agent=an_agent(**self.limits))

    def _agent_rejected(self) -> AnyOutcome:
        self.agent_awaited = False
        return AgentRejected(at=self.now, failure=OVERLOADED)

    def _reply(self) -> AnyOutcome:
        message_id = self.pick(tuple(self.models))
        del self.models[message_id]
        calls = [
            a_call(self.pick(TOOL_NAMES), question="which?", options=self.pick(([], ["blue", "red"])))
            for _ in range(self.pick((0, 0, 1, 2, 3)))
        ]
        text = self.pick(([], ["Well."], ["Well.", " Then."]))
        finish: FinishReason | None = (
            "interrupted" if message_id in self.stopped else self.pick((None, None, None, "refused", "length"))
        )
        return ModelReply(at=self.now, message=reply(message_id, *text, *calls, finish=finish))

    def _model_failure(self) -> AnyOutcome:
        message_id = self.pick(tuple(self.models))
        del self.models[message_id]
        failure = OVERLOADED.model_copy(update={"kind": self.pick(("overloaded", "refused"))})
        return ModelFailure(at=self.now, message_id=message_id, failure=failure)

    def _judged(self, decision: Decision | None) -> AnyOutcome:
        call_ids = self.judging.pop(0 if decision else self.pick(range(len(self.judging))))
        parts = [_part(self.state, call_id) for call_id in call_ids]
        return CallsJudged(at=self.now, verdicts=tuple(self._verdict(part, decision) for part in parts))

    def _verdict(self, part: CallPart, decision: Decision | None) -> CallVerdict:
        if part.tool == "nope" and self.pick((True, True, False)):
            return verdict(part, "deny", "unknown_tool", "There is no such tool.")
        return verdict(part, decision or self.pick(("allow", "allow", "ask", "deny")))

    def _any_result(self) -> AnyOutcome:
        call_id = self.pick(tuple(self.running))
        return self._result(call_id, "interrupted" if call_id in self.stopped else self.pick(STATUSES))

    def _result(self, call_id: str, status: ResultStatus) -> AnyOutcome:
        return CallsSettled(at=self.now, results=(call_result(self.running.pop(call_id), status, "a result"),))

    def _clock(self) -> AnyOutcome:
        wake = wake_at(self.state)
        self.now += timedelta(seconds=self.pick((0, 1, 60)))
        if wake is not None and self.pick((True, False, False)):
            self.now = max(self.now, wake)
        return ClockReached(at=self.now)

    def _order(self) -> AnyOutcome:
        return self._told(self.pick(self._orders()))

    def _told(self, order: Order) -> AnyOutcome:
        return Received(at=self.now, order=order)

    def _orders(self) -> list[Order]:
        turn = self.state.turn
        calls = [call.call_id for call in turn.batch] if turn else []
        call_id = self.pick((*calls, *calls, "", "", "t9s9c9"))
        request_id = self.pick((*(request.request_id for request in self.state.requests), "", "t9s9a1"))
        digest = self.pick(("", "", "another"))
        orders: list[Order] = [
            Send(message="more", client_key=self.pick(("", "", "k1", "k2"))),
            Approve(call_id=call_id),
            Approve(request_id=request_id),
            Approve(call_id=call_id, request_id=request_id, digest=digest),
            Deny(call_id=call_id, reason="no"),
            Answer(answer=self.pick(("blue", "green")), call_id=call_id),
        ]
        if self.pick(range(3)) == 0:
            orders += [Interrupt(turn=self.pick((None, self.state.turns, 99))), Close()]
        return orders


def walk(pick: Pick, steps: int, after_each: Callable[[World, tuple[Advance, ...]], None]) -> World:
    """A world after so many steps and the way to its rest; ``after_each`` is called after each of them."""
    world = World(pick)
    after_each(world, tuple(world.advances))
    for _ in range(steps):
        after_each(world, world.step())
        if ended(world.state) and pick((True, False)):
            break
    for _ in range(200):
        advances = world.settle_down()
        if not advances:
            return world
        after_each(world, advances)
    raise AssertionError(f"the run does not come to rest: {world.state.status}, {world.state.turn}")


def _call(state: State, call_id: str) -> Call:
    call = state.turn.call(call_id) if state.turn else None
    assert call is not None, f"{call_id} is not in the open batch"
    return call


def _part(state: State, call_id: str) -> CallPart:
    parts = (part for message in state.messages if message.role == "assistant" for part in message.calls)
    return next(part for part in parts if part.call_id == call_id)
