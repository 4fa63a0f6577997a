"""What people may tell a run in any state of it, fitting or not, and what they told it so far."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import timedelta
from typing import Any

from perdure.contracts.agent import ApprovalRule, ArgumentRule
from perdure.contracts.requests import (
    Answer,
    Approve,
    Close,
    Deny,
    Edit,
    Interrupt,
    Order,
    Remember,
    Revoke,
    Send,
    Withdraw,
)
from perdure.contracts.state import State

Pick = Callable[[Sequence[Any]], Any]

STARTER = "ada"
PEOPLE = ("", STARTER, "bob", "bob", "cy")
RULES = (
    *[ApprovalRule()] * 5,
    ApprovalRule(approvers=("bob",)),
    ApprovalRule(not_starter=True),
    ApprovalRule(needed=2),
)


def any_order(pick: Pick, state: State) -> Order:
    """Something that somebody may say now."""
    speak = pick((_approval, _approval, _approval, _denial, _answer, _message, _change, _revocation, _stop))
    if speak is _stop and pick(range(3)):
        speak = _approval  # A walk of nothing but stops shows little.
    order: Order = speak(pick, state)
    return order


def _call_id(pick: Pick, state: State) -> str:
    calls = [call.call_id for call in state.turn.batch] if state.turn else []
    waiting = [call.call_id for call in state.turn.batch if call.status == "waiting"] if state.turn else []
    chosen: str = pick((*calls, *waiting * 5, "", "t9s9c9"))
    return chosen


def _request_id(pick: Pick, state: State) -> str:
    chosen: str = pick((*(request.request_id for request in state.requests), "", "", "t9s9a1"))
    return chosen


def _approval(pick: Pick, state: State) -> Order:
    approve = pick((*[_approve_one] * 4, _approve_request, _approve_by_digest, _approve_some, _approve_edited))
    order: Order = approve(pick, state)
    return order


def _approve_one(pick: Pick, state: State) -> Order:
    return Approve(call_id=_call_id(pick, state), actor=pick(PEOPLE), remember=_remember(pick))


def _approve_request(pick: Pick, state: State) -> Order:
    return Approve(request_id=_request_id(pick, state), actor=pick(PEOPLE))


def _approve_by_digest(pick: Pick, state: State) -> Order:
    return Approve(call_id=_call_id(pick, state), request_id=_request_id(pick, state), digest=pick(("", "another")))


def _approve_some(pick: Pick, state: State) -> Order:
    requested = tuple(call.call_id for request in state.requests for call in request.calls)
    return Approve(call_ids=requested[pick((0, 1, 1)) :], actor=pick(PEOPLE), remember=_remember(pick))


def _approve_edited(pick: Pick, state: State) -> Order:
    return Approve(call_id=_call_id(pick, state), arguments=pick(({}, {"path": "b.md"})), actor=pick(PEOPLE))


def _remember(pick: Pick) -> Remember | None:
    if pick((True, False)):
        return None
    return Remember(
        level=pick(("run", "agent", "agent", "user")),
        when=pick((None, (), (ArgumentRule(argument="path", value="a.md"),))),
        expires_in=pick((None, timedelta(minutes=1))),
    )


def _denial(pick: Pick, state: State) -> Order:
    return Deny(call_id=_call_id(pick, state), actor=pick(PEOPLE), reason="no")


def _answer(pick: Pick, state: State) -> Order:
    return Answer(answer=pick(("blue", "green", ("blue", "red"))), call_id=_call_id(pick, state))


def _message(pick: Pick, state: State) -> Order:
    reply_to = pick(("", "", *(message.message_id for message in (*state.messages, *state.inbox)), "u99"))
    return Send(message=pick(("more", "yes")), client_key=pick(("", "", "k1", "k2")), reply_to=reply_to)


def _change(pick: Pick, state: State) -> Order:
    known = (*(message.message_id for message in (*state.inbox, *state.inbox, *state.messages[-3:])), "u1", "u99")
    message_id = pick(known)
    return _one(pick, [Edit(message_id=message_id, message="better"), Withdraw(message_id=message_id)])


def _revocation(pick: Pick, state: State) -> Order:
    return Revoke(grant_id=pick((*(grant.grant_id for grant in state.grants), "g99")))


def _stop(pick: Pick, state: State) -> Order:
    return _one(pick, [Interrupt(turn=pick((None, state.turns, 99))), Close()])


def _one(pick: Pick, orders: list[Order]) -> Order:
    chosen: Order = pick(orders)
    return chosen
