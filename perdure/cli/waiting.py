"""What of a run waits for a human, by its state, or by its durable events: these tell whether anything else goes on."""

from __future__ import annotations

from perdure.contracts.approvals import Question, RequestedCall
from perdure.contracts.events import (
    AnyEvent,
    CallEnded,
    CallStarted,
    DeadlinePassed,
    ModelAnswered,
    ModelCalled,
    OrderReceived,
    QuestionOpened,
    RequestOpened,
    RunClosed,
    TurnEnded,
)
from perdure.contracts.requests import Answer, Approve, Cancel, Deny, Order
from perdure.contracts.state import State

Asked = RequestedCall | Question
"""A call that waits for approval, or a question that waits for an answer."""

LIFTED_BY_YES = frozenset({"policy", "effect"})
"""Rules whose *ask* ``--yes`` answers, unless it is firm. A safety rule, or one not known here, waits for a person."""


class Waiting:
    """What waits, by call id, in the order in which it was asked. Feed it every event of the run, in order."""

    def __init__(self) -> None:
        self.asked: dict[str, Asked] = {}
        self._requests: dict[str, str] = {}
        self._busy: set[str] = set()

    def feed(self, event: AnyEvent) -> None:
        """Take in one event. Those of children count for nothing here."""
        if event.path:
            return
        match event:
            case ModelCalled():
                self._busy.add(event.message_id)
            case ModelAnswered():
                self._busy.discard(event.message.message_id)
                if event.message.finish != "interrupted":
                    self._busy.update(call.call_id for call in event.message.calls)
            case RequestOpened():
                for call in event.request.calls:
                    self._requests[call.call_id] = event.request.request_id
                    self._wait(call)
            case QuestionOpened():
                self._wait(event.question)
            case OrderReceived(refused=""):
                self._decided(event.order)
            case DeadlinePassed():
                self._go_on(event.call_id)
            case CallStarted():
                self._go_on(event.call.call_id)
            case CallEnded():
                self._go_on(event.result.call_id)
                self._busy.discard(event.result.call_id)
            case TurnEnded() | RunClosed():
                self.asked.clear()
                self._busy.clear()
            case _:
                pass

    @property
    def stuck(self) -> bool:
        """Whether something waits for a human and nothing else can happen until it is decided."""
        return bool(self.asked) and not self._busy

    def _wait(self, asked: Asked) -> None:
        # Asked again, it is something new: the order and the object say so.
        self.asked.pop(asked.call_id, None)
        self.asked[asked.call_id] = asked
        self._busy.discard(asked.call_id)

    def _go_on(self, call_id: str) -> None:
        # What was decided has yet to start and to end: until then the run is busy.
        self.asked.pop(call_id, None)
        self._busy.add(call_id)

    def _decided(self, order: Order | Cancel) -> None:
        for call_id, asked in tuple(self.asked.items()):
            match order, asked:
                case ((Approve() | Deny()), RequestedCall()):
                    named = {order.call_id, *order.call_ids} - {""}
                    meant = call_id in named if named else order.request_id in ("", self._requests.get(call_id))
                case Answer(), Question():
                    meant = order.call_id in ("", call_id)
                case _:
                    meant = False
            if meant:
                self._go_on(call_id)


def waiting_of(state: State) -> list[Asked]:
    """What waits, by the state of the run."""
    return [*(call for request in state.requests for call in request.calls), *state.questions]


def lifted_by_yes(asked: Asked) -> bool:
    """Whether ``--yes`` approves this: a call that only policy or its effect has ask."""
    match asked:
        case RequestedCall():
            return asked.verdict.rule in LIFTED_BY_YES and not asked.verdict.firm
        case Question():
            return False
