"""What holds after every step of every run, whatever happened."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise

from pydantic import TypeAdapter

from perdure.brain.ending import ended
from perdure.brain.inputs import judge_request
from perdure.brain.loop import Advance
from perdure.brain.narrate import narrate
from perdure.brain.resume import resume
from perdure.contracts.digests import START, extend_digest
from perdure.contracts.events import AnyEvent
from perdure.contracts.ids import user_message_id
from perdure.contracts.instructions import AuthorizeCalls, CallModel, CallTools, Instruction
from perdure.contracts.messages import Message
from perdure.contracts.outcomes import AnyOutcome
from perdure.contracts.phases import Phase
from perdure.contracts.state import State
from tests.brain.chaos import World

OUTCOME: TypeAdapter[AnyOutcome] = TypeAdapter(AnyOutcome)
PHASE: TypeAdapter[Phase] = TypeAdapter(Phase)
INSTRUCTION: TypeAdapter[Instruction] = TypeAdapter(Instruction)
EVENT: TypeAdapter[AnyEvent] = TypeAdapter(AnyEvent)


def holds(world: World, advances: tuple[Advance, ...]) -> None:
    """All of it, for the states that these advances led to."""
    for advance in advances:
        round_trips(advance)
        state = advance.state
        transcript_is_paired(state)
        digest_is_the_chain(state)
        every_message_is_delivered_once_or_waits(state)
        status_is_consistent(state)
        requests_show_what_waits(state)
        for instruction in advance.instructions:
            is_permitted(state, instruction)
        if advance.before is not None:
            nothing_settled_changes(advance.before, state)
            what_is_delivered_is_answered(advance.before, advance)
    goes_on_or_is_at_rest(world)
    resuming_opens_what_is_in_hand(world)
    assert Counter(world.started).total() == len(set(world.started)), "a call was started twice"
    assert len(world.asked_of_model) == len(set(world.asked_of_model)), "a message was asked for twice"


def round_trips(advance: Advance) -> None:
    state = advance.state
    assert State.model_validate_json(state.model_dump_json()) == state
    assert PHASE.validate_json(PHASE.dump_json(advance.phase)) == advance.phase
    if advance.outcome is not None:
        assert OUTCOME.validate_json(OUTCOME.dump_json(advance.outcome)) == advance.outcome
    for instruction in advance.instructions:
        assert INSTRUCTION.validate_json(INSTRUCTION.dump_json(instruction)) == instruction
    for event in narrate(advance):
        assert EVENT.validate_json(EVENT.dump_json(event)) == event


def transcript_is_paired(state: State) -> None:
    """The results of a message's calls follow it at once, in call order; only the open batch may lack them."""
    open_batch = {call.call_id for call in state.turn.batch} if state.turn else set()
    expected: list[str] = []
    for message in state.messages:
        if message.role == "tool":
            assert expected, f"{message.message_id} stands where no result may"
            assert message.call_id == expected.pop(0)
        else:
            assert not expected, f"{expected} have no result before {message.message_id}"
            expected = [call.call_id for call in message.calls] if message.role == "assistant" else []
    assert not expected or set(expected) == open_batch, f"{expected} were never settled"
    ids = [message.message_id for message in state.messages]
    assert len(ids) == len(set(ids)), "two messages share an id"


def digest_is_the_chain(state: State) -> None:
    digest = START
    for message in state.messages:
        digest = extend_digest(digest, message)
    assert state.digest == digest


def every_message_is_delivered_once_or_waits(state: State) -> None:
    delivered = [message.message_id for message in state.messages if message.role == "user"]
    waiting = [message.message_id for message in state.inbox]
    received = [user_message_id(position) for position in range(1, state.received + 1)]
    gone = set(received).difference(delivered, waiting)
    assert delivered + waiting == [message_id for message_id in received if message_id not in gone]


def status_is_consistent(state: State) -> None:
    match state.status:
        case "idle":
            assert state.turn is None
            assert not state.inbox
            assert state.request.conversation
            assert state.idle_since is not None
        case "waiting_approval":
            assert state.requests
        case "waiting_answer":
            assert state.questions
            assert not state.requests
        case "running":
            assert not state.requests
            assert not state.questions
            assert state.turn is not None or state.agent is None
        case _:
            assert ended(state)
            assert state.turn is None
            assert not state.requests
            assert not state.questions


def requests_show_what_waits(state: State) -> None:
    """Whoever looks at the open requests sees exactly the calls that wait, each once."""
    waiting = {call.call_id for call in state.turn.batch if call.status == "waiting"} if state.turn else set()
    shown = [call.call_id for request in state.requests for call in request.calls]
    shown += [question.call_id for question in state.questions]
    assert sorted(shown) == sorted(waiting)
    ids = [request.request_id for request in state.requests]
    assert len(ids) == len(set(ids)), "two requests share an id"


def is_permitted(state: State, instruction: Instruction) -> None:
    if isinstance(instruction, CallTools):
        assert state.turn is not None
        assert state.agent is not None
        assert state.turn.stopping is None, "a call starts after a stop"
        for call_id in instruction.call_ids:
            call = state.turn.call(call_id)
            assert call is not None
            assert call.verdict is not None, f"{call_id} starts without a verdict"
            assert call.verdict.decision == "allow", f"{call_id} starts without an allow"
        running = [call.call_id for call in state.turn.batch if call.status == "running"]
        assert len({*running, *instruction.call_ids}) <= state.agent.limits.concurrency
    if isinstance(instruction, CallModel):
        assert state.turn is not None
        assert state.agent is not None
        assert not state.turn.batch, "the model is asked while a call is open"
        assert state.turn.model_call is None, "the model is asked while it answers"
        assert not state.inbox, "the model is asked before it was told what waits"
        assert state.messages[-1].role != "assistant", "the model is asked and there is nothing to answer"
        assert (instruction.revision, instruction.digest) == (state.revision, state.digest)
        assert instruction.step <= state.agent.limits.steps
        assert instruction.forced == (instruction.step == state.agent.limits.steps)
        assert instruction.nudged == (state.turn.repeats >= state.agent.limits.repeats)
        assert state.turn.repeats < 2 * state.agent.limits.repeats, "the model is asked to repeat itself once more"
        assert state.turn.stopping is None, "the model is asked after a stop"
    if isinstance(instruction, AuthorizeCalls):
        assert state.turn is not None
        assert state.turn.stopping is None, "a call is judged after a stop"


def nothing_settled_changes(before: State, after: State) -> None:
    """The transcript only grows, a result stays, and an ended run stays as it ended."""
    assert after.messages[: before.revision] == before.messages
    if ended(before):
        assert after == before
    if before.turn and after.turn and before.turn.number == after.turn.number:
        for call in before.turn.batch:
            same = after.turn.call(call.call_id)
            assert same is None or call.result is None or same.result == call.result


def what_is_delivered_is_answered(before: State, advance: Advance) -> None:
    joined = advance.state.messages[before.revision :]
    if any(message.role == "user" for message in joined):
        kinds = [instruction.kind for instruction in advance.instructions]
        assert kinds == ["call_model"], "a message was delivered and the model is not asked"


def goes_on_or_is_at_rest(world: World) -> None:
    """A run that has not ended waits for work that is open, for people, or for the next message."""
    state, turn = world.state, world.state.turn
    if ended(state) or state.status in ("idle", "waiting_approval", "waiting_answer"):
        return
    if turn is None:
        assert world.agent_awaited
        return
    judging = {(call.call_id, call.round) for call in turn.batch if call.status == "judging"}
    awaited = {call.call_id for call in turn.batch if call.status in ("judging", "running")}
    assert awaited or turn.model_call, f"nobody works on turn {turn.number}, and nothing is asked of anybody"
    in_hand = {(call.part.call_id, call.round) for calls in world.judging for call in calls}
    assert judging <= in_hand, f"{judging - in_hand} are awaited, and nobody judges them"
    running = {call.call_id for call in turn.batch if call.status == "running"}
    assert running <= set(world.running), f"{running - set(world.running)} are awaited, and nobody runs them"
    assert turn.model_call is None or turn.model_call in world.models


def events_tell_the_whole_run(world: World) -> None:
    """Each message and each call is told of once, and an ended run closes with its last event."""
    events = [event for advance in world.advances for event in narrate(advance)]
    messages: list[Message] = [*world.state.messages, *world.state.inbox]
    told = [event.message.message_id for event in events if event.kind == "message_received"]
    assert told == [user_message_id(position) for position in range(1, world.state.received + 1)]
    assert [event.message for event in events if event.kind == "model_answered"] == [
        message for message in messages if message.role == "assistant"
    ]
    settled = {message.message_id: message for message in messages if message.role == "tool"}
    ends = [event.result for event in events if event.kind == "call_ended"]
    assert len(ends) == len(settled)
    assert {end.message_id: end for end in ends} == settled
    closings = [event for event in events if event.kind == "run_closed"]
    assert len(closings) == int(ended(world.state))
    assert not closings or events[-1] is closings[0]
    statuses = [event.status for event in events if event.kind == "status_changed"]
    assert all(left != right for left, right in pairwise(statuses))


def resuming_opens_what_is_in_hand(world: World) -> None:
    """A new execution opens the work that the old one had in hand, and no other."""
    state = world.state
    awaited = {call.call_id for call in state.turn.batch if call.status == "judging"} if state.turn else set()
    opened = {instruction.kind: instruction for instruction in resume(state)} if not ended(state) else {}
    expected = {
        "resolve_agent": world.agent_awaited and not ended(state),
        "call_model": bool(world.models) and not ended(state),
        "authorize_calls": bool(awaited),
        "call_tools": bool(world.running) and not ended(state),
    }
    assert {kind: kind in opened for kind in expected} == expected
    match opened.get("call_model"):
        case CallModel() as call:
            assert world.models == {call.message_id: call}
    match opened.get("authorize_calls"):
        case AuthorizeCalls() as judging:
            assert set(judging.call_ids) == awaited
            proposed = judge_request(state, judging.call_ids, world.now).calls
            awaited_rounds = {(call.part.call_id, call.round) for call in proposed}
            in_hand = {(call.part.call_id, call.round) for calls in world.judging for call in calls}
            assert awaited_rounds <= in_hand, "a verdict of the new execution would not be awaited"
    match opened.get("call_tools"):
        case CallTools() as running:
            assert set(running.call_ids) == set(world.running)
    stopping = state.turn is not None and state.turn.stopping is not None
    assert ("stop_work" in opened) == (stopping and bool(world.models or world.running))
