"""A world around the loop that does anything plausible, in any order, and more than once.

It keeps its own account of the work that instructions opened, as an engine does, and feeds what such work may give:
replies, verdicts, results, orders of people, the clock, a cancel, and all of it again when it comes late. Every choice
is made by ``pick``, so that Hypothesis or a seeded generator can be the one who chooses.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from typing import assert_never

from perdure.brain.clock import wake_at
from perdure.brain.ending import ended
from perdure.brain.inputs import judge_request
from perdure.brain.loop import Advance, Loop
from perdure.brain.results import call_result
from perdure.contracts.activities import ProposedCall
from perdure.contracts.agent import Decision, Waiting
from perdure.contracts.approvals import CallVerdict, Verdict
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
from perdure.contracts.requests import Answer, Deny, Order, RunRequest
from perdure.contracts.state import Call, State
from tests.brain.agents import IDLE, OVERLOADED, START, a_call, an_agent, reply, verdict
from tests.brain.people import RULES, STARTER, Pick, any_order

Move = Callable[[], AnyOutcome]


@dataclass(frozen=True, slots=True)
class Temper:
    """What a model asks for, how many calls at once, what authority says of them, and how they end."""

    tools: tuple[str, ...]
    sizes: tuple[int, ...]
    decisions: tuple[Decision, ...]
    results: tuple[ResultStatus, ...] = ("ok", "ok", "error", "unknown", "invalid")


TEMPERS = (
    Temper(("look", "write", "ask_human", "nope"), (0, 0, 1, 2, 3), ("allow", "allow", "ask", "deny")),
    Temper(("write", "write", "write", "ask_human"), (0, 2, 3, 3), ("ask", "ask", "ask", "allow")),
    Temper(("look",), (1, 1, 1, 1, 1, 1, 1, 0), ("allow",), ("ok",)),
    Temper(("poll",), (1, 1, 1, 1, 1, 1, 1, 0), ("allow",), ("ok",)),
)
WAITING = (
    Waiting(),
    Waiting(deadline=timedelta(seconds=90)),
    Waiting(deadline=timedelta(seconds=90), default="approve", remind=timedelta(seconds=60)),
    Waiting(deadline=timedelta(seconds=30), remind=timedelta(seconds=60)),
)
UNJUDGED = Verdict(decision="ask", rule="error", reason="Authority could not judge this call.", firm=True)


class World:
    """A run, the work that it opened, and everything that was fed. ``advances`` holds every advance so far."""

    def __init__(self, pick: Pick) -> None:
        self.pick = pick
        self.now = START
        self.request = RunRequest(
            message="hello",
            conversation=pick((True, True, True, False)),
            idle_timeout=IDLE,
            user=pick(("", STARTER)),
        )
        self.limits = {
            "steps": pick((1, 2, 4, 9, 9)),
            "feedback_rounds": pick((0, 1)),
            "concurrency": pick((1, 2, 8)),
            "repeats": 2,
        }
        self.waiting = pick(WAITING)
        self.temper = pick(TEMPERS)
        self.agent_awaited = False
        self.models: dict[str, CallModel] = {}
        self.judging: list[tuple[ProposedCall, ...]] = []
        self.running: dict[str, CallPart] = {}
        self.stopped: set[str] = set()
        self.asked_of_model: list[str] = []
        self.started: list[str] = []
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
        return self.feed(self._told(Deny(all=True, reason="no")))

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
                self.judging.append(judge_request(state, instruction.call_ids, self.now).calls)
            case CallTools():
                for call_id in instruction.call_ids:
                    self.running[call_id] = _call(state, call_id).part
                    self.started.append(call_id)
            case StopWork():
                self.stopped |= {*instruction.call_ids, instruction.model_call or ""}
            case SettleCalls() | AskHumans() | RememberGrant() | Finish():
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
        return AgentResolved(at=self.now, agent=an_agent(**self.limits, waiting=self.waiting))

    def _agent_rejected(self) -> AnyOutcome:
        self.agent_awaited = False
        return AgentRejected(at=self.now, failure=OVERLOADED)

    def _reply(self) -> AnyOutcome:
        message_id = self.pick(tuple(self.models))
        del self.models[message_id]
        calls = [
            a_call(
                self.pick(self.temper.tools), question="which?", path="a.md", options=self.pick(([], ["blue", "red"]))
            )
            for _ in range(self.pick(self.temper.sizes))
        ]
        text = self.pick(([], ["Well."], ["Well.", " Then."]))
        finish: FinishReason | None = (
            "interrupted" if message_id in self.stopped else self.pick((*[None] * 8, "refused", "length"))
        )
        return ModelReply(at=self.now, message=reply(message_id, *text, *calls, finish=finish))

    def _model_failure(self) -> AnyOutcome:
        message_id = self.pick(tuple(self.models))
        del self.models[message_id]
        failure = OVERLOADED.model_copy(update={"kind": self.pick(("overloaded", "refused"))})
        return ModelFailure(at=self.now, message_id=message_id, failure=failure)

    def _judged(self, decision: Decision | None) -> AnyOutcome:
        calls = self.judging.pop(0 if decision else self.pick(range(len(self.judging))))
        return CallsJudged(at=self.now, verdicts=tuple(self._verdict(call, decision) for call in calls))

    def _verdict(self, call: ProposedCall, decision: Decision | None) -> CallVerdict:
        part = call.part
        if decision is None and self.pick(range(8)) == 0:
            return CallVerdict(call_id=part.call_id, verdict=UNJUDGED)
        if part.tool == "nope" and self.pick((True, True, False)):
            return verdict(part, "deny", "unknown_tool", "There is no such tool.", round=call.round)
        decided = decision or self.pick(self.temper.decisions)
        firm = decided == "ask" and self.pick(range(6)) == 0
        rule = self.pick(RULES) if decided == "ask" else None
        return verdict(part, decided, round=call.round, firm=firm, approval=rule)

    def _any_result(self) -> AnyOutcome:
        call_id = self.pick(tuple(self.running))
        return self._result(call_id, "interrupted" if call_id in self.stopped else self.pick(self.temper.results))

    def _result(self, call_id: str, status: ResultStatus) -> AnyOutcome:
        return CallsSettled(at=self.now, results=(call_result(self.running.pop(call_id), status, "a result"),))

    def _clock(self) -> AnyOutcome:
        wake = wake_at(self.state)
        self.now += timedelta(seconds=self.pick((0, 1, 60)))
        if wake is not None and self.pick((True, False, False)):
            self.now = max(self.now, wake)
        return ClockReached(at=self.now)

    def _order(self) -> AnyOutcome:
        return self._told(any_order(self.pick, self.state))

    def _told(self, order: Order) -> AnyOutcome:
        return Received(at=self.now, order=order)


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
