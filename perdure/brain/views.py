"""Views of a state: what queries and the result of a run show of it. What the Temporal UI shows is in `details`."""

from __future__ import annotations

from perdure.contracts.approvals import OpenRequests
from perdure.contracts.state import RunOutput, RunSummary, State, TranscriptPage

PAGE_BYTES = 256 * 1024
"""Bytes of messages on one transcript page, beyond which no further message joins it.

The server ends a query's answer at 2 MB; a page holds at least one message whatever its size.
"""


def output(state: State) -> RunOutput:
    """What the run returns, or would return now."""
    last = state.last_turn
    return RunOutput(
        run_id=state.run_id,
        status=state.status,
        end=last.end if last else None,
        output=last.output if last else "",
        data=last.data if last else None,
        turns=state.turns,
        steps=state.steps,
        usage=state.usage,
        cost=state.cost,
    )


def summary(state: State) -> RunSummary:
    """The run at a glance."""
    agent, turn = state.agent, state.turn
    return RunSummary(
        run_id=state.run_id,
        status=state.status,
        agent=agent.name if agent else "",
        model=agent.model if agent else "",
        turn=state.turns,
        step=turn.step if turn else 0,
        revision=state.revision,
        queued=len(state.inbox),
        waiting_calls=tuple(call.call_id for call in turn.batch if call.status == "waiting") if turn else (),
        last_turn=state.last_turn,
        usage=state.usage,
        cost=state.cost,
        metadata=dict(state.request.metadata),
    )


def open_requests(state: State) -> OpenRequests:
    """Everything that waits for a human."""
    return OpenRequests(run_id=state.run_id, requests=state.requests, questions=state.questions, grants=state.grants)


def transcript_page(state: State, start: int) -> TranscriptPage:
    """The messages from index ``start`` on, as many as a page holds."""
    start = max(0, min(start, state.revision))
    taken = 0
    end = start
    for message in state.messages[start:]:
        size = len(message.model_dump_json())
        if end > start and taken + size > PAGE_BYTES:
            break
        taken += size
        end += 1
    return TranscriptPage(
        run_id=state.run_id,
        start=start,
        revision=state.revision,
        digest=state.digest,
        messages=state.messages[start:end],
        agent=state.agent if start == 0 else None,
    )
