"""When a run is over, what a turn's end means for it, and when the clock must wake it."""

from __future__ import annotations

from datetime import datetime

from perdure.contracts.instructions import TurnEnd
from perdure.contracts.state import RunStatus, State

_ENDED = frozenset({"completed", "failed", "canceled"})
_FAILED_ENDS = frozenset({"failed", "refused", "invalid_calls"})


def ended(state: State) -> bool:
    """Whether the run is over."""
    return state.status in _ENDED


def status_after(end: TurnEnd) -> RunStatus:
    """The status of a one-turn run whose turn ended so."""
    if end == "canceled":
        return "canceled"
    return "failed" if end in _FAILED_ENDS else "completed"


def end_after_batch(state: State) -> TurnEnd | None:
    """How the turn ends now that its batch is settled, or None when the model is to be asked again."""
    turn, agent = state.turn, state.agent
    assert turn is not None
    assert agent is not None
    last = next(message for message in reversed(state.messages) if message.role == "assistant")
    if turn.stopping:
        return turn.stopping
    if turn.forced:
        return "step_limit"
    if last.finish == "interrupted":
        return "interrupted"
    return "invalid_calls" if turn.feedback_rounds > agent.limits.feedback_rounds else None


def open_status(state: State) -> RunStatus:
    """The status of a run that goes on.

    A run that waits for a human says so even while other calls run: an operator must find it.
    """
    if state.turn is None:
        return "idle" if state.last_turn else "running"
    if state.requests:
        return "waiting_approval"
    return "waiting_answer" if state.questions else "running"


def wake_at(state: State) -> datetime | None:
    """When the clock must wake the run (`ClockReached`), or None. Now: the end of an idle conversation."""
    if state.status == "idle" and state.idle_since is not None:
        return state.idle_since + state.request.idle_timeout
    return None
