"""What humans are asked, and what they answer: requests and questions, responses, edits, grants, deadlines."""

from __future__ import annotations

import json
from datetime import datetime
from typing import Literal, assert_never

from pydantic import JsonValue

from perdure.contracts.agent import ApprovalRule, ArgumentRule, Waiting
from perdure.contracts.approvals import ApprovalRequest, Grant, Question, RequestedCall, Response
from perdure.contracts.arguments import argument_text
from perdure.contracts.digests import digest_of
from perdure.contracts.ids import kept_grant_id, question_id, request_id
from perdure.contracts.phases import HumanResponded, Phase, Unchanged
from perdure.contracts.requests import Answer, Approve, Deny, Remember
from perdure.contracts.state import Call, State

TOO_LATE = "Nobody responded before the deadline."


def request_for(calls: list[Call], number: int, waiting: Waiting, at: datetime) -> ApprovalRequest | None:
    """The ``number``-th request about the open batch, for the calls that ask; None when none does."""
    if not calls:
        return None
    message_id = calls[0].call_id.rpartition("c")[0]
    return ApprovalRequest(
        request_id=request_id(message_id, number),
        version=number,
        message_id=message_id,
        calls=tuple(map(_requested, calls)),
        opened_at=at,
        deadline=at + waiting.deadline if waiting.deadline else None,
        default=waiting.default,
    )


def question_for(call: Call, waiting: Waiting, at: datetime) -> Question:
    """The question that a call of ``ask_human`` asks."""
    arguments = call.part.arguments or {}
    options = arguments.get("options")
    return Question(
        question_id=question_id(call.call_id),
        call_id=call.call_id,
        text=str(arguments.get("question", "")),
        options=tuple(str(option) for option in options) if isinstance(options, list) else (),
        multiple=arguments.get("multiple") is True,
        opened_at=at,
        deadline=at + waiting.deadline if waiting.deadline else None,
    )


def responded(
    state: State, order: Approve | Deny | Answer, calls: tuple[Call, ...], at: datetime
) -> tuple[State, Phase]:
    """Record what a human said of waiting calls.

    A call that has all the approvals that it needs waits no longer: it is judged again, as are calls that wait still
    when a grant was made.
    """
    named = {call.call_id for call in calls}
    after = _with_calls(state, [_heard(call, order, at) if call.call_id in named else call for call in _batch(state)])
    decided = tuple(call.call_id for call in _batch(after) if call.call_id in named and call.status != "waiting")
    grants = _grants(after, order, decided, at)
    after = drop_closed(
        after.model_copy(update={"grants": (*after.grants, *grants), "grants_made": after.grants_made + len(grants)})
    )
    if not decided:
        return after, Unchanged()
    asked = {question.call_id for question in after.questions}
    waiting = tuple(call.call_id for call in _batch(after) if call.status == "waiting" and call.call_id not in asked)
    kept = tuple(grant for grant in grants if grant.level != "run")
    return after, HumanResponded(call_ids=decided, recheck=waiting if grants else (), grants=kept)


def approvals_lacking(call: Call, order: Approve) -> int:
    """How many approvals a waiting call still needs after ``order``.

    An edit voids those before it: whoever gave them saw other arguments.
    """
    given = len(call.approvals) + 1 if _changed(order, call) is None else 1
    return max(0, call.approval.needed - given)


def deadline_passed(state: State, at: datetime) -> tuple[State, tuple[str, ...]]:
    """What no human decided in time gets its default. Also the ids of the calls that were so decided.

    Time alone approves nothing that always asks, and nothing that only certain people may approve.
    """
    defaults: dict[str, Literal["deny", "approve"]] = {
        call.call_id: "deny" if call.verdict.firm or restricted(call.approval) else request.default
        for request in state.requests
        if request.deadline and request.deadline <= at
        for call in request.calls
    }
    late = {question.call_id for question in state.questions if question.deadline and question.deadline <= at}
    if not defaults and not late:
        return state, ()

    def decided(call: Call) -> Call:
        if call.call_id not in defaults and call.call_id not in late:
            return call
        response = _response(call, defaults.get(call.call_id, "deny"), TOO_LATE, "", at)
        late_response = response.model_copy(update={"by_deadline": True})
        return call.model_copy(update={"status": "proposed", "response": late_response})

    after = drop_closed(_with_calls(state, [decided(call) for call in _batch(state)]))
    return after, tuple(call.call_id for call in _batch(state) if call.call_id in defaults or call.call_id in late)


def restricted(rule: ApprovalRule) -> bool:
    """Whether it matters who approves."""
    return bool(rule.approvers) or rule.not_starter or rule.needed > 1


def drop_closed(state: State) -> State:
    """Keep only requests and questions of calls that still wait, and of a request only those calls.

    A call that is asked again then stands in its new request alone: a response to the old one cannot mean it.
    """
    waiting = {call.call_id: call for call in _batch(state) if call.status == "waiting"}
    requests = (
        request.model_copy(
            update={
                "calls": tuple(_requested(waiting[call.call_id]) for call in request.calls if call.call_id in waiting)
            }
        )
        for request in state.requests
    )
    return state.model_copy(
        update={
            "requests": tuple(request for request in requests if request.calls),
            "questions": tuple(question for question in state.questions if question.call_id in waiting),
        }
    )


def _batch(state: State) -> tuple[Call, ...]:
    return state.turn.batch if state.turn else ()


def _with_calls(state: State, calls: list[Call]) -> State:
    assert state.turn is not None
    return state.model_copy(update={"turn": state.turn.model_copy(update={"batch": tuple(calls)})})


def _requested(call: Call) -> RequestedCall:
    assert call.verdict is not None, "a verdict is what makes a call wait"
    return RequestedCall(
        call_id=call.call_id,
        tool=call.tool,
        arguments=call.part.arguments or {},
        digest=call.digest,
        verdict=call.verdict,
        approval=call.approval,
    )


def _heard(call: Call, order: Approve | Deny | Answer, at: datetime) -> Call:
    match order:
        case Approve():
            return _approved(call, order, at)
        case Deny():
            response = _response(call, "deny", order.reason, order.actor, at)
        case Answer():
            text = order.answer if isinstance(order.answer, str) else ", ".join(order.answer)
            response = _response(call, "answer", text, order.actor, at)
        case _:
            assert_never(order)
    return call.model_copy(update={"status": "proposed", "response": response})


def _approved(call: Call, order: Approve, at: datetime) -> Call:
    lacking = approvals_lacking(call, order)
    arguments = _changed(order, call)
    if arguments is not None:
        call = _edited(call, arguments)
    response = _response(call, "approve", order.reason, order.actor, at)
    call = call.model_copy(update={"approvals": (*call.approvals, response)})
    return call if lacking else call.model_copy(update={"status": "proposed", "response": response})


def _changed(order: Approve, call: Call) -> dict[str, JsonValue] | None:
    return order.arguments if order.arguments != call.part.arguments else None


def _edited(call: Call, arguments: dict[str, JsonValue]) -> Call:
    text = json.dumps(arguments, ensure_ascii=False)
    part = call.part.model_copy(update={"arguments": arguments, "arguments_text": text})
    digest = digest_of({"tool": call.tool, "arguments": arguments})
    return call.model_copy(update={"part": part, "digest": digest, "edited": True, "approvals": ()})


def _response(
    call: Call, decision: Literal["approve", "deny", "answer"], text: str, actor: str, at: datetime
) -> Response:
    return Response(
        call_id=call.call_id,
        decision=decision,
        text=text,
        actor=actor,
        digest=call.digest,
        seen=call.verdict,
        at=at,
    )


def _grants(state: State, order: Approve | Deny | Answer, decided: tuple[str, ...], at: datetime) -> tuple[Grant, ...]:
    if not isinstance(order, Approve) or order.remember is None:
        return ()
    made: dict[tuple[str, tuple[ArgumentRule, ...]], Grant] = {}
    for call in _batch(state):
        if call.call_id not in decided:
            continue
        when = order.remember.when if order.remember.when is not None else _same_arguments(call)
        number = state.grants_made + len(made) + 1
        made.setdefault((call.tool, when), _grant(state, order, order.remember, call.tool, when, number, at))
    return tuple(made.values())


def _grant(
    state: State,
    order: Approve,
    remember: Remember,
    tool: str,
    when: tuple[ArgumentRule, ...],
    number: int,
    at: datetime,
) -> Grant:
    agent = state.agent.name if state.agent else ""
    subjects = {"run": state.run_id, "agent": agent, "user": state.request.user}
    return Grant(
        grant_id=f"g{number}" if remember.level == "run" else kept_grant_id(state.run_id, number, at),
        tool=tool,
        when=when,
        exact=remember.when is None,
        level=remember.level,
        subject=subjects[remember.level],
        children=remember.children,
        expires_at=at + remember.expires_in if remember.expires_in else None,
        actor=order.actor,
        reason=order.reason,
        granted_at=at,
    )


def _same_arguments(call: Call) -> tuple[ArgumentRule, ...]:
    arguments = call.part.arguments or {}
    return tuple(ArgumentRule(argument=name, value=argument_text(value)) for name, value in arguments.items())
