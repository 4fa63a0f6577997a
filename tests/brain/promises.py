"""What holds over the whole of a run that is over or at rest: what was promised to people was kept."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from perdure.brain.clock import wake_at
from perdure.brain.humans import restricted
from perdure.brain.loop import Advance
from perdure.contracts.approvals import ApprovalRequest, Question
from perdure.contracts.digests import digest_of
from perdure.contracts.ids import user_message_id
from perdure.contracts.instructions import AskHumans, CallModel, CallTools, RememberGrant
from perdure.contracts.messages import UserMessage
from perdure.contracts.outcomes import CallsJudged, ClockReached, Received
from perdure.contracts.phases import Unchanged
from perdure.contracts.requests import Answer, Approve, Deny, Edit, Revoke, Send, Withdraw
from perdure.contracts.state import Call, State


def kept(advances: Sequence[Advance]) -> None:
    """All of it."""
    no_call_starts_without_an_allow_of_its_newest_round_and_arguments(advances)
    messages_are_delivered_once_in_their_last_form(advances)
    people_are_told_once_of_each_request(advances)
    grants_are_made_once_and_stay_revoked(advances)
    for advance in advances:
        if advance.before is not None:
            approvals_are_of_those_who_may(advance.before, advance)
            responses_after_the_decision_are_refused(advance.before, advance)
            a_withdrawn_message_ends_its_turn(advance.before, advance)
            the_clock_moves_on(advance)


def no_call_starts_without_an_allow_of_its_newest_round_and_arguments(advances: Sequence[Advance]) -> None:
    allowed: set[tuple[str, int, str]] = set()
    for advance in advances:
        if isinstance(advance.outcome, CallsJudged):
            told = advance.outcome.verdicts
            allowed |= {(each.call_id, each.round, each.digest) for each in told if each.verdict.decision == "allow"}
        for instruction in advance.instructions:
            for call_id in instruction.call_ids if isinstance(instruction, CallTools) else ():
                call = _calls(advance.state)[call_id]
                digest = digest_of({"tool": call.tool, "arguments": call.part.arguments})
                assert (call_id, call.round, digest) in allowed, f"{call_id} starts and nobody allowed this"


def approvals_are_of_those_who_may(before: State, advance: Advance) -> None:
    after = _calls(advance.state)
    for call_id, call in _calls(before).items():
        now = after.get(call_id)
        if now is None:
            continue
        actors = [approval.actor for approval in now.approvals]
        rule = now.approval
        if restricted(rule):
            assert all(actors), "somebody without a name approved"
            assert len(actors) == len(set(actors)), "somebody approved twice"
            assert not rule.approvers or set(actors) <= set(rule.approvers)
            assert not (rule.not_starter and advance.state.request.user in actors)
        approved = call.status == "waiting" and now.status == "proposed" and now.response is not None
        if approved and now.response and now.response.decision == "approve" and now.response.by_deadline:
            assert not restricted(rule), "time approved what only certain people may"
            assert call.verdict is not None
            assert not call.verdict.firm, "time approved what always asks"
        elif approved and now.response and now.response.decision == "approve":
            assert len(actors) >= rule.needed


def responses_after_the_decision_are_refused(before: State, advance: Advance) -> None:
    match advance.outcome:
        case Received(order=Approve() | Deny() | Answer() as order) if order.call_id:
            call = _calls(before).get(order.call_id)
            if call is None or call.status != "waiting":
                assert isinstance(advance.phase, Unchanged)
                assert advance.phase.reason
                assert advance.state == before


def messages_are_delivered_once_in_their_last_form(advances: Sequence[Advance]) -> None:
    expected = {user_message_id(1): "hello"}
    for advance in advances:
        match advance.outcome:
            case Received(order=Send() as order) if advance.before and advance.state.received > advance.before.received:
                expected[user_message_id(advance.state.received)] = order.message
            case Received(order=Edit() as order) if _taken(advance):
                expected[order.message_id] = order.message
            case Received(order=Withdraw() as order) if _taken(advance) and _waited(advance, order.message_id):
                del expected[order.message_id]
            case _:
                pass
        told = [message for message in advance.state.messages if isinstance(message, UserMessage)]
        assert {m.message_id: _text(m) for m in (*told, *advance.state.inbox)} == expected
        assert [m.message_id for m in (*told, *advance.state.inbox)] == list(expected), "the order has changed"


def a_withdrawn_message_ends_its_turn(before: State, advance: Advance) -> None:
    if before.turn is None or before.turn.stopping != "withdrawn":
        return
    same = [i for i in advance.instructions if isinstance(i, CallModel) and i.turn == before.turn.number]
    assert not same, "the model is asked about a message that is gone"
    last = advance.state.last_turn
    if last is not None and last.number == before.turn.number:
        assert (last.end, last.failure and last.failure.kind) == ("failed", "message_gone")


def people_are_told_once_of_each_request(advances: Sequence[Advance]) -> None:
    told: Counter[tuple[str, str]] = Counter()
    for advance in advances:
        for instruction in advance.instructions:
            if isinstance(instruction, AskHumans):
                told.update((instruction.stage, key) for key in _keys(instruction.requests, instruction.questions))
        shown = _keys(advance.state.requests, advance.state.questions)
        opened = {key for stage, key in told if stage == "opened"}
        closed = {key for stage, key in told if stage == "closed"}
        assert {key for stage, key in told if stage == "due"} <= opened
        assert closed <= opened
        assert opened - closed == set(shown), "people are told of other requests than those that are open"
    assert all(times == 1 for times in told.values()), "people were told twice"


def the_clock_moves_on(advance: Advance) -> None:
    """A run that was woken has nothing left that was due: it never wakes again and again for the same."""
    if isinstance(advance.outcome, ClockReached):
        wake = wake_at(advance.state)
        assert wake is None or wake > advance.outcome.at


def grants_are_made_once_and_stay_revoked(advances: Sequence[Advance]) -> None:
    made: list[str] = []
    revoked: set[str] = set()
    for advance in advances:
        match advance.outcome:
            case Received(order=Revoke() as order) if _taken(advance):
                revoked.add(order.grant_id)
            case _:
                pass
        known = [grant.grant_id for grant in advance.state.grants]
        made += [grant_id for grant_id in known if grant_id not in made]
        assert known == [grant_id for grant_id in made if grant_id not in revoked]
        kept_elsewhere = [i.grant.level for i in advance.instructions if isinstance(i, RememberGrant)]
        assert "run" not in kept_elsewhere
    assert made == list(dict.fromkeys(made))


def _calls(state: State) -> dict[str, Call]:
    return {call.call_id: call for call in state.turn.batch} if state.turn else {}


def _keys(requests: Sequence[ApprovalRequest], questions: Sequence[Question]) -> list[str]:
    return [*(item.request_id for item in requests), *(item.question_id for item in questions)]


def _taken(advance: Advance) -> bool:
    return not (isinstance(advance.phase, Unchanged) and advance.phase.reason)


def _waited(advance: Advance, message_id: str) -> bool:
    assert advance.before is not None
    return any(message.message_id == message_id for message in advance.before.inbox)


def _text(message: UserMessage) -> str:
    return "".join(part.text for part in message.parts if part.kind == "text")
