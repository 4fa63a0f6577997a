"""When a turn and a run are over, and what a turn's end means for its run."""

from __future__ import annotations

from perdure.contracts.agent import Limits
from perdure.contracts.failures import Failure, bounded
from perdure.contracts.instructions import TurnEnd
from perdure.contracts.state import RunStatus, State, Stopping, Turn

_ENDED = frozenset({"completed", "failed", "canceled"})
_FAILED_ENDS = frozenset({"failed", "refused", "invalid_calls", "repeated_calls", "invalid_output"})


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
        return stopped_end(turn.stopping)
    if turn.forced:
        return "step_limit"
    if last.finish == "interrupted":
        return "interrupted"
    if turn.feedback_rounds > agent.limits.feedback_rounds:
        return "invalid_calls"
    return "repeated_calls" if turn.repeats >= 2 * agent.limits.repeats else None


def may_mend_output(turn: Turn, limits: Limits) -> bool:
    """Whether the model is asked again after an answer that does not fit its schema."""
    return not turn.forced and turn.output_rounds <= limits.feedback_rounds


def misfit_failure(turn: Turn) -> Failure:
    """The failure of a turn whose answers never came to fit their schema."""
    asked = "once" if turn.output_rounds == 1 else f"{turn.output_rounds} times"
    text = bounded(f"The answer does not fit the output schema (asked {asked}): {turn.output_problem}")
    return Failure(kind="invalid_output", message=text, attribution="provider")


def stopped_end(why: Stopping) -> TurnEnd:
    """How a turn ends that was told to stop."""
    return "failed" if why == "withdrawn" else why


def stopped_failure(why: Stopping) -> Failure | None:
    """The failure of a turn that was told to stop; None when that is no failure."""
    if why != "withdrawn":
        return None
    text = "The message that this turn answers was withdrawn, so it has no answer."
    return Failure(kind="message_gone", message=text, attribution="user")


def open_status(state: State) -> RunStatus:
    """The status of a run that goes on.

    A run that waits for a human says so even while other calls run: an operator must find it.
    """
    if state.turn is None:
        return "idle" if state.last_turn else "running"
    if state.requests:
        return "waiting_approval"
    return "waiting_answer" if state.questions else "running"
