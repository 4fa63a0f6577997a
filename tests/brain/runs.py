"""A run that a test leads by hand, outcome by outcome."""

from __future__ import annotations

from datetime import datetime, timedelta

from perdure.brain.loop import Advance, Loop
from perdure.brain.narrate import narrate
from perdure.brain.results import call_result
from perdure.contracts.agent import ApprovalRule, Decision, FrozenAgent
from perdure.contracts.approvals import CallVerdict
from perdure.contracts.events import DurableEvent
from perdure.contracts.failures import Failure
from perdure.contracts.instructions import AskHumans, CallModel, Instruction
from perdure.contracts.messages import CallPart, FinishReason, ResultStatus, ToolMessage
from perdure.contracts.outcomes import (
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
from perdure.contracts.requests import Order, RunRequest
from perdure.contracts.state import State, Turn
from tests.brain.agents import IDLE, START, a_call, an_agent, reply, verdict

Instructions = tuple[Instruction, ...]


class Led:
    """Each method feeds one outcome and returns all instructions that followed from it."""

    def __init__(self, request: RunRequest | None = None) -> None:
        self.now = START
        self.loop, first = Loop.begin("run", request or a_task(), self.now)
        self.advances: list[Advance] = [first]

    @property
    def state(self) -> State:
        return self.loop.state

    @property
    def turn(self) -> Turn:
        assert self.state.turn is not None, f"no turn is running: {self.state.status}"
        return self.state.turn

    @property
    def events(self) -> list[DurableEvent]:
        return [event for advance in self.advances for event in narrate(advance)]

    @property
    def transcript(self) -> list[str]:
        """The ids of the messages, in order."""
        return [message.message_id for message in self.state.messages]

    def feed(self, outcome: AnyOutcome) -> Instructions:
        advances = self.loop.feed(outcome)
        self.advances += advances
        return tuple(instruction for advance in advances for instruction in advance.instructions)

    def resolved(self, agent: FrozenAgent | None = None) -> Instructions:
        return self.feed(AgentResolved(at=self.now, agent=agent or an_agent()))

    def replied(self, *parts: str | CallPart, finish: FinishReason | None = None) -> Instructions:
        """The model answered the call that is open."""
        message_id = self.turn.model_call
        assert message_id is not None, "the model is not being asked"
        return self.feed(ModelReply(at=self.now, message=reply(message_id, *parts, finish=finish)))

    def model_failed(self, failure: Failure) -> Instructions:
        message_id = self.turn.model_call
        assert message_id is not None, "the model is not being asked"
        return self.feed(ModelFailure(at=self.now, message_id=message_id, failure=failure))

    def judged(self, **decisions: Decision) -> Instructions:
        """The newest verdicts by call id: ``judged(t1s1c1="allow")``."""
        return self.ruled(*(self.ruling(call_id, decision) for call_id, decision in decisions.items()))

    def ruled(self, *verdicts: CallVerdict) -> Instructions:
        """Verdicts as they are, late ones too."""
        return self.feed(CallsJudged(at=self.now, verdicts=verdicts))

    def ruling(
        self, call_id: str, decision: Decision, *, firm: bool = False, approval: ApprovalRule | None = None
    ) -> CallVerdict:
        """A verdict on a call as it stands: of its newest round, and of the arguments that it has now."""
        call = self.state.turn.call(call_id) if self.state.turn else None
        part, newest = (call.part, call.round) if call else (self.part(call_id), 0)
        return verdict(part, decision, round=newest, firm=firm, approval=approval)

    def asked_by(self, rule: ApprovalRule, *call_ids: str) -> Instructions:
        """Authority asks about these calls, and says who may approve them."""
        return self.ruled(*(self.ruling(call_id, "ask", approval=rule) for call_id in call_ids))

    def judged_unknown(self, call_id: str) -> Instructions:
        part = self.part(call_id)
        unknown = verdict(part, "deny", "unknown_tool", f"There is no tool {part.tool}.")
        return self.feed(CallsJudged(at=self.now, verdicts=(unknown,)))

    def ended(self, call_id: str, text: str = "done", status: ResultStatus = "ok") -> Instructions:
        """A tool gave its result."""
        return self.feed(CallsSettled(at=self.now, results=(call_result(self.part(call_id), status, text),)))

    def told(self, order: Order) -> Instructions:
        return self.feed(Received(at=self.now, order=order))

    def canceled(self) -> Instructions:
        return self.feed(CancelReceived(at=self.now))

    def clock(self, at: datetime) -> Instructions:
        self.now = at
        return self.feed(ClockReached(at=at))

    def refused(self, order: Order) -> str:
        """Why the run did not take the order; its state must be as before."""
        before = self.state
        self.told(order)
        assert self.state == before
        last = self.events[-1]
        assert last.kind == "order_received"
        return last.refused

    def part(self, call_id: str) -> CallPart:
        calls = [call for message in self.state.messages if message.role == "assistant" for call in message.calls]
        return next(call for call in calls if call.call_id == call_id)

    def result(self, call_id: str) -> tuple[str, str]:
        """Status and text of the result of a call."""
        message = self.message(call_id)
        return message.status, message.text

    def message(self, call_id: str) -> ToolMessage:
        """The result of a call, in the transcript or still in the batch."""
        batch = self.state.turn.batch if self.state.turn else ()
        found = [message for message in self.state.messages if message.role == "tool"]
        found += [call.result for call in batch if call.result is not None]
        return next(message for message in found if message.call_id == call_id)

    @property
    def notices(self) -> list[tuple[str, str]]:
        """What humans were told: the stage, and of which request or question."""
        told = [each for advance in self.advances for each in advance.instructions if isinstance(each, AskHumans)]
        return [
            (each.stage, item_id)
            for each in told
            for item_id in [
                *(request.request_id for request in each.requests),
                *(question.question_id for question in each.questions),
            ]
        ]


def a_task(message: str = "Do it.") -> RunRequest:
    return RunRequest(message=message)


def a_conversation(message: str = "Hello", idle_timeout: timedelta = IDLE) -> RunRequest:
    return RunRequest(message=message, conversation=True, idle_timeout=idle_timeout)


def asked(instructions: Instructions) -> list[CallModel]:
    """The model calls among these instructions."""
    return [instruction for instruction in instructions if isinstance(instruction, CallModel)]


def kinds(instructions: Instructions) -> list[str]:
    return [instruction.kind for instruction in instructions]


def a_run_that_asks(*rules: ApprovalRule, user: str = "", agent: FrozenAgent | None = None) -> Led:
    """A run with one waiting call of `write` for each rule, each of another path."""
    run = Led(RunRequest(message="Do it.", user=user))
    run.resolved(agent)
    run.replied(*(a_call("write", path=f"{name}.md") for name in "abcde"[: len(rules)]))
    run.ruled(*(run.ruling(f"t1s1c{i}", "ask", approval=rule) for i, rule in enumerate(rules, start=1)))
    return run


def statuses(run: Led) -> list[str]:
    """Where the calls of the open batch stand, in order."""
    return [call.status for call in run.turn.batch]
