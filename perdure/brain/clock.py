"""What the clock brings about: the end of an idle conversation, deadlines of people, and reminders before them."""

from __future__ import annotations

from datetime import datetime, timedelta

from perdure.brain.humans import deadline_passed
from perdure.contracts.approvals import ApprovalRequest, Question
from perdure.contracts.phases import HumanResponded, Phase, RunEnded, Unchanged
from perdure.contracts.state import State


def wake_at(state: State) -> datetime | None:
    """When the clock must wake the run (`ClockReached`), or None when nothing waits for it."""
    if state.status == "idle" and state.idle_since is not None:
        return state.idle_since + state.request.idle_timeout
    remind = _remind(state)
    asked: tuple[ApprovalRequest | Question, ...] = (*state.requests, *state.questions)
    times = [item.deadline for item in asked if item.deadline]
    times += [item.deadline - remind for item in asked if item.deadline and remind and not item.reminded]
    return min(times, default=None)


def clock_reached(state: State, at: datetime) -> tuple[State, Phase]:
    """The state after what was due at ``at``, and the phase that follows."""
    if state.status == "idle":
        due = state.idle_since is not None and at >= state.idle_since + state.request.idle_timeout
        return (state.model_copy(update={"status": "completed"}), RunEnded()) if due else (state, Unchanged())
    state = _reminded(state, at)
    state, decided = deadline_passed(state, at)
    return state, HumanResponded(call_ids=decided) if decided else Unchanged()


def _reminded(state: State, at: datetime) -> State:
    remind = _remind(state)
    if not remind:
        return state

    def due(item: ApprovalRequest | Question) -> bool:
        return item.deadline is not None and not item.reminded and item.deadline - remind <= at

    return state.model_copy(
        update={
            "requests": tuple(
                item.model_copy(update={"reminded": True}) if due(item) else item for item in state.requests
            ),
            "questions": tuple(
                item.model_copy(update={"reminded": True}) if due(item) else item for item in state.questions
            ),
        }
    )


def _remind(state: State) -> timedelta | None:
    return state.agent.waiting.remind if state.agent else None
