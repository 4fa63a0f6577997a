"""What humans are to be told of a change: requests and questions that opened, are due soon, or closed."""

from __future__ import annotations

from typing import Literal

from perdure.contracts.approvals import ApprovalRequest, Question
from perdure.contracts.instructions import AskHumans
from perdure.contracts.state import State

Stage = Literal["opened", "due", "closed"]
Asked = ApprovalRequest | Question


def notices(before: State, after: State) -> tuple[AskHumans, ...]:
    """One instruction for each stage that something came to, by comparing two states."""
    old, new = _asked(before), _asked(after)
    stages: dict[Stage, list[Asked]] = {
        "opened": [item for item_id, item in new.items() if item_id not in old],
        "due": [
            item for item_id, item in new.items() if item.reminded and item_id in old and not old[item_id].reminded
        ],
        "closed": [item for item_id, item in old.items() if item_id not in new],
    }
    return tuple(_notice(stage, items) for stage, items in stages.items() if items)


def _asked(state: State) -> dict[str, Asked]:
    requests = {request.request_id: request for request in state.requests}
    return {**requests, **{question.question_id: question for question in state.questions}}


def _notice(stage: Stage, items: list[Asked]) -> AskHumans:
    return AskHumans(
        stage=stage,
        requests=tuple(item for item in items if isinstance(item, ApprovalRequest)),
        questions=tuple(item for item in items if isinstance(item, Question)),
    )
